// The board as SVG: lines, squares or hexagons, stones, and what the analysis paints on it.

import { columnName, pointName, readPoint } from "./notation.js";

const NS = "http://www.w3.org/2000/svg";
const CELL = 40;
const MARGIN = 30; // room for the coordinates
const RIM = 14; // on the other two sides
const RADIUS = CELL / Math.sqrt(3);
const SPOTS = 45; // beyond this side, points are found by their place alone
const SMALL_TARGET = 26; // pixels: smaller cells are aimed at first, then confirmed, by touch

export function make(tag, attributes = {}, ...children) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export class Board {
  // choose(row, column): somebody plays there; paint(points): somebody has drawn a board.
  constructor(home, { choose, paint }) {
    this.home = home;
    this.choose = choose;
    this.paint = paint;
    this.brush = false;
    this.cursor = null;
    this.aim = null;
    this.svg = make("svg", { tabindex: 0, role: "application", "aria-label": "Board" });
    home.append(this.svg);
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    this.svg.addEventListener("pointerup", (event) => this.release(event));
    this.svg.addEventListener("pointerleave", () => this.hover(null));
    this.svg.addEventListener("keydown", (event) => this.type(event));
    this.svg.addEventListener("blur", () => this.mark(null));
  }

  // layout: {size, points: "1101...", kind: lines | squares | hexagons}; drawn anew only if it changes.
  lay(layout) {
    const key = JSON.stringify(layout);
    if (key === this.key) return;
    this.key = key;
    Object.assign(this, layout);
    const hexagons = this.kind === "hexagons";
    this.rowHeight = hexagons ? 1.5 * RADIUS : CELL;
    this.slant = hexagons ? 0.5 : 0;
    const [lastX, lastY] = this.centre(this.size - 1, this.size - 1);
    const width = lastX + CELL / 2 + RIM;
    const height = lastY + (hexagons ? RADIUS : CELL / 2) + RIM;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.home.style.setProperty("--ratio", `${width / height}`);
    this.home.dataset.kind = this.kind;
    const layers = ["ground", "heat", "stones", "above", "cursor", "spots"];
    this.layers = Object.fromEntries(layers.map((name) => [name, make("g", { class: name })]));
    this.svg.replaceChildren(gradients(), ...Object.values(this.layers));
    this.layers.ground.append(
      make("rect", { width, height, rx: 14, class: this.points.includes("0") ? "frame holed" : "frame" }),
      ...this.ground(),
      ...this.coordinates(),
    );
    if (this.size <= SPOTS) this.layers.spots.append(...this.spots());
    this.cursor = this.aim = null;
  }

  has(row, column) {
    return row >= 0 && column >= 0 && row < this.size && column < this.size
      && this.points[row * this.size + column] === "1";
  }

  centre(row, column) {
    const down = this.kind === "hexagons" ? RADIUS : CELL / 2;
    return [MARGIN + CELL / 2 + CELL * (column + this.slant * row), MARGIN + down + this.rowHeight * row];
  }

  each(draw) {
    const drawn = [];
    for (let row = 0; row < this.size; row++) {
      for (let column = 0; column < this.size; column++) {
        const found = draw(row, column, ...this.centre(row, column));
        if (found) drawn.push(found);
      }
    }
    return drawn;
  }

  ground() {
    if (this.kind === "squares") return this.each((r, c, x, y) => this.has(r, c) && this.cell(x, y, "square"));
    if (this.kind === "hexagons") return [...this.sides(), ...this.each((r, c, x, y) => this.has(r, c) && this.cell(x, y, "hexagon"))];
    const lines = [];
    const join = (x1, y1, x2, y2) => lines.push(`M${x1} ${y1}L${x2} ${y2}`);
    this.each((r, c, x, y) => {
      if (!this.has(r, c)) return;
      if (this.has(r, c + 1)) join(x, y, x + CELL, y);
      if (this.has(r + 1, c)) join(x, y, x, y + CELL);
      if (![[0, 1], [1, 0], [0, -1], [-1, 0]].some(([dr, dc]) => this.has(r + dr, c + dc))) join(x - 6, y, x + 6, y);
    });
    const wood = this.points.includes("0") ? this.each((r, c, x, y) => this.has(r, c) && this.cell(x, y, "wood")) : [];
    return [...wood, make("path", { d: lines.join(""), class: "lines" }), ...this.stars()];
  }

  // Dots that help the eye, as on Go boards.
  stars() {
    const n = this.size;
    if (n < 9 || this.points.includes("0")) return [];
    const edge = n < 13 ? 2 : 3;
    const rows = [...new Set([edge, n - 1 - edge, ...(n % 2 ? [(n - 1) / 2] : [])])];
    const chosen = rows.flatMap((row) => rows.map((column) => [row, column]));
    const spare = n < 13 ? chosen.filter(([r, c]) => (r * 2 === n - 1) === (c * 2 === n - 1)) : chosen;
    return spare.map(([row, column]) => {
      const [cx, cy] = this.centre(row, column);
      return make("circle", { cx, cy, r: 3.6, class: "star" });
    });
  }

  // The coloured sides of a board of hexagons: dark's at the top and bottom, light's left and right.
  sides() {
    const rows = [], columns = [];
    this.each((r, c) => { if (this.has(r, c)) { rows.push(r); columns.push(c); } });
    const [top, bottom] = [Math.min(...rows), Math.max(...rows)];
    const [left, right] = [Math.min(...columns), Math.max(...columns)];
    const band = (points, colour) => make("path", { d: `M${points.map((p) => p.join(" ")).join("L")}`, class: `side ${colour}` });
    const edge = (cells, corners) => cells.flatMap(([r, c]) => {
      const [x, y] = this.centre(r, c);
      return corners.map(([dx, dy]) => [x + dx * CELL / 2, y + dy * RADIUS]);
    });
    const line = (count, first, cell) => Array.from({ length: count }, (_, i) => cell(first + i));
    return [
      band(edge(line(right - left + 1, left, (c) => [top, c]), [[-1, -0.5], [0, -1], [1, -0.5]]), "dark"),
      band(edge(line(right - left + 1, left, (c) => [bottom, c]), [[-1, 0.5], [0, 1], [1, 0.5]]), "dark"),
      band(edge(line(bottom - top + 1, top, (r) => [r, left]), [[-1, -0.5], [-1, 0.5], [0, 1]]), "light"),
      band(edge(line(bottom - top + 1, top, (r) => [r, right]), [[0, -1], [1, -0.5], [1, 0.5]]), "light"),
    ];
  }

  cell(x, y, name, extra = {}) {
    if (this.kind !== "hexagons") {
      return make("rect", { x: x - CELL / 2, y: y - CELL / 2, width: CELL, height: CELL, class: name, ...extra });
    }
    const corners = [[0, -1], [1, -0.5], [1, 0.5], [0, 1], [-1, 0.5], [-1, -0.5]];
    const points = corners.map(([dx, dy]) => `${x + dx * CELL / 2},${y + dy * RADIUS}`).join(" ");
    return make("polygon", { points, class: name, ...extra });
  }

  coordinates() {
    const every = this.size > 40 ? 5 : this.size > 26 ? 2 : 1;
    const labels = [];
    for (let i = 0; i < this.size; i += every) {
      const [x, top] = this.centre(0, i);
      const [left, y] = this.centre(i, 0);
      const down = this.kind === "hexagons" ? RADIUS : CELL / 2;
      labels.push(make("text", { x, y: top - down - 9, class: "coordinate" }, columnName(i)));
      labels.push(make("text", { x: left - CELL / 2 - 13, y: y + 5, class: "coordinate" }, `${i + 1}`));
    }
    return labels;
  }

  // Invisible, for pointers, readers and tests.
  spots() {
    return this.each((r, c, cx, cy) => this.has(r, c)
      && make("circle", { cx, cy, r: CELL * 0.46, "data-move": pointName(r, c), class: "spot" }));
  }

  // board: [n * n] of 1, -1, 0; last: name of the last move; legal: "0110..." to hint at, or "".
  stones(board, last, legal) {
    this.board = board;
    const at = last ? readPoint(last) : null;
    const radius = CELL * (this.kind === "hexagons" ? 0.36 : 0.45);
    this.layers.stones.replaceChildren(...this.each((r, c, cx, cy) => {
      const place = r * this.size + c;
      const stone = board[place];
      if (!stone) {
        return legal[place] === "1" && make("circle", { cx, cy, r: CELL * 0.1, class: "legal" });
      }
      const colour = stone === 1 ? "dark" : "light";
      const drawn = make("g", { class: `stone ${colour}`, "data-stone": `${pointName(r, c)} ${colour}` },
        make("circle", { cx: cx + 1.2, cy: cy + 2, r: radius, class: "shadow" }),
        make("circle", { cx, cy, r: radius, class: "body" }));
      if (at && at[0] === r && at[1] === c) drawn.append(make("circle", { cx, cy, r: CELL * 0.15, class: "last" }));
      return drawn;
    }));
  }

  // heat: {values: [n * n] from 0 to 1 (ownership: -1 to 1), name, texts: {place: text}, mask: "1101..."}
  heat(heat) {
    const drawn = [];
    if (heat?.mask) {
      drawn.push(...this.each((r, c, x, y) => this.has(r, c) && heat.mask[r * this.size + c] === "0"
        && this.cell(x, y, "outside")));
    }
    if (heat?.values) {
      drawn.push(...this.each((r, c, x, y) => {
        const value = heat.values[r * this.size + c];
        if (!this.has(r, c) || Math.abs(value) < 0.02) return null;
        if (heat.name === "ownership") {
          const half = CELL * 0.26 * Math.sqrt(Math.abs(value));
          return make("rect", { x: x - half, y: y - half, width: 2 * half, height: 2 * half, rx: 2, class: value > 0 ? "owned dark" : "owned light" });
        }
        return this.cell(x, y, `warm ${heat.name}`, { "fill-opacity": (0.12 + 0.78 * value).toFixed(3) });
      }));
    }
    const below = heat?.name !== "ownership";
    this.layers.heat.replaceChildren(...(below ? drawn : []));
    const above = below ? [] : drawn;
    for (const [place, text] of Object.entries(heat?.texts ?? {})) {
      const [x, y] = this.centre(Math.floor(place / this.size), place % this.size);
      above.push(make("text", { x, y: y + 4.5, class: "figure" }, text));
    }
    this.layers.above.replaceChildren(...above);
  }

  // line: names of moves; colour: who plays the first of them.
  line(line, colour) {
    const seen = new Set();
    line.forEach((name, i) => {
      const point = readPoint(name);
      if (!point || seen.has(name) || this.board?.[point[0] * this.size + point[1]]) return;
      seen.add(name);
      const [cx, cy] = this.centre(...point);
      const mover = (i % 2 ? -colour : colour) === 1 ? "dark" : "light";
      this.layers.above.append(make("g", { class: `ghost ${mover}` },
        make("circle", { cx, cy, r: CELL * 0.38 }), make("text", { x: cx, y: cy + 5.5 }, `${i + 1}`)));
    });
  }

  // Where the pointer or the keyboard is.
  mark(point, colour = this.turn) {
    this.cursor = point;
    if (!this.layers) return;
    if (!point || !this.has(...point)) {
      this.layers.cursor.replaceChildren();
      return;
    }
    const [cx, cy] = this.centre(...point);
    this.layers.cursor.replaceChildren(
      this.cell(cx, cy, "cursor"),
      ...(colour && !this.board?.[point[0] * this.size + point[1]]
        ? [make("circle", { cx, cy, r: CELL * 0.4, class: `preview ${colour === 1 ? "dark" : "light"}` })] : []));
  }

  // The point nearest to a place on the screen.
  find(event) {
    const matrix = this.svg.getScreenCTM();
    if (!matrix || !this.layers) return null;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const [x0, y0] = this.centre(0, 0);
    let best = null, nearest = (CELL * 0.75) ** 2;
    const near = Math.round((y - y0) / this.rowHeight);
    for (const row of [near - 1, near, near + 1]) {
      const column = Math.round((x - x0) / CELL - this.slant * row);
      if (row < 0 || column < 0 || row >= this.size || column >= this.size) continue;
      const [cx, cy] = this.centre(row, column);
      const distance = (cx - x) ** 2 + (cy - y) ** 2;
      if (distance < nearest) [best, nearest] = [[row, column], distance];
    }
    return best;
  }

  press(event) {
    const point = this.find(event);
    if (this.brush && point) {
      event.preventDefault();
      this.svg.setPointerCapture(event.pointerId);
      this.painting = { points: [...this.points], to: this.has(...point) ? "0" : "1" };
      this.stroke(point);
    }
  }

  move(event) {
    if (this.painting) {
      const point = this.find(event);
      if (point) this.stroke(point);
    } else if (event.pointerType === "mouse") {
      this.hover(this.find(event));
    }
  }

  hover(point) {
    if (!this.aim) this.mark(this.brush ? null : point);
  }

  stroke([row, column]) {
    this.painting.points[row * this.size + column] = this.painting.to;
    const { to } = this.painting;
    const [x, y] = this.centre(row, column);
    this.layers.cursor.append(this.cell(x, y, to === "0" ? "removed" : "restored"));
  }

  release(event) {
    if (this.painting) {
      const { points } = this.painting;
      this.painting = null;
      this.layers.cursor.replaceChildren();
      this.paint(points.join(""));
      return;
    }
    const point = this.find(event);
    if (this.brush || !point) return;
    const width = this.svg.getScreenCTM().a * CELL;
    if (event.pointerType === "touch" && width < SMALL_TARGET && `${this.aim}` !== `${point}`) {
      this.aim = point;
      this.mark(point);
      return;
    }
    this.aim = null;
    this.mark(null);
    this.choose(...point);
  }

  type(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const middle = [Math.floor(this.size / 2), Math.floor(this.size / 2)];
    const [row, column] = this.cursor ?? middle;
    if (event.key in steps) {
      const [down, right] = this.cursor ? steps[event.key] : [0, 0];
      const clamp = (x) => Math.min(Math.max(x, 0), this.size - 1);
      this.mark([clamp(row + down), clamp(column + right)]);
    } else if (event.key === "Enter" && this.cursor) {
      this.choose(row, column);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

function gradients() {
  const stop = (offset, name) => make("stop", { offset, class: name });
  return make("defs", {},
    make("radialGradient", { id: "dark-stone", cx: 0.36, cy: 0.3, r: 0.8 }, stop(0, "dark-in"), stop(1, "dark-out")),
    make("radialGradient", { id: "light-stone", cx: 0.36, cy: 0.3, r: 0.85 }, stop(0.15, "light-in"), stop(1, "light-out")));
}
