// The page: it shows what the engine tells, and tells the engine what people do.

import { Board } from "./board.js";
import { connect } from "./engine.js";
import { fromLink, toLink } from "./link.js";
import { pointName } from "./notation.js";
import { NEEDS_INSIGHT, VIEWS, explain, heatOf, showCandidates, showCurve, showValue } from "./panel.js";

const $ = (id) => document.getElementById(id);
const SLIDER_END = 25;

const page = { welcome: null, game: null, analysis: null, insight: null, view: "none", which: 0, line: null, start: null, opened: false };

const board = new Board($("board"), {
  choose(row, column) {
    const { game } = page;
    if (!game || game.over) return;
    if (game[side(game.to_play)] !== "person") return toast("It is not your turn.");
    const move = pointName(row, column);
    const start = page.start;
    page.start = null;
    if (start && game.ends[start]?.includes(move)) return send({ do: "play", move: `${start}-${move}` });
    if (game.legal[row * game.size + column] !== "1") return toast(`${move} cannot be played here.`);
    if (game.ends[move]) {
      page.start = move;
      return toast(`${move}: choose where it goes.`);
    }
    send({ do: "play", move });
  },
  paint(points) {
    const { size } = page.game;
    const rows = [];
    for (let row = 0; row < size; row++) {
      rows.push(points.slice(row * size, (row + 1) * size).replaceAll("1", ".").replaceAll("0", "#"));
    }
    open({ ...wanted(), shape: rows.join("/") });
  },
});

const send = connect((event) => {
  ({ waiting, welcome, game, thinking, analysis, insight, record, error })[event.is]?.(event);
});

// What the engine tells.

function waiting({ text }) {
  chip(text, true);
  page.ready = false;
}

function welcome(event) {
  page.welcome = event;
  page.ready = true;
  chip("ready");
  fill($("game"), event.games.map(({ name }) => [name, title(name)]));
  for (const pill of $("views").children) pill.hidden = event.insight === false && NEEDS_INSIGHT.includes(pill.dataset.view);
  tellAnalysis();
  if (page.game) {
    open(page.game, false); // the connection was lost: the game goes on where it was
  } else {
    openLink();
  }
}

function game(event) {
  const before = page.game;
  page.game = event;
  page.ready = true;
  const about = aboutGame(event.game);
  const moved = before && (before.moves.length !== event.moves.length || before.game !== event.game || before.shape !== event.shape || before.size !== event.size);
  if (moved && page.analysis && page.analysis.ply !== event.moves.length - 1 && page.analysis.ply !== event.moves.length) page.analysis = null;
  if (moved) page.insight = page.line = null;
  remember(event);
  board.lay({ size: event.size, points: event.points, kind: about.stones_on });
  const own = !event.over && event[side(event.to_play)] === "person";
  board.turn = own ? event.to_play : 0;
  board.home.classList.toggle("yours", own);
  const few = (event.legal.match(/1/g) ?? []).length < 0.5 * (event.points.match(/1/g) ?? []).length;
  board.stones(event.board, event.moves.at(-1), own && few ? event.legal : "");
  showForm(event, about);
  showStatus();
  paint();
}

function thinking(event) {
  page.thinking = event.on;
  chip(event.on ? event.text : "ready", event.on);
  showStatus();
}

function analysis(event) {
  if (page.game && event.ply > page.game.moves.length) return;
  page.analysis = event;
  if (page.game && event.chance !== null) page.game.curve[event.ply] = event.chance;
  paint();
}

function insight(event) {
  page.insight = event;
  page.which = 0;
  paint();
}

function record({ name, text }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/x-go-sgf" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function error({ text }) {
  toast(text);
  if (!page.game && page.opened !== "again") {
    page.opened = "again";
    if (page.welcome) open(first());
  } else if (page.game) {
    game(page.game); // the form shows again what is played
  }
}

// What people do.

function open(setup, newEntry = true) {
  const { game, size, shape, options, dark, light, simulations, seconds, moves, resigned } = setup;
  page.nextEntry = newEntry && page.game !== null;
  send({ do: "open", game, size, shape: shape || null, options: options ?? {}, dark, light, simulations, seconds, moves: moves ?? [], resigned: resigned ?? null });
}

function openLink() {
  const found = fromLink(location.hash);
  page.opened = true;
  open(found ?? first(), false);
}

function first() {
  const { welcome } = page;
  const about = aboutGame(welcome.game);
  const strength = welcome.simulations || welcome.seconds ? welcome : { simulations: 100, seconds: null };
  return { game: about.name, size: welcome.size ?? about.size, dark: "person", light: about.agent, simulations: strength.simulations, seconds: strength.seconds };
}

// The game that the form asks for.
function wanted() {
  const name = $("game").value;
  const about = aboutGame(name);
  const options = {};
  for (const option of about.options) {
    const input = $(`option-${option.name}`);
    if (!input) continue;
    if (option.default === null && input.value === "") continue;
    const value = option.kind === "bool" ? input.checked : option.kind === "str" ? input.value : Number(input.value);
    if (value !== option.default) options[option.name] = value;
  }
  return { game: name, size: Number($("side-number").value), options, ...seats() };
}

function seats() {
  const unit = $("unit").value;
  const amount = Number($("strength").value) || 1;
  return {
    dark: seat("dark"),
    light: seat("light"),
    simulations: unit === "simulations" ? Math.max(1, Math.round(amount)) : null,
    seconds: unit === "seconds" ? Math.max(0.05, amount) : null,
  };
}

function seat(colour) {
  const chosen = $(colour).value;
  return chosen === "other" ? $(`${colour}-other`).querySelector("input").value || "person" : chosen;
}

function tellAnalysis() {
  send({ do: "analyse", on: $("analyse").checked, insight: NEEDS_INSIGHT.includes(page.view), player: null });
}

// What is shown.

function showForm(game, about) {
  $("game").value = game.game;
  const slider = $("side");
  slider.min = $("side-number").min = about.smallest;
  slider.max = about.sizes ? about.sizes.at(-1) : Math.max(SLIDER_END, Math.min(game.size, page.welcome.largest));
  $("side-number").max = page.welcome.largest;
  slider.value = $("side-number").value = game.size;
  showOptions(about, game.options);
  for (const colour of ["dark", "light"]) showSeat(colour, game);
  if (game.simulations || game.seconds) {
    $("unit").value = game.seconds ? "seconds" : "simulations";
    $("strength").value = game.seconds ?? game.simulations;
  }
  $("title").textContent = `${title(game.game)} ${game.shape ? boxOf(game) : `${game.size}x${game.size}`}`;
  document.title = `${$("title").textContent} · saz`;
  $("whole").hidden = !game.shape;
  $("moves").replaceChildren(...game.moves.map((move, i) => {
    const item = document.createElement("span");
    item.textContent = `${i + 1}. ${move}`;
    return item;
  }));
  $("moves").scrollTop = $("moves").scrollHeight;
}

function boxOf(game) {
  const rows = game.points.length / game.size;
  return `${(game.points.match(/1/g) ?? []).length} points of ${rows}x${game.size}`;
}

function showOptions(about, values) {
  const key = JSON.stringify([about.name, about.options.map(({ name }) => values[name])]);
  if ($("options").dataset.key === key) return;
  $("options").dataset.key = key;
  $("options").replaceChildren(...about.options.map(({ name, kind, about: text }) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.id = `option-${name}`;
    label.title = text;
    if (kind === "bool") {
      input.type = "checkbox";
      input.checked = values[name];
      label.append(input, ` ${name}`);
    } else {
      input.type = kind === "str" ? "text" : "number";
      if (kind === "float") input.step = "0.5";
      input.value = values[name] ?? "";
      input.placeholder = "auto";
      label.append(`${name} `, input);
    }
    input.addEventListener("change", () => open({ ...wanted(), shape: page.game.shape }));
    return label;
  }));
}

function showSeat(colour, game) {
  const { welcome } = page;
  const agents = welcome.agents.filter((agent) => agent.game === game.game).map(({ name }) => name);
  const names = [...new Set([welcome.players[0], ...agents, ...welcome.players.slice(1)])];
  const chosen = game[colour];
  if (!names.includes(chosen)) names.push(chosen);
  const other = welcome.paths ? [["other", "other …"]] : [];
  fill($(colour), [...names.map((name) => [name, name === "person" ? "you" : name]), ...other], chosen);
  $(`${colour}-other`).hidden = true;
  const place = $(`seat-${colour}`);
  place.querySelector("b").textContent = chosen === "person" ? "You" : chosen;
  const count = game.board.filter((stone) => stone === (colour === "dark" ? 1 : -1)).length;
  place.querySelector("span").textContent = game.score === null ? "" : `${count}`;
  place.classList.toggle("turn", !game.over && side(game.to_play) === colour);
}

function showStatus() {
  const { game } = page;
  if (!game) return;
  const person = game[side(game.to_play)] === "person";
  const watched = game.dark !== "person" && game.light !== "person";
  let text = `${side(game.to_play) === "dark" ? "Dark" : "Light"} to play`;
  if (game.over) text = `${{ 1: "Dark wins", "-1": "Light wins", 0: "A tie" }[game.outcome]} (${game.result})`;
  else if (person) text = game.can_pass && !game.legal.includes("1") ? "You must pass." : watched ? text : `Your turn (${side(game.to_play)})`;
  else if (game.paused) text += ": paused";
  else if (page.thinking) text += " …";
  if (!game.over && game.score !== null && game.moves.length) text += ` · ${game.score === 0 ? "even" : `${game.score > 0 ? "dark" : "light"} ahead by ${Math.abs(game.score)}`}`;
  if ($("status").textContent !== text) $("status").textContent = text;
  $("status").classList.toggle("over", game.over);
  const show = (id, shown, enabled = true) => {
    $(id).hidden = !shown;
    $(id).disabled = !enabled;
  };
  show("undo", true, game.moves.length > 0);
  show("undo-all", true, game.moves.length > 0);
  show("redo", true, game.can_redo);
  show("redo-all", true, game.can_redo);
  show("pass", !game.over && person && game.can_pass);
  show("go", !game.over && person, !page.thinking || $("analyse").checked);
  show("stop", !game.over && !person && !game.paused, Boolean(page.thinking));
  show("pause", !game.over && (watched || game.paused));
  show("resign", !game.over && person && game.moves.length > 0);
  $("pause").textContent = game.paused ? "Go on" : "Pause";
}

function paint() {
  const { game, analysis, insight } = page;
  if (!game) return;
  const ply = game.moves.length;
  const current = analysis && (analysis.ply === ply || analysis.ply === ply - 1) ? analysis : null;
  const asked = insight?.ply === ply ? insight : null;
  const context = { analysis: current, insight: asked, which: page.which, size: game.size, explainedBy: game.explained_by };
  const known = game.curve.filter((chance) => chance !== null && chance !== undefined);
  showValue($("value"), game.over ? { 1: 1, "-1": 0, 0: 0.5 }[game.outcome] : current?.chance ?? known.at(-1) ?? null);
  showCurve($("curve"), Array.from(game.curve, (chance) => chance ?? null));
  showCandidates($("candidates").tBodies[0], current, (line) => {
    page.line = line;
    paintBoard(context);
  });
  $("effort").textContent = current?.simulations ? `${current.simulations} simulations, ${current.seconds.toFixed(1)} s` : "";
  $("explained").textContent = explain(page.view, context);
  const several = page.view === "subgraphs" && asked?.subgraphs?.length;
  $("subgraphs").hidden = !several;
  if (several) {
    const number = page.which % asked.subgraphs.length;
    const one = asked.subgraphs[number];
    $("which").textContent = `${number + 1} of ${asked.subgraphs.length}: plays ${one.move ?? "nothing"}, differs by ${Math.round(100 * one.distance)}%`;
  }
  paintBoard(context);
}

function paintBoard(context) {
  const { analysis } = context;
  const heat = heatOf(page.view, context);
  const line = page.line && analysis?.ply === page.game.moves.length;
  board.heat(line && heat ? { ...heat, texts: {} } : heat);
  if (line) board.line(page.line, analysis.to_play);
}

// Small things.

const side = (colour) => (colour === 1 ? "dark" : "light");
const title = (name) => name.charAt(0).toUpperCase() + name.slice(1);
const aboutGame = (name) => page.welcome.games.find((about) => about.name === name) ?? page.welcome.games[0];

// The side that a control is set to; of an engine that has not all of them, the nearest that it has.
function chosenSide(control) {
  const asked = Number($(control).value);
  const { sizes } = aboutGame($("game").value);
  return sizes ? sizes.reduce((best, size) => (Math.abs(size - asked) < Math.abs(best - asked) ? size : best)) : asked;
}

function fill(select, pairs, chosen) {
  const key = JSON.stringify(pairs);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...pairs.map(([value, text]) => new Option(text, value)));
  }
  if (chosen !== undefined) select.value = chosen;
}

function chip(text, busy = false) {
  $("chip").textContent = text;
  $("chip").classList.toggle("busy", busy);
}

let hiding = 0;
function toast(text) {
  $("toast").textContent = text;
  $("toast").hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { $("toast").hidden = true; }, 6000);
}

// The address tells the game; a new game is a new entry of the history, so that "back" brings the old one.
function remember(game) {
  const about = aboutGame(game.game);
  const options = {};
  for (const { name, default: usual } of about.options) if (game.options[name] !== usual) options[name] = game.options[name];
  const link = toLink({ ...game, options });
  if (link === location.hash) return;
  if (page.nextEntry) history.pushState(null, "", link);
  else history.replaceState(null, "", link);
  page.nextEntry = false;
}

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  localStorage.setItem("theme", theme);
}

function setView(view) {
  page.view = view;
  for (const pill of $("views").children) pill.setAttribute("aria-checked", pill.dataset.view === view);
  tellAnalysis();
  paint();
}

for (const [name, label, about] of VIEWS) {
  const pill = document.createElement("button");
  Object.assign(pill, { type: "button", textContent: label, title: about });
  pill.dataset.view = name;
  pill.setAttribute("role", "radio");
  pill.setAttribute("aria-checked", name === "none");
  pill.addEventListener("click", () => setView(name));
  $("views").append(pill);
}

const on = (id, kind, act) => $(id).addEventListener(kind, act);
on("undo", "click", () => send({ do: "undo" }));
on("redo", "click", () => send({ do: "redo" }));
on("undo-all", "click", () => send({ do: "undo", all: true }));
on("redo-all", "click", () => send({ do: "redo", all: true }));
on("pass", "click", () => send({ do: "play", move: "pass" }));
on("go", "click", () => send({ do: "go" }));
on("stop", "click", () => send({ do: "stop" }));
on("resign", "click", () => send({ do: "resign" }));
on("pause", "click", () => send({ do: "pause", on: !page.game.paused }));
on("new", "click", () => open({ ...wanted(), shape: page.game?.shape }));
on("whole", "click", () => open(wanted()));
on("game", "change", () => {
  const about = aboutGame($("game").value);
  const { dark, light } = page.game;
  const alike = (text) => (text === "person" || text === "random" || text === "greedy" || text.startsWith("mcts") ? text : about.agent);
  open({ game: about.name, size: about.size, ...seats(), dark: alike(dark), light: alike(light) });
});
on("side", "input", () => {
  const size = chosenSide("side");
  $("side-number").value = size;
  board.lay({ size, points: "1".repeat(size * size), kind: aboutGame($("game").value).stones_on });
});
on("side", "change", () => open(wanted()));
on("side-number", "change", () => {
  $("side-number").value = chosenSide("side-number");
  open(wanted());
});
on("brush", "click", () => {
  board.brush = !board.brush;
  $("brush").setAttribute("aria-pressed", board.brush);
  $("brush-hint").hidden = !board.brush;
  board.home.classList.toggle("brushing", board.brush);
  board.mark(null);
});
on("switch", "click", () => send({ do: "seats", ...seats(), dark: page.game.light, light: page.game.dark }));
on("unit", "change", () => {
  $("strength").value = $("unit").value === "seconds" ? 2 : 100;
  send({ do: "seats", ...seats() });
});
on("strength", "change", () => send({ do: "seats", ...seats() }));
for (const colour of ["dark", "light"]) {
  on(colour, "change", () => {
    const other = $(colour).value === "other";
    $(`${colour}-other`).hidden = !other;
    if (other) $(`${colour}-other`).querySelector("input").focus();
    else send({ do: "seats", ...seats() });
  });
  $(`${colour}-other`).querySelector("input").addEventListener("change", () => send({ do: "seats", ...seats() }));
}
on("analyse", "change", () => {
  if ($("analyse").checked && page.view === "none") setView("visits");
  else tellAnalysis();
});
on("previous", "click", () => turn(-1));
on("next", "click", () => turn(1));
function turn(by) {
  const count = page.insight?.subgraphs?.length ?? 1;
  page.which = (page.which + by + count) % count;
  paint();
}
on("save", "click", () => send({ do: "save" }));
on("load", "change", async () => {
  const [file] = $("load").files;
  if (file && file.size > 120000) toast("That file is too large for a game.");
  else if (file) {
    page.nextEntry = true;
    send({ do: "load", sgf: await file.text() });
  }
  $("load").value = "";
});
on("share", "click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    toast("The link to this game is copied.");
  } catch {
    toast("Copy the address of this page: it holds the whole game.");
  }
});
on("theme", "click", () => {
  const order = ["auto", "dark", "light"];
  const now = document.documentElement.dataset.theme ?? "auto";
  setTheme(order[(order.indexOf(now) + 1) % order.length]);
});
window.addEventListener("popstate", () => page.ready && openLink());
window.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = { u: "undo", r: "redo", p: "pass", g: "go", n: "new", " ": "stop", a: "analyse", b: "brush" };
  if (event.key.startsWith("Arrow") && document.activeElement === document.body) {
    board.svg.focus();
    board.type(event);
    return;
  }
  const button = keys[event.key] && $(keys[event.key]);
  if (!button || button.hidden || button.disabled || (event.key === " " && event.target.closest("button"))) return;
  event.preventDefault();
  button.click();
});
setTheme(localStorage.getItem("theme") ?? "auto");
