// Runs the engine of the page in node: `node check.js TASK FOLDER`, with the engine's modules beside it.
// FOLDER holds what test_page.py has written; the answer goes to stdout as JSON.

import fs from "node:fs";
import path from "node:path";
import { load } from "./program.js";
import { Rules } from "./rules.js";
import { Search, halvings } from "./search.js";
import { Table } from "./table.js";

const [task, folder] = process.argv.slice(2);
const text = (name) => JSON.parse(fs.readFileSync(path.join(folder, name)));
const bytes = (name) => {
  const read = fs.readFileSync(path.join(folder, name));
  return read.buffer.slice(read.byteOffset, read.byteOffset + read.length);
};
const numbers = (name) => new Float64Array(bytes(name));

const tasks = {
  // Every case's program on its inputs.
  programs: () => text("cases.json").map(({ program, inputs }) =>
    load(program, bytes("weights.bin")).run(inputs.map((x) => Float64Array.from(x))).map((x) => Array.from(x, String))),

  // Games move by move: how many positions there were, and the first that differs.
  rules: () => {
    const { programs, points, games, moves, sizes } = text("task.json");
    const run = Object.fromEntries(Object.entries(programs).map(([name, one]) => [name, load(one, bytes("weights.bin"))]));
    const actions = numbers("actions.bin"), states = numbers("states.bin");
    let at = 0, positions = 0;
    for (let game = 0; game < games; game++) {
      let state = run.init.run([Float64Array.from(points)]);
      for (let move = 0; move <= moves; move++) {
        for (const [leaf, size] of sizes.entries()) {
          const found = state[leaf];
          if (found.length !== size) return { positions, game, move, leaf };
          for (let i = 0; i < size; i++) if (found[i] !== states[at + i]) return { positions, game, move, leaf };
          at += size;
        }
        positions += 1;
        if (move < moves) state = run.step.run([...state, Float64Array.of(actions[game * moves + move])]);
      }
    }
    return { positions };
  },

  // What a network says of positions, one after the other.
  judge: () => {
    const { judge, sizes, count } = text("task.json");
    const program = load(judge, bytes("weights.bin")), states = numbers("states.bin");
    let at = 0;
    return Array.from({ length: count }, () => {
      const state = sizes.map((size) => states.slice(at, (at += size)));
      const [logits, [value]] = program.run(state);
      return { logits: [...logits], value };
    });
  },

  // What a search finds, one position after the other.
  search: () => {
    const { about, side, programs, judge, settings, sizes, count, simulations } = text("task.json");
    const rules = new Rules(about, side, programs, bytes("weights.bin")), program = load(judge, bytes("weights.bin"));
    const states = numbers("states.bin");
    let at = 0;
    return Array.from({ length: count }, () => {
      const search = new Search(rules, (state) => {
        const [logits, [value]] = program.run(state);
        return { logits, value };
      }, settings);
      search.begin(sizes.map((size) => states.slice(at, (at += size))));
      search.aim(simulations);
      for (let i = 0; i < simulations; i++) search.simulate();
      const { action, value, visits } = search.found();
      return { action, value, visits: [...visits] };
    });
  },

  halvings: () => text("task.json").map(([considered, budget]) => halvings(considered, budget)),

  // A table that is told messages, each one after the answer to the one before: the events of each.
  table: async () => {
    let events = [], answered = () => {};
    const read = async (name) => (name.endsWith(".bin") ? bytes(`data/${name}`) : text(`data/${name}`));
    const table = new Table(read, (event) => {
      events.push(event);
      if (["game", "error", "record", "welcome"].includes(event.is)) answered();
    }, 0);
    table.run();
    const all = [];
    for (const message of [null, ...text("messages.json")]) {
      events = [];
      const answer = new Promise((resolve) => { answered = resolve; });
      if (message) table.hear(message);
      await answer;
      // Whoever is to move then moves, until a person is.
      const busy = () => table.heard.length || table.turn() !== null;
      for (let turn = 0; turn < 2000 && busy(); turn++) await new Promise((go) => setTimeout(go, 5));
      all.push(events);
    }
    return all;
  },
};

process.stdout.write(JSON.stringify(await tasks[task]()), () => process.exit(0));
