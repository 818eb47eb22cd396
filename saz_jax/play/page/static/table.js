// The game of one page: what it is told and tells, as the server's tables do, but inside the page.
//
// read(name) -> promise of the JSON of a stored file, or of its bytes where the name ends with .bin.

import { greedy, network, random, sensible } from "./players.js";
import { Rules, board, legal, legalActions, outcome, over, toPlay } from "./rules.js";
import { fromSGF, toSGF } from "./sgf.js";

const PERSON = "person";
const USUAL = 100; // simulations
const SLOWEST_WATCHED = 350; // milliseconds that a move between two players takes at least
const SENT_LINE = 12;

export class Table {
  constructor(read, tell, slowestWatched = SLOWEST_WATCHED) {
    this.read = read;
    this.tell = tell;
    this.slowestWatched = slowestWatched;
    this.heard = [];
    this.wake = () => {};
    this.loaded = new Map();
    this.watching = false;
  }

  // Called whenever something is said; the table answers in its own time.
  hear(message) {
    if (message.do === "stop") this.moveNow = true;
    else this.heard.push(message);
    this.wake();
  }

  async run() {
    this.about = await this.read("about.json");
    this.tell(this.about.welcome);
    for (;;) {
      await this.step();
      if (!this.heard.length && !this.hasWork()) await new Promise((wake) => { this.wake = wake; });
    }
  }

  // One message, or some work if there is none.
  async step() {
    try {
      if (this.heard.length) await this.answer(this.heard.shift());
      else if (this.hasWork()) await this.work();
    } catch (error) {
      this.failed = this.version;
      this.analysed = this.version;
      this.tell({ is: "thinking", on: false, text: "" });
      this.tell({ is: "error", text: error.message });
    }
  }

  // Messages.

  async answer(message) {
    if (message.do === "open") return this.open(message);
    if (message.do === "analyse") {
      this.watching = message.on;
      this.analysed = null;
      return;
    }
    if (message.do === "load") return this.openRecord(message.sgf);
    if (!this.game) throw new Error("there is no game yet; open one first");
    if (message.do === "save") {
      const { game } = this;
      return this.tell({ is: "record", name: `${game.game}.sgf`, text: toSGF(game.rules.about, game, this.result()) });
    }
    await this.act(message);
    this.moveNow = false;
    this.changed();
    this.show();
  }

  async act({ do: what, ...more }) {
    const { game } = this;
    if (what === "play") this.play(game.rules.read(more.move));
    else if (what === "undo" || what === "redo") this.travel(what, more.all);
    else if (what === "pause") this.paused = more.on;
    else if (what === "go") await this.letMove();
    else if (what === "seats") await this.sit(more);
    else if (what === "resign") {
      this.refuseIfOver();
      game.resigned = toPlay(this.state);
    } else throw new Error(`a page does not know ${what}`);
  }

  async open(message) {
    const about = this.aboutGame(message.game);
    const { side, points } = readShape(message, about);
    const rules = await this.rules(about, side);
    for (const player of [message.dark, message.light]) this.checkPlayer(player, about, side);
    const begin = rules.init(points);
    if (over(begin)) throw new Error(`${about.name} cannot be played on this shape; draw another`);
    const { game: before } = this;
    const { game, dark, light, simulations, seconds } = message;
    this.game = {
      game, shape: points.includes("0") ? drawn(points, side) : "", dark, light, simulations, seconds,
      rules, points, states: [begin], actions: [], undone: [], resigned: null,
    };
    try {
      for (const move of message.moves ?? []) this.play(rules.read(move));
      if (message.resigned && !this.over()) this.game.resigned = message.resigned;
    } catch (error) {
      this.game = before;
      throw new Error(`the moves of this game do not fit: ${error.message}`);
    }
    Object.assign(this, { curve: {}, paused: false, moveNow: false });
    this.changed();
    this.show();
  }

  // Other players go on with the game.
  async sit(seats) {
    const { game, curve } = this;
    for (const player of [seats.dark, seats.light]) this.checkPlayer(player, game.rules.about, game.rules.side);
    Object.assign(game, { dark: seats.dark, light: seats.light, simulations: seats.simulations, seconds: seats.seconds });
    Object.assign(this, { curve, paused: false });
  }

  async openRecord(text) {
    const { name, size, moves, root } = fromSGF(text, this.about.welcome.games);
    const about = this.aboutGame(name);
    for (const [key, ours] of Object.entries(about.sgf.root)) {
      if (root[key] !== undefined && Number(root[key]) !== Number(ours)) {
        throw new Error(`this game has ${key}[${root[key]}], and this page plays with ${key}[${ours}]`);
      }
    }
    const rules = await this.rules(about, size);
    const names = [];
    let state = rules.init("1".repeat(size * size));
    const push = (action) => {
      names.push(rules.name(action));
      state = rules.step(state, action);
    };
    for (const { colour, read } of moves) {
      if (colour !== toPlay(state) && legalActions(state).join() === `${rules.pass}`) push(rules.pass);
      if (colour !== toPlay(state)) throw new Error(`move ${names.length + 1} is out of turn; the sides must alternate`);
      push(read(rules));
    }
    await this.open({ game: name, size, dark: PERSON, light: PERSON, simulations: null, seconds: null, moves: names });
  }

  // The game.

  get state() {
    return this.game.states.at(-1);
  }

  over() {
    return over(this.state) || this.game.resigned !== null;
  }

  refuseIfOver() {
    if (this.over()) throw new Error(`the game is over (${this.result()}); take a move back, or begin a new one`);
  }

  play(action) {
    this.refuseIfOver();
    const { rules, states, actions } = this.game;
    if (!legal(this.state)[action]) {
      throw new Error(`${rules.name(action)} is illegal for ${toPlay(this.state) === 1 ? "dark" : "light"} here`);
    }
    states.push(rules.step(this.state, action));
    actions.push(action);
    this.game.undone = [];
  }

  // To the next turn of a person, or as far as it goes.
  travel(what, everything) {
    const { game } = this;
    const back = () => {
      if (game.resigned !== null) game.resigned = null;
      else if (game.actions.length) {
        game.undone.push(game.actions.pop());
        game.states.pop();
      } else throw new Error("there is nothing to take back");
    };
    const forth = () => {
      if (!game.undone.length) throw new Error("there is nothing to play again");
      const { undone } = game;
      this.play(undone.pop());
      game.undone = undone;
    };
    const [move, more] = what === "undo" ? [back, () => game.actions.length > 0] : [forth, () => game.undone.length > 0];
    move();
    const people = [game.dark, game.light].includes(PERSON);
    while (more() && (everything || (people && this.player() !== PERSON))) move();
    if (!this.over() && this.player() !== PERSON) this.paused = true; // or it would move at once
  }

  player() {
    return toPlay(this.state) === 1 ? this.game.dark : this.game.light;
  }

  result() {
    if (!this.over()) return "";
    const { resigned, rules } = this.game;
    const winner = { 1: "B+", "-1": "W+", 0: "0" };
    if (resigned !== null) return `${winner[-resigned]}R`;
    const won = outcome(this.state), score = rules.score(this.state);
    return score && won ? `${winner[won]}${Math.abs(score)}` : winner[won];
  }

  // Work.

  changed() {
    this.version = (this.version ?? 0) + 1;
    this.failed = null;
    const last = this.game.actions.length;
    for (const ply of Object.keys(this.curve)) if (ply > last) delete this.curve[ply];
  }

  turn() {
    if (!this.game || this.over() || this.paused || this.failed === this.version) return null;
    return this.player() === PERSON ? null : this.player();
  }

  hasWork() {
    return this.turn() !== null || Boolean(this.watching && this.game && !this.over() && this.analysed !== this.version);
  }

  async work() {
    if (this.turn() !== null) {
      await this.letMove();
      this.show();
      return;
    }
    const { version } = this;
    await this.think(this.analyst(), { simulations: null, seconds: null });
    if (!this.heard.length) {
      this.analysed = version;
      this.tell({ is: "thinking", on: false, text: "" });
    }
    this.moveNow = false;
  }

  // Who explains the position: a player at the board that has a network, else the game's own.
  analyst() {
    const { game } = this;
    return [game.dark, game.light].find((name) => name in this.about.players) ?? game.rules.about.agent;
  }

  async letMove() {
    this.refuseIfOver();
    const began = performance.now(), { game, version } = this;
    const player = this.player() === PERSON ? this.analyst() : this.player();
    const budget = game.simulations || game.seconds ? game : { simulations: USUAL, seconds: null };
    const found = await this.think(player, budget);
    if (![game.dark, game.light].includes(PERSON)) {
      while (performance.now() - began < this.slowestWatched && !this.heard.length) await new Promise((go) => setTimeout(go, 20));
    }
    if (this.heard.length || version !== this.version) return;
    this.play(found.action);
    this.moveNow = false;
    this.changed();
  }

  async think(player, budget) {
    const { rules } = this.game, state = this.state, ply = this.game.actions.length;
    const only = legalActions(state);
    this.tell({ is: "thinking", on: true, text: `${player} thinks` });
    const think = await this.thinker(player);
    const report = (found) => this.report(found, ply, toPlay(state));
    if (only.length === 1 && budget.simulations !== null) return { action: only[0] };
    const found = await think(rules, state, budget, () => this.moveNow || this.heard.length > 0, report);
    const wise = sensible(rules, state, found);
    report(wise);
    return wise;
  }

  async thinker(player) {
    const simple = { random, greedy }[player];
    if (simple) return simple;
    const { files, weights, search } = this.about.players[player];
    return this.once(`player ${player} ${this.game.rules.side}`, async () => {
      const [programs, bytes] = await Promise.all([this.read(files[this.game.rules.side]), this.read(weights)]);
      return network(programs, bytes, search);
    });
  }

  // What is stored.

  async once(key, make) {
    if (!this.loaded.has(key)) this.loaded.set(key, await make());
    return this.loaded.get(key);
  }

  async rules(about, side) {
    const stored = this.about.rules[about.name][side];
    if (!stored) throw new Error(`this page has ${about.name} on sides ${about.sizes.join(", ")}; ${side} is none of them`);
    return this.once(`rules ${about.name} ${side}`, async () => {
      const [programs, bytes] = await Promise.all([this.read(stored.file), this.read(stored.weights)]);
      return new Rules(about, side, programs, bytes);
    });
  }

  aboutGame(name) {
    const found = this.about.welcome.games.find((about) => about.name === name);
    if (!found) throw new Error(`this page has no game ${name}`);
    return found;
  }

  checkPlayer(name, about, side) {
    if ([PERSON, "random", "greedy"].includes(name)) return;
    const found = this.about.players[name];
    if (!found || found.game !== about.name) throw new Error(`this page has no player ${name} of ${about.name}`);
    if (!(side in found.files)) throw new Error(`${name} plays on sides ${Object.keys(found.files).join(", ")} here`);
  }

  // Events.

  show() {
    const { game, state } = this, { rules } = game;
    const actions = this.over() ? [] : legalActions(state);
    const starts = new Array(rules.side ** 2).fill(0), ends = {};
    for (const action of actions.filter((one) => one !== rules.pass)) {
      const [start, end] = rules.name(action).split("-");
      starts[action % rules.side ** 2] = 1;
      if (end) (ends[start] ??= []).push(end);
    }
    this.tell({ is: "thinking", on: false, text: "" });
    this.tell({
      is: "game", game: game.game, size: rules.side, shape: game.shape, options: {}, dark: game.dark, light: game.light,
      moves: game.actions.map((action) => rules.name(action)), resigned: game.resigned,
      simulations: game.simulations, seconds: game.seconds, points: game.points, board: Array.from(board(state)),
      legal: starts.join(""), ends, can_pass: actions.includes(rules.pass), can_redo: game.undone.length > 0,
      to_play: toPlay(state), over: this.over(), outcome: game.resigned === null ? outcome(state) : -game.resigned,
      result: this.result(), score: rules.score(state), paused: Boolean(this.paused), explained_by: this.analyst(),
      curve: Array.from({ length: game.actions.length + 1 }, (_, ply) => this.curve[ply] ?? null),
    });
  }

  report(found, ply, colour) {
    const { rules } = this.game;
    const chance = (value) => (value === null || value === undefined ? null : (1 + value * colour) / 2);
    const points = (values, scale) => {
      if (!values) return null;
      const square = rules.side ** 2, sums = new Array(square + 1).fill(0);
      values.forEach((value, action) => { sums[action === rules.pass ? square : action % square] += value; });
      return sums.map((value) => Math.round(value * scale));
    };
    if (found.value !== null && found.value !== undefined) this.curve[ply] = chance(found.value);
    this.tell({
      is: "analysis", ply, to_play: colour, move: rules.name(found.action), chance: chance(found.value),
      simulations: found.simulations, seconds: found.seconds ?? 0,
      candidates: found.candidates.map((one) => ({
        move: rules.name(one.action), visits: one.visits, chance: chance(one.value), prior: one.prior,
        line: one.line.slice(0, SENT_LINE).map((action) => rules.name(action)),
      })),
      visits: points(found.visits, 1), prior: points(found.prior, 1000), policy: points(found.policy, 1000),
    });
  }
}

// The side of the programs to use, and the points "1101..." within it, of a square or of a drawing such as ..#/...
function readShape({ size, shape }, about) {
  if (!shape) return { side: size, points: "1".repeat(size * size) };
  const found = /^(\d{1,2})x(\d{1,2})$/.exec(shape);
  const rows = found ? new Array(Number(found[1])).fill(".".repeat(Number(found[2]))) : shape.split("/");
  if (!rows.every((row) => /^[.#]*$/.test(row))) throw new Error(`${shape} is no shape; use 7x11 or a drawing such as ..#/...`);
  const need = Math.max(rows.length, ...rows.map((row) => row.length));
  const side = about.sizes.find((one) => one >= need) ?? need;
  const cells = Array.from({ length: side }, (_, row) => (rows[row] ?? "").padEnd(side, "#"));
  return { side, points: cells.join("").replaceAll(".", "1").replaceAll("#", "0") };
}

function drawn(points, side) {
  const rows = Array.from({ length: side }, (_, row) => points.slice(row * side, (row + 1) * side));
  return rows.join("/").replaceAll("1", ".").replaceAll("0", "#");
}
