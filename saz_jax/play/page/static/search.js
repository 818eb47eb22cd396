// Tree search guided by a network, as `saz_jax.search` does it without noise: Gumbel's sequential halving with the
// improved policy below the root, or PUCT.  A tree grows by one simulation at a time, and may be asked at any.

import { legalActions, outcome, over, toPlay } from "./rules.js";

const FIRST_AIM = 64; // simulations of the first halving of a search that runs until it is stopped
const LONGEST_LINE = 16;

class Node {
  constructor(state, logits, value) {
    this.state = state;
    this.actions = legalActions(state);
    this.logits = logits;
    this.raw = this.value = value;
    this.count = 1;
    this.children = new Map();
    this.visits = new Int32Array(logits.length);
    this.qvalues = new Float64Array(logits.length);
  }

  total() {
    return this.count - 1;
  }
}

export class Search {
  // judge(state) -> {logits, value}; settings: those of the player's search.
  constructor(rules, judge, settings) {
    Object.assign(this, { rules, judge, settings });
  }

  begin(state) {
    const { logits, value } = this.judge(state);
    this.root = new Node(state, this.settings.take_wins ? this.preferWins(state, logits) : logits, value);
    this.aim(FIRST_AIM);
  }

  // So many simulations are about to come.
  aim(budget) {
    this.before = this.root.visits.slice();
    this.plan = halvings(Math.min(this.settings.max_considered_actions, this.root.actions.length), budget);
    this.done = 0;
  }

  // Moves that win at once, if there are any, take almost all of the prior.
  preferWins(state, logits) {
    const wins = legalActions(state).filter((action) => {
      const after = this.rules.step(state, action);
      return over(after) && outcome(after) * toPlay(state) > 0;
    });
    if (!wins.length) return logits;
    const raised = logits.slice();
    for (const action of wins) raised[action] += 100;
    const total = logOfSum(legalActions(state).map((action) => raised[action]));
    for (const action of legalActions(state)) raised[action] -= total;
    return raised;
  }

  simulate() {
    const path = [];
    let node = this.root;
    let action = this.settings.kind === "puct" ? this.puct(node) : this.halve();
    let child;
    for (;;) {
      path.push([node, action]);
      child = node.children.get(action);
      if (!child || over(child.state)) break;
      node = child;
      action = this.settings.kind === "puct" ? this.puct(node) : this.follow(node);
    }
    if (child) {
      child.count += 1;
    } else {
      const state = this.rules.step(node.state, action);
      const { logits, value } = this.judge(state);
      child = new Node(state, logits, value);
      node.children.set(action, child);
    }
    this.done += 1;
    let below = child;
    const found = child.value, player = toPlay(child.state);
    for (const [above, taken] of path.reverse()) {
      const here = toPlay(above.state);
      above.value = (above.value * above.count + found * player * here) / (above.count + 1);
      above.count += 1;
      above.visits[taken] += 1;
      above.qvalues[taken] = below.value * toPlay(below.state) * here;
      below = above;
    }
  }

  // The root's next move: the best of those that have been visited as often as the plan says.
  halve() {
    const { root } = this;
    if (this.done >= this.plan.length) this.aim(Math.max(root.total(), FIRST_AIM));
    const wanted = this.plan[this.done];
    const qvalues = completed(root);
    return best(root.actions, (a) => (root.visits[a] - this.before[a] === wanted ? root.logits[a] + qvalues[a] : -Infinity));
  }

  // Below the root: what lags behind the improved policy most.
  follow(node) {
    const policy = improved(node);
    return best(node.actions, (a) => policy[a] - node.visits[a] / (1 + node.total()));
  }

  puct(node) {
    const { c_puct: c, unvisited } = this.settings;
    const root = Math.sqrt(Math.max(node.total(), 1));
    return best(node.actions, (a) => {
      const qvalue = node.visits[a] ? node.qvalues[a] : unvisited === "parent" ? node.raw : 0;
      return qvalue + (c * Math.exp(node.logits[a]) * root) / (1 + node.visits[a]);
    });
  }

  // What was found so far; values are seen by the player to move.
  found() {
    const { root } = this;
    const policy = new Float64Array(root.logits.length);
    let action;
    if (this.settings.kind === "puct") {
      action = mostVisited(root);
      root.actions.forEach((a) => { policy[a] = a === action ? 1 : 0; });
    } else {
      const qvalues = completed(root);
      const since = (a) => root.visits[a] - this.before[a];
      const most = Math.max(...root.actions.map(since));
      action = best(root.actions, (a) => (since(a) === most ? root.logits[a] + qvalues[a] : -Infinity));
      policy.set(improved(root));
    }
    const seen = root.actions.filter((a) => root.visits[a] > 0).sort((a, b) => root.visits[b] - root.visits[a]);
    const ordered = [action, ...seen.filter((a) => a !== action)].filter((a) => root.visits[a] > 0);
    return {
      action,
      value: root.value,
      simulations: root.total(),
      policy,
      prior: Float64Array.from(root.logits, Math.exp),
      visits: root.visits.slice(),
      candidates: ordered.slice(0, 10).map((a) => ({
        action: a, visits: root.visits[a], value: root.qvalues[a], prior: Math.exp(root.logits[a]), line: line(root, a),
      })),
    };
  }
}

// How often the root's next moves shall have been visited, one number for each of `budget` simulations.
export function halvings(considered, budget) {
  if (considered <= 1) return Array.from({ length: budget }, (_, i) => i);
  const phases = Math.ceil(Math.log2(considered));
  const visits = new Array(considered).fill(0);
  const plan = [];
  for (let width = considered; plan.length < budget; width = Math.max(2, Math.floor(width / 2))) {
    const rounds = Math.max(1, Math.floor(budget / (phases * width)));
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < width; i++) plan.push(visits[i]++);
    }
  }
  return plan.slice(0, budget);
}

// Q-values scaled to compare with logits; the mixed value stands for moves that were not visited.
function completed(node) {
  const { actions, visits, qvalues, logits } = node;
  let weights = 0, sum = 0, most = 0;
  for (const a of actions) {
    if (!visits[a]) continue;
    const weight = Math.exp(logits[a]);
    weights += weight;
    sum += weight * qvalues[a];
    most = Math.max(most, visits[a]);
  }
  const total = node.total();
  const mixed = (node.raw + total * (weights ? sum / weights : 0)) / (total + 1);
  let low = Infinity, high = -Infinity;
  const found = new Float64Array(logits.length);
  for (const a of actions) {
    found[a] = visits[a] ? qvalues[a] : mixed;
    low = Math.min(low, found[a]);
    high = Math.max(high, found[a]);
  }
  const scale = (0.1 * (50 + most)) / Math.max(high - low, 1e-8);
  for (const a of actions) found[a] = scale * (found[a] - low);
  return found;
}

function improved(node) {
  const qvalues = completed(node);
  const total = logOfSum(node.actions.map((a) => node.logits[a] + qvalues[a]));
  const policy = new Float64Array(node.logits.length);
  for (const a of node.actions) policy[a] = Math.exp(node.logits[a] + qvalues[a] - total);
  return policy;
}

function logOfSum(logits) {
  const most = Math.max(...logits);
  return most + Math.log(logits.reduce((sum, x) => sum + Math.exp(x - most), 0));
}

// The first of the actions that score best.
function best(actions, score) {
  let chosen = actions[0], highest = -Infinity;
  for (const action of actions) {
    const here = score(action);
    if (here > highest) [chosen, highest] = [action, here];
  }
  return chosen;
}

function mostVisited(node) {
  return best(node.actions, (a) => (node.visits[a] ? node.visits[a] + node.qvalues[a] / 4 : -1));
}

function line(root, action) {
  const found = [action];
  let node = root.children.get(action);
  while (node && node.children.size && found.length < LONGEST_LINE) {
    const next = mostVisited(node);
    found.push(next);
    node = node.children.get(next);
  }
  return found;
}
