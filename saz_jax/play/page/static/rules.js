// A game on boards within one side, run by its programs: positions, moves and their names.
//
// A position is the list of arrays that the programs pass on; the first of them are those of GameState.

import { load } from "./program.js";
import { pointName, readPoint } from "./notation.js";

const [BOARD, , , TO_PLAY, LEGAL, TERMINATED, OUTCOME] = [0, 1, 2, 3, 4, 5, 6];

export class Rules {
  // about: what welcome says of the game; programs, weights: as they were stored.
  constructor(about, side, programs, weights) {
    this.about = about;
    this.side = side;
    this.programs = Object.fromEntries(Object.entries(programs).map(([name, one]) => [name, load(one, weights)]));
    this.actions = about.moves.length * side * side + 1;
    this.pass = this.actions - 1;
  }

  // points: "1101..." row by row.
  init(points) {
    return this.programs.init.run([Float64Array.from(points, Number)]);
  }

  step(state, action) {
    return this.programs.step.run([...state, Float64Array.of(action)]);
  }

  // Dark's points minus light's as the board stands; null if the game counts none.
  score(state) {
    return this.programs.score ? this.programs.score.run(state)[0][0] : null;
  }

  liking(state, action) {
    return this.programs.greedy.run([...state, Float64Array.of(action)])[0][0];
  }

  name(action) {
    if (action === this.pass) return "pass";
    const { from, to } = this.ends(action);
    return pointName(...from) + (`${from}` === `${to}` ? "" : `-${pointName(...to)}`);
  }

  // Where a move begins and ends, as [row, column].
  ends(action) {
    const { side } = this;
    const place = action % (side * side);
    const [down, right] = this.about.moves[Math.floor(action / (side * side))];
    const [row, column] = [Math.floor(place / side), place % side];
    return { from: [row, column], to: [row + down, column + right] };
  }

  // The inverse of `name`; an error for what is no move.
  read(name) {
    if (name.toLowerCase() === "pass") return this.pass;
    const ends = name.toUpperCase().split("-").map(readPoint);
    const [from, to] = [ends[0], ends.at(-1)];
    const inside = ends.length <= 2 && ends.every((end) => end && end.every((x) => x >= 0 && x < this.side));
    if (inside) {
      const step = [to[0] - from[0], to[1] - from[1]];
      const kind = this.about.moves.findIndex((move) => `${move}` === `${step}`);
      if (kind >= 0) return kind * this.side * this.side + from[0] * this.side + from[1];
    }
    throw new Error(`${name} is no move here; use a point such as D3, or pass`);
  }
}

export const board = (state) => state[BOARD];
export const toPlay = (state) => state[TO_PLAY][0];
export const legal = (state) => state[LEGAL];
export const over = (state) => state[TERMINATED][0] === 1;
export const outcome = (state) => state[OUTCOME][0];

export function legalActions(state) {
  const found = [];
  legal(state).forEach((may, action) => { if (may) found.push(action); });
  return found;
}
