// Who moves when no person does: random, greedy, and players with a network.

import { load } from "./program.js";
import { board, legal, legalActions, over, toPlay } from "./rules.js";
import { Search } from "./search.js";

const SLICE = 60; // milliseconds of thinking between two looks at what people say
const REPORT = 120; // milliseconds between two reports

const plain = (choose) => async (rules, state) => ({ action: choose(rules, state, legalActions(state)), value: null, simulations: 0, candidates: [] });
const oneOf = (actions) => actions[Math.floor(Math.random() * actions.length)];

export const random = plain((rules, state, actions) => oneOf(actions));
export const greedy = plain((rules, state, actions) => {
  const liked = actions.map((action) => rules.liking(state, action));
  const most = Math.max(...liked);
  return oneOf(actions.filter((_, i) => liked[i] === most));
});

// think(rules, state, budget, stop, report) of a network: programs as they were stored, settings of its search.
export function network(programs, weights, settings) {
  const judge = load(programs.judge, weights);
  return async (rules, state, budget, stop, report) => {
    const search = new Search(rules, (at) => {
      const [logits, [value]] = judge.run(at);
      return { logits, value };
    }, settings);
    const began = performance.now();
    const most = budget.simulations ?? Infinity, end = budget.seconds ? began + 1000 * budget.seconds : Infinity;
    search.begin(state);
    if (most < Infinity) search.aim(most);
    let told = began;
    do {
      const pause = Math.min(performance.now() + SLICE, end);
      do search.simulate();
      while (search.root.total() < most && performance.now() < pause);
      await new Promise((go) => setTimeout(go)); // what people say meanwhile is heard
      if (performance.now() - told > REPORT) {
        told = performance.now();
        report({ ...search.found(), seconds: (told - began) / 1000 });
      }
    } while (search.root.total() < most && performance.now() < end && !stop());
    return { ...search.found(), seconds: (performance.now() - began) / 1000 };
  };
}

// The move to play instead, where to pass is a choice: a won game is ended, and a lost score is never passed into
// as long as there is a move that fills no eye of one's own.
export function sensible(rules, state, found) {
  const { pass } = rules;
  const score = rules.score(state);
  const actions = legalActions(state);
  if (score === null || !legal(state)[pass] || actions.length === 1) return found;
  const margin = score * toPlay(state);
  if (margin > 0 && over(rules.step(state, pass))) return { ...found, action: pass };
  if (found.action !== pass || margin > 0) return found;
  const likely = found.policy ? [...actions].sort((a, b) => found.policy[b] - found.policy[a]) : actions;
  const ranked = [...[...found.candidates].sort((a, b) => b.visits - a.visits).map((one) => one.action), ...likely];
  const action = ranked.find((one) => one !== pass && !isOwnEye(rules, state, one));
  return action === undefined ? found : { ...found, action };
}

function isOwnEye(rules, state, action) {
  const { from: [row, column] } = rules.ends(action);
  const around = [[row - 1, column], [row + 1, column], [row, column - 1], [row, column + 1]];
  return around.every(([r, c]) => r < 0 || c < 0 || r >= rules.side || c >= rules.side
    || board(state)[r * rules.side + c] === toPlay(state));
}
