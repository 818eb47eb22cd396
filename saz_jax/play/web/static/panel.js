// What stands beside the board: value bar, win curve, candidates, figures of the chosen view.

import { make } from "./board.js";

export const VIEWS = [
  ["none", "None", ""],
  ["prior", "Policy", "Where the network would play, before any search."],
  ["visits", "Visits", "Where the search looked, and how often."],
  ["policy", "Search", "Where the search would play."],
  ["subgraphs", "Subgraphs", "Sampled parts of the board, and what the network says about each."],
  ["spread", "Disagreement", "Where the subgraphs contradict each other: the network is not sure there."],
  ["ownership", "Ownership", "Whose each point will be in the end, as the network predicts."],
];
export const NEEDS_INSIGHT = ["subgraphs", "spread", "ownership"];

export const percent = (chance) => `${Math.round(100 * chance)}%`;

export function showValue(bar, chance) {
  bar.classList.toggle("unknown", chance === null);
  const known = chance ?? 0.5;
  bar.querySelector(".share").style.width = `${(100 * known).toFixed(1)}%`;
  bar.querySelector("output").textContent = chance === null ? "" : `dark ${percent(known)}`;
  bar.setAttribute("aria-valuenow", Math.round(100 * known));
}

// chances: one for each position, null where nobody has thought about it.
export function showCurve(svg, chances) {
  const width = 320, height = 84;
  const across = Math.max(chances.length - 1, 10);
  const known = chances.map((chance, ply) => [ply, chance]).filter(([, chance]) => chance !== null);
  const at = ([ply, chance]) => `${((width * ply) / across).toFixed(1)} ${((1 - chance) * height).toFixed(1)}`;
  const parts = [make("line", { x1: 0, x2: width, y1: height / 2, y2: height / 2, class: "even" })];
  if (known.length) {
    const path = known.map(at).join("L");
    const [first, last] = [known[0][0], known[known.length - 1][0]].map((ply) => (width * ply) / across);
    parts.push(make("path", { d: `M${first} ${height}L${path}L${last} ${height}Z`, class: "area" }));
    parts.push(make("path", { d: `M${path}`, class: "line", "vector-effect": "non-scaling-stroke" }));
  }
  svg.replaceChildren(...parts);
}

// hover(line or null): somebody points at a candidate.
export function showCandidates(body, analysis, hover) {
  const rows = (analysis?.candidates ?? []).slice(0, 6).map((candidate) => {
    const row = document.createElement("tr");
    const cells = [candidate.move, candidate.visits, percent(candidate.chance), candidate.line.slice(0, 7).join(" ")];
    row.append(...cells.map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    }));
    row.addEventListener("pointerenter", () => hover(candidate.line));
    row.addEventListener("pointerleave", () => hover(null));
    return row;
  });
  body.replaceChildren(...rows);
}

// What the board paints for a view; null: nothing.
export function heatOf(view, { analysis, insight, which, size }) {
  const whole = (values) => {
    const points = values.slice(0, size * size);
    const most = Math.max(...points, 1);
    return points.map((value) => Math.sqrt(value / most)); // or all but the best would be invisible
  };
  const labelled = (values, name, write) => {
    const best = values.slice(0, size * size).map((value, place) => [value, place])
      .filter(([value]) => value > 0).sort((a, b) => b[0] - a[0]).slice(0, 8);
    const texts = Object.fromEntries(best.map(([value, place]) => [place, write(value)]));
    return { name, values: whole(values), texts };
  };
  const share = (value) => `${Math.round(value / 10)}`;
  if (view === "visits" && analysis?.visits) {
    return labelled(analysis.visits, "visits", (value) => (value < 1000 ? `${value}` : `${(value / 1000).toFixed(1)}k`));
  }
  if (view === "policy" && analysis?.policy) return labelled(analysis.policy, "policy", share);
  if (view === "prior" && (analysis?.prior ?? insight?.prior)) {
    return labelled(analysis?.prior ?? insight.prior, "prior", share);
  }
  if (view === "spread" && insight?.spread) return labelled(insight.spread, "spread", share);
  if (view === "subgraphs" && insight?.subgraphs?.length) {
    const one = insight.subgraphs[which % insight.subgraphs.length];
    return { ...labelled(one.prior, "subgraph", share), mask: one.nodes };
  }
  if (view === "ownership" && insight?.ownership) {
    return { name: "ownership", values: insight.ownership.map((value) => value / 100), texts: {} };
  }
  return null;
}

// A sentence about the chosen view.
export function explain(view, { analysis, insight, explainedBy }) {
  const about = VIEWS.find(([name]) => name === view)[2];
  if (NEEDS_INSIGHT.includes(view) && insight) {
    if (!insight.network) return `${explainedBy} has no network to ask.`;
    if (view === "ownership" && !insight.ownership) return `The network of ${insight.player} does not predict ownership.`;
    if (view !== "ownership" && insight.disagreement === null) return "This board is too small for subgraphs.";
    if (view !== "ownership") return `${about} Disagreement: ${percent(insight.disagreement)}.`;
  }
  if (view !== "none" && !NEEDS_INSIGHT.includes(view) && analysis && !analysis.visits) {
    return `${explainedBy} does not tell what it looked at.`;
  }
  return about;
}

