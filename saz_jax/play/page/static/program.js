// Runs what `saz_jax.play.page.programs` has written: functions as steps on flat arrays of numbers.
//
// Every array is a Float64Array, whatever its type, so that each loop sees one kind of array; whole numbers are
// brought back to the width of their type.

const WRAP = {
  i8: (x) => (x << 24) >> 24,
  i16: (x) => (x << 16) >> 16,
  i32: (x) => x | 0,
  u8: (x) => x & 255,
  u16: (x) => x & 65535,
  u32: (x) => x >>> 0,
};
const STORED = { b: Uint8Array, i8: Int8Array, i16: Int16Array, i32: Int32Array, u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f: Float32Array };

// Elementwise steps: one loop each, for arrays and for single numbers (step 0) beside them.
const UNARY = {
  abs: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.abs(a[i]); },
  ceil: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.ceil(a[i]); },
  exp: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.exp(a[i]); },
  floor: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.floor(a[i]); },
  log: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.log(a[i]); },
  log1p: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.log1p(a[i]); },
  logistic: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = 1 / (1 + Math.exp(-a[i])); },
  neg: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = -a[i]; },
  rsqrt: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = 1 / Math.sqrt(a[i]); },
  sign: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.sign(a[i]); },
  sqrt: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.sqrt(a[i]); },
  square: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = a[i] * a[i]; },
  tanh: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.tanh(a[i]); },
};
const BINARY = {
  add: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] + b[q * i]; },
  sub: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] - b[q * i]; },
  mul: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] * b[q * i]; },
  div: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] / b[q * i]; },
  rem: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] % b[q * i]; },
  pow: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] ** b[q * i]; },
  max: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) { const x = a[p * i], y = b[q * i]; o[i] = x > y ? x : y; } },
  min: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) { const x = a[p * i], y = b[q * i]; o[i] = x < y ? x : y; } },
  and: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] & b[q * i]; },
  or: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] | b[q * i]; },
  xor: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] ^ b[q * i]; },
  eq: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] === b[q * i] ? 1 : 0; },
  ne: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] !== b[q * i] ? 1 : 0; },
  lt: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] < b[q * i] ? 1 : 0; },
  le: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] <= b[q * i] ? 1 : 0; },
  gt: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] > b[q * i] ? 1 : 0; },
  ge: (a, b, p, q, o) => { for (let i = 0; i < o.length; i++) o[i] = a[p * i] >= b[q * i] ? 1 : 0; },
};
const COMPARE = new Set(["eq", "ne", "lt", "le", "gt", "ge"]);

// All places of a walk [lengths, strides, offset], row by row.
function places([lengths, strides, offset]) {
  const count = lengths.reduce((product, n) => product * n, 1);
  const found = new Int32Array(count);
  let block = count;
  found.fill(offset);
  lengths.forEach((length, axis) => {
    block /= length;
    for (let i = 0; i < count; i++) found[i] += (Math.floor(i / block) % length) * strides[axis];
  });
  return found;
}

function wrapAll(out, type) {
  const wrap = WRAP[type];
  if (wrap) for (let i = 0; i < out.length; i++) out[i] = wrap(out[i]);
}

// One step as a function of the slots.
function prepare([name, outs, ins, settings], slots, weights) {
  const [out] = outs;
  const type = slots[out]?.[0];
  const [a, b, c] = ins;
  const apart = (slot) => (slots[slot][1] === 1 ? 0 : 1);
  if (name in UNARY) {
    const loop = UNARY[name];
    return (env) => { loop(env[a], env[out]); wrapAll(env[out], type); };
  }
  if (name in BINARY) {
    const loop = BINARY[name], p = apart(a), q = apart(b);
    if (name === "mul" && (type === "i32" || type === "u32")) {
      return (env) => {
        const x = env[a], y = env[b], o = env[out];
        for (let i = 0; i < o.length; i++) o[i] = Math.imul(x[p * i], y[q * i]);
        wrapAll(o, type);
      };
    }
    if (name === "div" && type in WRAP) {
      return (env) => {
        loop(env[a], env[b], p, q, env[out]);
        for (let i = 0; i < env[out].length; i++) env[out][i] = Math.trunc(env[out][i]);
      };
    }
    if (type === "f" || COMPARE.has(name)) return (env) => loop(env[a], env[b], p, q, env[out]);
    return (env) => { loop(env[a], env[b], p, q, env[out]); wrapAll(env[out], type); };
  }
  const steps = {
    convert_element_type: () => {
      const from = slots[a][0];
      if (type === "b") return (env) => { const x = env[a], o = env[out]; for (let i = 0; i < o.length; i++) o[i] = x[i] ? 1 : 0; };
      if (type === "f" || from === "b") return (env) => env[out].set(env[a]);
      return (env) => {
        const x = env[a], o = env[out];
        for (let i = 0; i < o.length; i++) o[i] = Math.trunc(x[i]);
        wrapAll(o, type);
      };
    },
    not: () => (env) => {
      const x = env[a], o = env[out];
      for (let i = 0; i < o.length; i++) o[i] = type === "b" ? 1 - x[i] : ~x[i];
      wrapAll(o, type);
    },
    integer_pow: () => (env) => {
      const x = env[a], o = env[out];
      for (let i = 0; i < o.length; i++) o[i] = x[i] ** settings;
      wrapAll(o, type);
    },
    clamp: () => {
      const p = apart(a), q = apart(c);
      return (env) => {
        const low = env[a], x = env[b], high = env[c], o = env[out];
        for (let i = 0; i < o.length; i++) o[i] = Math.min(Math.max(x[i], low[p * i]), high[q * i]);
      };
    },
    select_n: () => {
      const [which, ...cases] = ins;
      const p = apart(which), ps = cases.map(apart);
      if (cases.length === 2) {
        const [q, r] = ps;
        return (env) => {
          const w = env[which], x = env[b], y = env[c], o = env[out];
          for (let i = 0; i < o.length; i++) o[i] = w[p * i] ? y[r * i] : x[q * i];
        };
      }
      return (env) => {
        const w = env[which], o = env[out];
        for (let i = 0; i < o.length; i++) o[i] = env[cases[w[p * i]]][ps[w[p * i]] * i];
      };
    },
    view: () => {
      const from = places(settings);
      return (env) => { const x = env[a], o = env[out]; for (let i = 0; i < o.length; i++) o[i] = x[from[i]]; };
    },
    place: () => {
      const parts = settings.filled ? ins.slice(1) : ins;
      const to = settings.walks.map(places);
      return (env) => {
        const o = env[out];
        if (settings.filled) o.fill(env[a][0]);
        parts.forEach((part, k) => {
          const x = env[part], at = to[k];
          for (let i = 0; i < at.length; i++) o[at[i]] = x[i];
        });
      };
    },
    product: () => {
      const [batch, rows, inner, columns] = settings;
      return (env) => {
        const x = env[a], y = env[b], o = env[out].fill(0);
        for (let n = 0; n < batch; n++) {
          for (let row = 0; row < rows; row++) multiply(x, (n * rows + row) * inner, inner, y, n * inner * columns, columns, o, (n * rows + row) * columns);
        }
      };
    },
    dynamic_slice: () => {
      const window = places(settings.walk), starts = ins.slice(1);
      return (env) => {
        const x = env[a], o = env[out], at = start(env, starts, settings);
        for (let i = 0; i < o.length; i++) o[i] = x[at + window[i]];
      };
    },
    dynamic_update: () => {
      const window = places(settings.walk), starts = ins.slice(2);
      return (env) => {
        const x = env[b], o = env[out], at = start(env, starts, settings);
        o.set(env[a]);
        for (let i = 0; i < window.length; i++) o[at + window[i]] = x[i];
      };
    },
    gather: () => {
      const { batch, otherBatch, window, otherWindow, at } = windows(settings);
      const fill = settings.fill ?? NaN;
      return (env) => {
        const x = env[a], o = env[out];
        for (let n = 0; n < batch.length; n++) {
          const from = at(env[b], n);
          for (let k = 0; k < window.length; k++) {
            o[otherBatch[n] + otherWindow[k]] = from < 0 ? Number(fill) : x[batch[n] + from + window[k]];
          }
        }
      };
    },
    scatter: () => {
      const { batch, otherBatch, window, otherWindow, at } = windows(settings);
      const join = { set: (x, y) => y, add: (x, y) => x + y, mul: (x, y) => x * y, min: Math.min, max: Math.max }[settings.how];
      return (env) => {
        const updates = env[c], o = env[out];
        o.set(env[a]);
        for (let n = 0; n < batch.length; n++) {
          const to = at(env[b], n);
          if (to < 0) continue;
          for (let k = 0; k < window.length; k++) {
            const place = batch[n] + to + window[k];
            o[place] = join(o[place], updates[otherBatch[n] + otherWindow[k]]);
          }
        }
        wrapAll(o, type);
      };
    },
    scan: () => scan(settings, outs, ins, slots, weights),
    while: () => loop(settings, outs, ins, weights),
    cond: () => {
      const branches = settings.branches.map((branch) => load(branch, weights));
      return (env) => {
        const which = Math.min(Math.max(env[a][0], 0), branches.length - 1);
        hand(env, outs, branches[which].run(ins.slice(1).map((slot) => env[slot])));
      };
    },
    reduce_sum: () => reduce((x, from, to) => { let found = 0; for (let i = from; i < to; i++) found += x[i]; return found; }),
    reduce_prod: () => reduce((x, from, to) => { let found = 1; for (let i = from; i < to; i++) found *= x[i]; return found; }),
    reduce_max: () => reduce((x, from, to) => { let found = x[from]; for (let i = from; i < to; i++) if (x[i] > found) found = x[i]; return found; }),
    reduce_min: () => reduce((x, from, to) => { let found = x[from]; for (let i = from; i < to; i++) if (x[i] < found) found = x[i]; return found; }),
    reduce_and: () => reduce((x, from, to) => { let found = -1; for (let i = from; i < to; i++) found &= x[i]; return type === "b" ? found & 1 : found; }),
    reduce_or: () => reduce((x, from, to) => { let found = 0; for (let i = from; i < to; i++) found |= x[i]; return found; }),
    argmax: () => reduce((x, from, to) => { let best = from; for (let i = from; i < to; i++) if (x[i] > x[best]) best = i; return best - from; }),
    argmin: () => reduce((x, from, to) => { let best = from; for (let i = from; i < to; i++) if (x[i] < x[best]) best = i; return best - from; }),
  };
  function reduce(fold) {
    return (env) => {
      const x = env[a], o = env[out];
      for (let i = 0; i < o.length; i++) o[i] = fold(x, i * settings, (i + 1) * settings);
      if (name === "reduce_sum" || name === "reduce_prod") wrapAll(o, type);
    };
  }
  if (!(name in steps)) throw new Error(`this page cannot compute ${name}`);
  return steps[name]();
}

// o[to ...] += the row x[left ...] times the matrix y[right ...], four of its rows at a time.
function multiply(x, left, inner, y, right, columns, o, to) {
  let k = 0;
  for (; k + 4 <= inner; k += 4) {
    const f = x[left + k], g = x[left + k + 1], h = x[left + k + 2], i = x[left + k + 3];
    if (f === 0 && g === 0 && h === 0 && i === 0) continue; // off the board
    const p = right + k * columns, q = p + columns, r = q + columns, s = r + columns;
    for (let j = 0; j < columns; j++) o[to + j] += f * y[p + j] + g * y[q + j] + h * y[r + j] + i * y[s + j];
  }
  for (; k < inner; k++) {
    const factor = x[left + k], p = right + k * columns;
    for (let j = 0; j < columns; j++) o[to + j] += factor * y[p + j];
  }
}

function start(env, starts, { strides, most }) {
  let at = 0;
  starts.forEach((slot, axis) => { at += Math.min(Math.max(env[slot][0], 0), most[axis]) * strides[axis]; });
  return at;
}

// Where windows begin that index vectors name; -1: off the array, and to be dropped.
function windows({ vector, batch, other_batch, window, other_window, strides, most, drops }) {
  return {
    batch: places(batch),
    otherBatch: places(other_batch),
    window: places(window),
    otherWindow: places(other_window),
    at(indices, n) {
      let found = 0;
      for (let axis = 0; axis < vector; axis++) {
        const wanted = indices[n * vector + axis];
        if (drops && (wanted < 0 || wanted > most[axis])) return -1;
        found += Math.min(Math.max(wanted, 0), most[axis]) * strides[axis];
      }
      return found;
    },
  };
}

function hand(env, outs, found) {
  outs.forEach((slot, i) => env[slot].set(found[i]));
}

function scan({ body, consts, carry, length, reverse }, outs, ins, slots, weights) {
  const one = load(body, weights);
  const fixed = ins.slice(0, consts), begin = ins.slice(consts, consts + carry), each = ins.slice(consts + carry);
  return (env) => {
    let state = begin.map((slot) => env[slot]);
    for (let turn = 0; turn < length; turn++) {
      const t = reverse ? length - 1 - turn : turn;
      const parts = each.map((slot) => {
        const size = slots[slot][1] / length;
        return env[slot].subarray(t * size, (t + 1) * size);
      });
      const found = one.run([...fixed.map((slot) => env[slot]), ...state, ...parts]);
      state = found.slice(0, carry);
      found.slice(carry).forEach((x, i) => env[outs[carry + i]].set(x, t * x.length));
    }
    hand(env, outs.slice(0, carry), state);
  };
}

function loop({ cond, body, cond_consts, body_consts }, outs, ins, weights) {
  const test = load(cond, weights), one = load(body, weights);
  return (env) => {
    const values = ins.map((slot) => env[slot]);
    const forTest = values.slice(0, cond_consts), forBody = values.slice(cond_consts, cond_consts + body_consts);
    let state = values.slice(cond_consts + body_consts);
    while (test.run([...forTest, ...state])[0][0]) state = one.run([...forBody, ...state]);
    hand(env, outs, state);
  };
}

// A program that is ready to run: run(inputs) -> outputs, arrays of numbers each.
export function load(program, weights) {
  const { slots, constants } = program;
  const env = slots.map(([, size]) => new Float64Array(size));
  for (const [slot, held] of constants) {
    const [type, size] = slots[slot];
    env[slot].set(typeof held === "number" ? new STORED[type](weights, held, size) : held.map(Number));
  }
  for (const step of program.once) prepare(step, slots, weights)(env);
  const steps = program.steps.map((step) => prepare(step, slots, weights));
  return {
    run(inputs) {
      program.inputs.forEach((slot, i) => { env[slot] = inputs[i]; });
      for (const step of steps) step(env);
      return program.outputs.map((slot) => env[slot].slice());
    },
  };
}
