// Games to and from SGF, as `saz_jax.render.sgf` writes and reads them.

import { board } from "./rules.js";

const LETTER = "a".charCodeAt(0);

// game: {rules, actions, states, points, dark, light}.
export function toSGF(about, game, result) {
  const { sgf } = about, { rules } = game;
  if (!sgf) throw new Error(`${about.name} has no form in SGF; copy the link instead`);
  const write = (row, column) => String.fromCharCode(LETTER + column) + (sgf.points === "a1" ? row + 1 : String.fromCharCode(LETTER + row));
  const letters = (place) => String.fromCharCode(LETTER + (place % rules.side), LETTER + Math.floor(place / rules.side));
  const move = (action) => {
    if (action === rules.pass) return sgf.pass;
    const { from, to } = rules.ends(action);
    return write(...from) + (`${from}` === `${to}` ? "" : write(...to));
  };
  const list = (key, values) => (values.length ? key + values.map((value) => `[${value}]`).join("") : "");
  const where = (test) => Array.from({ length: rules.side ** 2 }, (_, place) => place).filter(test);
  const opening = board(game.states[0]);
  const plain = (text) => text.replace(/[\\\]]/g, "\\$&");
  const colours = game.states.map((state) => (state[3][0] === 1 ? "B" : "W"));
  return [
    `(;FF[4]CA[UTF-8]GM[${sgf.GM}]SZ[${rules.side}]`,
    ...Object.entries(sgf.root).map(([key, value]) => `${key}[${value}]`),
    `PB[${plain(game.dark)}]PW[${plain(game.light)}]`,
    result ? `RE[${result}]` : "",
    list("XH", where((place) => game.points[place] === "0").map((place) => write(Math.floor(place / rules.side), place % rules.side))),
    list("AB", where((place) => opening[place] === 1).map(letters)),
    list("AW", where((place) => opening[place] === -1).map(letters)),
    ...game.actions.map((action, i) => `;${colours[i]}[${move(action)}]`),
    ")\n",
  ].join("");
}

// {name, size, root, moves: [{colour, read(rules) -> action}]} of the main line; games: those of the page.
export function fromSGF(text, games) {
  // The main line is the first branch of every fork: all that stands before the first closing bracket.
  const line = [];
  const token = /([A-Z]{1,8})\s*((?:\[(?:\\[^]|[^\]\\])*\]\s*)+)|[;()]/y;
  for (let at = 0; at < text.length;) {
    token.lastIndex = at;
    const found = token.exec(text);
    at = found ? token.lastIndex : at + 1;
    if (found?.[0] === ")") break;
    if (found?.[1]) line.push([found[1], /\[((?:\\[^]|[^\]\\])*)\]/.exec(found[2])[1].trim()]);
  }
  const root = Object.fromEntries(line.filter(([key]) => !["B", "W"].includes(key)).reverse());
  const about = games.find(({ sgf }) => sgf && String(sgf.GM) === (root.GM ?? "1"));
  if (!line.length || !about) throw new Error(`this page reads games of ${games.map(({ name }) => name).join(" and ")} in SGF`);
  if (!/^\d+$/.test(root.SZ ?? "") || root.XH) throw new Error("this page reads records of square boards whose side is told by SZ[...]");
  const { sgf, name } = about;
  const moves = line.filter(([key]) => key === "B" || key === "W").map(([key, value]) => ({
    colour: key === "B" ? 1 : -1,
    read(rules) {
      if (value.toLowerCase() === sgf.pass || (value === "tt" && rules.side <= 19)) return rules.pass;
      const points = value.toLowerCase().match(sgf.points === "a1" ? /[a-z]\d+/g : /[a-z]{2}/g) ?? [];
      return rules.read(points.map((point) => {
        const row = sgf.points === "a1" ? Number(point.slice(1)) : point.charCodeAt(1) - LETTER + 1;
        return point[0].toUpperCase() + row;
      }).join("-"));
    },
  }));
  return { name, size: Number(root.SZ), root, moves };
}
