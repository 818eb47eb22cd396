// The whole game in the part of the address after #, so that a position can be shared and survives a reload.

const SHORT = { game: "g", size: "n", dark: "d", light: "l", simulations: "s", seconds: "t" };

export function toLink(game) {
  const parts = new URLSearchParams();
  for (const [name, short] of Object.entries(SHORT)) {
    if (game[name] !== null && game[name] !== undefined) parts.set(short, game[name]);
  }
  if (game.shape) parts.set("h", game.shape.replaceAll(".", "o").replaceAll("#", "x").replaceAll("/", "-"));
  if (game.options && Object.keys(game.options).length) parts.set("o", JSON.stringify(game.options));
  if (game.moves?.length) parts.set("m", game.moves.join("."));
  if (game.resigned) parts.set("r", game.resigned);
  return "#" + parts.toString();
}

// What to open; null where the address tells of no game.
export function fromLink(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  if (!parts.get("g")) return null;
  const number = (short) => (parts.has(short) ? Number(parts.get(short)) : null);
  let options = {};
  try {
    options = JSON.parse(parts.get("o") ?? "{}");
  } catch {
    options = {};
  }
  return {
    game: parts.get("g"),
    size: number("n") ?? 9,
    shape: parts.has("h") ? readShape(parts.get("h")) : null,
    options,
    dark: parts.get("d") ?? "person",
    light: parts.get("l") ?? "person",
    simulations: number("s"),
    seconds: number("t"),
    moves: parts.get("m") ? parts.get("m").split(".") : [],
    resigned: number("r"),
  };
}

function readShape(text) {
  return /^[ox-]+$/.test(text)
    ? text.replaceAll("o", ".").replaceAll("x", "#").replaceAll("-", "/")
    : text;
}
