"""Functions of jax as programs in JSON, which a page runs without jax (`static/program.js`).

A function is traced, its nested calls are inlined, and its primitives become a few kinds of steps on flat
arrays of numbers: elementwise arithmetic, copies along strides, products, reductions, gathers, scatters and
loops.  Rules and network are thereby the same code in Python and in the page.  What depends on constants
alone, such as normalised weights, is computed once when the page loads the program.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

DTYPES = {
    "bool": "b", "int8": "i8", "int16": "i16", "int32": "i32", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "float32": "f",
}  # fmt: skip
CALLS = {
    "jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr", "remat2": "jaxpr", "checkpoint": "jaxpr",
}  # fmt: skip
"""{primitive that only calls a function: the parameter that holds it}"""
ALIASES = {"reshape", "squeeze", "expand_dims", "copy", "stop_gradient", "optimization_barrier"}
"""Primitives that leave the numbers as they lie in memory."""
ELEMENTWISE = {
    "abs", "add", "and", "ceil", "clamp", "convert_element_type", "div", "eq", "exp", "floor", "ge", "gt",
    "integer_pow", "le", "log", "log1p", "logistic", "lt", "max", "min", "mul", "ne", "neg", "not", "or",
    "pow", "rem", "rsqrt", "select_n", "sign", "sqrt", "square", "sub", "tanh", "xor",
}  # fmt: skip
REDUCTIONS = {
    "reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "argmax", "argmin",
}  # fmt: skip
SCATTERS = {
    "scatter": "set", "scatter-add": "add", "scatter_add": "add", "scatter-mul": "mul", "scatter_mul": "mul",
    "scatter_min": "min", "scatter-min": "min", "scatter_max": "max", "scatter-max": "max",
}  # fmt: skip
INLINE = 64
"""Larger constants go into the file of weights."""
Shape = tuple[int, ...]


class Step(NamedTuple):
    """One operation on slots."""

    name: str
    outputs: tuple[int, ...]
    inputs: tuple[int, ...]
    settings: Any = None


class Program(NamedTuple):
    """A function as steps on numbered slots, each of which holds a flat array."""

    slots: list[tuple[str, int]]
    """(dtype, length)"""
    inputs: list[int]
    outputs: list[int]
    constants: list[tuple[int, np.ndarray]]
    """(slot, its numbers)"""
    once: list[Step]
    """What depends on constants alone."""
    steps: list[Step]


class Value(NamedTuple):
    """An array of the traced function: where its numbers are, row by row."""

    slot: int
    shape: Shape
    dtype: str


class _Equation(NamedTuple):
    """A primitive without calls; its inputs and outputs are `_Name`s and literals."""

    primitive: str
    inputs: list[Any]
    outputs: list[Any]
    settings: dict[str, Any]


class _Name:
    """One array, however often the function that computes it is inlined."""

    def __init__(self, aval: Any):
        self.aval = aval


def trace(function: Callable[..., Any], *examples: Any) -> Program:
    """The program of a function of arrays, or trees of arrays, whose leaves are its inputs and outputs."""
    return _lower(jax.make_jaxpr(function)(*examples))


def _lower(closed: ClosedJaxpr) -> Program:
    names: dict[Any, Any] = {var: _Name(var.aval) for var in closed.jaxpr.invars}
    held = {_Name(var.aval): const for var, const in zip(closed.jaxpr.constvars, closed.consts, strict=True)}
    names |= dict(zip(closed.jaxpr.constvars, held, strict=True))
    equations = list(_flat(closed.jaxpr, names, held))
    results = [x if isinstance(x, Literal) else names[x] for x in closed.jaxpr.outvars]
    needed, kept = {x for x in results if isinstance(x, _Name)}, []
    for equation in reversed(equations):
        if needed & set(equation.outputs):
            needed |= {x for x in equation.inputs if isinstance(x, _Name)}
            kept.append(equation)
    lowering = _Lowering()
    for var in closed.jaxpr.invars:
        lowering.receive(names[var])
    for name, const in held.items():
        if name in needed:
            lowering.values[name] = lowering.constant(const)
    for equation in reversed(kept):
        lowering.add(equation)
    lowering.program.outputs.extend(lowering.read(x).slot for x in results)
    return lowering.program


def _flat(jaxpr: Jaxpr, names: dict[Any, Any], held: dict[Any, Any]) -> Iterator[_Equation]:
    """The equations of a function with its calls inlined; notes new names, and constants in `held`."""
    for eqn in jaxpr.eqns:
        inputs = [x if isinstance(x, Literal) else names[x] for x in eqn.invars]
        if eqn.primitive.name in CALLS:
            called = eqn.params[CALLS[eqn.primitive.name]]
            inner, consts = (called.jaxpr, called.consts) if isinstance(called, ClosedJaxpr) else (called, ())
            inside: dict[Any, Any] = dict(zip(inner.invars, inputs, strict=True))
            for var, const in zip(inner.constvars, consts, strict=True):
                inside[var] = _Name(var.aval)
                held[inside[var]] = const
            yield from _flat(inner, inside, held)
            results = [x if isinstance(x, Literal) else inside[x] for x in inner.outvars]
            names |= dict(zip(eqn.outvars, results, strict=True))
            continue
        outputs = [_Name(var.aval) for var in eqn.outvars]
        names |= dict(zip(eqn.outvars, outputs, strict=True))
        yield _Equation(eqn.primitive.name, inputs, outputs, eqn.params)


class _Lowering:
    """A program in the making."""

    def __init__(self):
        self.program = Program([], [], [], [], [], [])
        self.values: dict[Any, Value] = {}
        self._fixed: set[int] = set()
        self._literals: dict[Any, Value] = {}

    # Values.

    def slot(self, shape: Sequence[int], dtype: Any) -> Value:
        """Room for one more array."""
        name = np.dtype(dtype).name if not isinstance(dtype, str) or dtype not in DTYPES.values() else dtype
        code = DTYPES.get(name, name)
        if code not in DTYPES.values():
            raise ValueError(f"the page has no numbers of type {name}; use 32 bits or fewer")
        self.program.slots.append((code, math.prod(shape)))
        return Value(len(self.program.slots) - 1, tuple(map(int, shape)), code)

    def receive(self, name: _Name) -> None:
        """One more input."""
        self.values[name] = self.slot(name.aval.shape, name.aval.dtype)
        self.program.inputs.append(self.values[name].slot)

    def constant(self, x: Any) -> Value:
        """An array that is known."""
        array = np.asarray(x)
        value = self.slot(array.shape, array.dtype)
        self.program.constants.append((value.slot, array))
        self._fixed.add(value.slot)
        return value

    def read(self, x: Any) -> Value:
        """The value of a name or of a literal."""
        if not isinstance(x, Literal):
            return self.values[x]
        aval: Any = x.aval
        number = np.asarray(x.val, aval.dtype)
        key = (number.dtype.str, number.tobytes())
        if key not in self._literals:
            self._literals[key] = self.constant(number)
        return self._literals[key]

    def step(
        self, name: str, outputs: Sequence[Value], inputs: Sequence[Value], settings: Any = None
    ) -> None:
        """One more step; those that depend on constants alone are done once."""
        made = Step(name, tuple(v.slot for v in outputs), tuple(v.slot for v in inputs), settings)
        if all(v.slot in self._fixed for v in inputs):
            self._fixed |= set(made.outputs)
            self.program.once.append(made)
        else:
            self.program.steps.append(made)

    def view(self, x: Value, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> Value:
        """The numbers of `x` at these strides; nothing is copied where they lie like that already."""
        shape = tuple(map(int, shape))
        if offset == 0 and _same_order(shape, strides) and math.prod(shape) == math.prod(x.shape):
            return Value(x.slot, shape, x.dtype)
        out = self.slot(shape, x.dtype)
        self.step("view", [out], [x], _walk(shape, strides, offset))
        return out

    def permuted(self, x: Value, order: Sequence[int]) -> Value:
        """`x` with its axes in another order."""
        strides = row_major(x.shape)
        return self.view(x, [x.shape[i] for i in order], [strides[i] for i in order])

    def product(self, left: Value, right: Value) -> Value:
        """[B, M, K] by [B, K, N]."""
        (batch, rows, inner), columns = left.shape, right.shape[2]
        out = self.slot((batch, rows, columns), left.dtype)
        self.step("product", [out], [left, right], [batch, rows, inner, columns])
        return out

    # Equations.

    def add(self, equation: _Equation) -> None:
        """One equation as steps; `ValueError` for a primitive that the page does not know."""
        name, settings = equation.primitive, equation.settings
        inputs = [self.read(x) for x in equation.inputs]
        if name in ALIASES:
            for x, output in zip(inputs, equation.outputs, strict=False):
                self.values[output] = Value(x.slot, tuple(output.aval.shape), x.dtype)
            return
        if name in ("scan", "while", "cond"):
            outputs = [self.slot(x.aval.shape, x.aval.dtype) for x in equation.outputs]
            self.values |= dict(zip(equation.outputs, outputs, strict=True))
            self.step(name, outputs, inputs, _control(name, settings))
            return
        (output,) = equation.outputs
        self.values[output] = self.one(name, inputs, output.aval, settings)

    def one(self, name: str, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        """The value of a primitive with one output."""
        if name in ELEMENTWISE:
            out = self.slot(aval.shape, aval.dtype)
            self.step(name, [out], [self.stretched(x, aval.shape) for x in inputs], settings.get("y"))
            return out
        if name in REDUCTIONS:
            return self.reduction(name, inputs[0], aval, settings["axes"])
        if name in SCATTERS:
            return self.scatter(SCATTERS[name], inputs, settings)
        rules: dict[str, Callable[..., Value]] = {
            "broadcast_in_dim": self.broadcast, "transpose": self.transpose, "rev": self.reverse,
            "slice": self.slice, "pad": self.pad, "concatenate": self.concatenate, "stack": self.stack,
            "iota": self.iota, "dot_general": self.dot, "conv_general_dilated": self.convolution,
            "dynamic_slice": self.dynamic_slice, "dynamic_update_slice": self.dynamic_update,
            "gather": self.gather,
        }  # fmt: skip
        if name not in rules:
            raise ValueError(f"the page cannot compute {name}; write the game or the network without it")
        return rules[name](inputs, aval, settings)

    def stretched(self, x: Value, shape: Shape) -> Value:
        """`x` with its axes of length 1 repeated to `shape`; a single number stays one."""
        if math.prod(x.shape) == 1:
            return x
        repeated = zip(x.shape, row_major(x.shape), strict=True)
        return self.view(x, shape, [stride if length > 1 else 0 for length, stride in repeated])

    def broadcast(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        x, strides = inputs[0], [0] * len(aval.shape)
        for axis, stride, length in zip(
            settings["broadcast_dimensions"], row_major(x.shape), x.shape, strict=True
        ):
            strides[axis] = stride if length > 1 else 0
        return self.view(x, aval.shape, strides)

    def transpose(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        return self.permuted(inputs[0], settings["permutation"])

    def reverse(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        x, strides, offset = inputs[0], list(row_major(inputs[0].shape)), 0
        for axis in settings["dimensions"]:
            offset += (x.shape[axis] - 1) * strides[axis]
            strides[axis] = -strides[axis]
        return self.view(x, x.shape, strides, offset)

    def slice(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        strides = row_major(inputs[0].shape)
        offset = sum(start * stride for start, stride in zip(settings["start_indices"], strides, strict=True))
        steps = settings["strides"] or [1] * len(strides)
        return self.view(inputs[0], aval.shape, [a * b for a, b in zip(strides, steps, strict=True)], offset)

    def placed(self, parts: list[Value], aval: Any, walks: list[Any], fill: Value | None = None) -> Value:
        """An array of `fill` with `parts` copied to where they belong."""
        out = self.slot(aval.shape, aval.dtype)
        self.step("place", [out], [*([fill] if fill else []), *parts], {"walks": walks, "filled": bool(fill)})
        return out

    def pad(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        x, fill = inputs
        low, high, inside = zip(*settings["padding_config"], strict=True)
        if min((*low, *high, 0)) < 0:
            raise ValueError(f"the page cannot pad by {low} and {high}; cut with a slice instead")
        strides = row_major(aval.shape)
        offset = sum(n * stride for n, stride in zip(low, strides, strict=True))
        spread = [stride * (1 + gap) for stride, gap in zip(strides, inside, strict=True)]
        return self.placed([x], aval, [_walk(x.shape, spread, offset)], fill)

    def concatenate(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        strides, axis, start, walks = row_major(aval.shape), settings["dimension"], 0, []
        for x in inputs:
            walks.append(_walk(x.shape, strides, start * strides[axis]))
            start += x.shape[axis]
        return self.placed(inputs, aval, walks)

    def stack(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        strides, axis = row_major(aval.shape), settings["axis"]
        others = [*strides[:axis], *strides[axis + 1 :]]
        walks = [_walk(x.shape, others, i * strides[axis]) for i, x in enumerate(inputs)]
        return self.placed(inputs, aval, walks)

    def iota(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        counted = np.arange(aval.shape[settings["dimension"]]).astype(aval.dtype)
        axes = [i for i in range(len(aval.shape)) if i != settings["dimension"]]
        return self.constant(np.broadcast_to(np.expand_dims(counted, axes), aval.shape))

    def reduction(self, name: str, x: Value, aval: Any, axes: Sequence[int]) -> Value:
        rest = [axis for axis in range(len(x.shape)) if axis not in axes]
        last = self.permuted(x, [*rest, *axes])
        out = self.slot(aval.shape, aval.dtype)
        self.step(name, [out], [last], math.prod(x.shape[axis] for axis in axes))
        return out

    def dot(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        (left_sum, right_sum), (left_batch, right_batch) = settings["dimension_numbers"]
        left, right = inputs

        def free(x: Value, used: Sequence[int]) -> list[int]:
            return [axis for axis in range(len(x.shape)) if axis not in used]

        def sizes(x: Value, axes: Sequence[int]) -> int:
            return math.prod(x.shape[axis] for axis in axes)

        left_free, right_free = free(left, (*left_sum, *left_batch)), free(right, (*right_sum, *right_batch))
        batch, inner = sizes(left, left_batch), sizes(left, left_sum)
        rows, columns = sizes(left, left_free), sizes(right, right_free)
        lefts = self.permuted(left, [*left_batch, *left_free, *left_sum])
        rights = self.permuted(right, [*right_batch, *right_sum, *right_free])
        out = self.product(
            lefts._replace(shape=(batch, rows, inner)), rights._replace(shape=(batch, inner, columns))
        )
        return out._replace(shape=tuple(aval.shape))

    def convolution(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        """As one product: every window as a row, every kernel as a column."""
        spread = {*settings["lhs_dilation"], settings["feature_group_count"], settings["batch_group_count"]}
        if spread != {1}:
            raise ValueError(
                "the page cannot compute convolutions with groups or dilated inputs; use plain ones"
            )
        numbers = settings["dimension_numbers"]
        (images, channels, *places), (outs, ins, *taps) = numbers.lhs_spec, numbers.rhs_spec
        x = self.permuted(inputs[0], [images, *places, channels])
        kernel = self.permuted(inputs[1], [*taps, ins, outs])
        batch, *sides, width = x.shape
        low, high = zip(*settings["padding"], strict=True)
        padded = [a + b + c for a, b, c in zip(low, sides, high, strict=True)]
        room = jax.ShapeDtypeStruct((batch, *padded, width), jnp.float32)
        if any((*low, *high)):
            config = [(0, 0, 0), *((a, b, 0) for a, b in zip(low, high, strict=True)), (0, 0, 0)]
            x = self.pad([x, self.constant(np.float32(0))], room, {"padding_config": config})
        window = kernel.shape[: len(sides)]
        ends = [aval.shape[axis] for axis in numbers.out_spec[2:]]
        strides = row_major(x.shape)
        steps = [a * b for a, b in zip(strides[1:-1], settings["window_strides"], strict=True)]
        inside = [a * b for a, b in zip(strides[1:-1], settings["rhs_dilation"], strict=True)]
        rows = self.view(
            x, [batch, *ends, *window, width], [strides[0], *steps, *inside, strides[-1]]
        )._replace(shape=(1, batch * math.prod(ends), math.prod(window) * width))
        out = self.product(rows, kernel._replace(shape=(1, rows.shape[2], kernel.shape[-1])))
        spec = numbers.out_spec
        laid = [spec[0], *spec[2:], spec[1]]  # which axis of the result each axis here becomes
        return self.permuted(
            out._replace(shape=(batch, *ends, kernel.shape[-1])),
            [laid.index(axis) for axis in range(len(laid))],
        )

    def dynamic_slice(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        x, out = inputs[0], self.slot(aval.shape, aval.dtype)
        self.step("dynamic_slice", [out], inputs, _moving(x.shape, aval.shape))
        return out

    def dynamic_update(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        x, out = inputs[0], self.slot(aval.shape, aval.dtype)
        self.step("dynamic_update", [out], inputs, _moving(x.shape, inputs[1].shape))
        return out

    def gather(self, inputs: list[Value], aval: Any, settings: dict[str, Any]) -> Value:
        x, indices = inputs
        numbers, sizes = settings["dimension_numbers"], settings["slice_sizes"]
        fixed = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
        windows = [axis for axis in range(len(x.shape)) if axis not in fixed]
        reading = _windows(
            x.shape, indices.shape, windows, [sizes[axis] for axis in windows], aval.shape,
            numbers.offset_dims, numbers.start_index_map, numbers.operand_batching_dims,
            numbers.start_indices_batching_dims, sizes,
        )  # fmt: skip
        out = self.slot(aval.shape, aval.dtype)
        fill = settings["fill_value"]
        drops = _drops(settings["mode"])
        if drops and fill is None:
            info = {"b": True, "f": None}
            fill = info[out.dtype] if out.dtype in info else int(np.iinfo(aval.dtype).min)
        self.step("gather", [out], inputs, {**reading, "drops": drops, "fill": fill})
        return out

    def scatter(self, how: str, inputs: list[Value], settings: dict[str, Any]) -> Value:
        x, indices, updates = inputs
        numbers = settings["dimension_numbers"]
        fixed = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        windows = [axis for axis in range(len(x.shape)) if axis not in fixed]
        lengths = [updates.shape[axis] for axis in numbers.update_window_dims]
        sizes = [1] * len(x.shape)
        for axis, length in zip(windows, lengths, strict=True):
            sizes[axis] = length
        reading = _windows(
            x.shape, indices.shape, windows, lengths, updates.shape, numbers.update_window_dims,
            numbers.scatter_dims_to_operand_dims, numbers.operand_batching_dims,
            numbers.scatter_indices_batching_dims, sizes,
        )  # fmt: skip
        out = self.slot(x.shape, x.dtype)
        self.step("scatter", [out], inputs, {**reading, "drops": _drops(settings["mode"]), "how": how})
        return out


def _control(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    if name == "scan":
        return {
            "body": _lower(settings["jaxpr"]),
            "consts": settings["num_consts"], "carry": settings["num_carry"],
            "length": settings["length"], "reverse": settings["reverse"],
        }  # fmt: skip
    if name == "while":
        return {
            "cond": _lower(settings["cond_jaxpr"]), "body": _lower(settings["body_jaxpr"]),
            "cond_consts": settings["cond_nconsts"], "body_consts": settings["body_nconsts"],
        }  # fmt: skip
    return {"branches": [_lower(branch) for branch in settings["branches"]]}


def row_major(shape: Sequence[int]) -> Shape:
    """The strides of an array that lies row by row."""
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(reversed(strides))


def _same_order(shape: Sequence[int], strides: Sequence[int]) -> bool:
    rows = zip(shape, strides, row_major(shape), strict=True)
    return all(length == 1 or stride == usual for length, stride, usual in rows)


def _walk(shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> list[Any]:
    """Places in a flat array: [lengths, strides, offset], axes of length 1 left out."""
    axes = [(int(n), int(s)) for n, s in zip(shape, strides, strict=True) if n != 1]
    return [[n for n, _ in axes], [s for _, s in axes], int(offset)]


def _moving(shape: Shape, window: Sequence[int]) -> dict[str, Any]:
    """A window that starts where numbers say, pushed back onto the array."""
    strides = row_major(shape)
    most = [int(n - m) for n, m in zip(shape, window, strict=True)]
    return {"walk": _walk(window, strides), "strides": list(strides), "most": most}


def _drops(mode: Any) -> bool:
    """Whether a window off the array is dropped, instead of pushed back."""
    return "FILL_OR_DROP" in str(mode)


def _windows(
    shape: Shape,
    indices: Shape,
    windows: Sequence[int],
    lengths: Sequence[int],
    other: Sequence[int],
    other_windows: Sequence[int],
    starts: Sequence[int],
    batching: Sequence[int],
    batching_indices: Sequence[int],
    sizes: Sequence[int],
) -> dict[str, Any]:
    """How windows of an array and of `other`, its gathered or scattered form, lie in memory.

    windows: the array's axes along which a window has `lengths`; other_windows: the same axes of `other`;
    starts: which axes the numbers of an index vector belong to; batching: axes that follow an axis of the
    indices.
    """
    strides, other_strides = row_major(shape), row_major(other)
    batch_axes = [axis for axis in range(len(other)) if axis not in other_windows]
    batch = [other[axis] for axis in batch_axes]
    follow = [0] * len(batch)
    for axis, index_axis in zip(batching, batching_indices, strict=True):
        follow[index_axis] = strides[axis]
    return {
        "vector": indices[-1],
        "batch": _walk(batch, follow),
        "other_batch": _walk(batch, [other_strides[axis] for axis in batch_axes]),
        "window": _walk(lengths, [strides[axis] for axis in windows]),
        "other_window": _walk(lengths, [other_strides[axis] for axis in other_windows]),
        "strides": [strides[axis] for axis in starts],
        "most": [int(shape[axis] - sizes[axis]) for axis in starts],
    }


class Weights:
    """The file of larger constants, shared by programs: numbers that are there already are not added."""

    def __init__(self):
        self.data = bytearray()
        self._places: dict[tuple[str, bytes], int] = {}

    def add(self, array: np.ndarray) -> int:
        """The byte at which an array begins."""
        stored = array.astype(np.uint8) if array.dtype == bool else np.ascontiguousarray(array)
        key = (stored.dtype.str, stored.tobytes())
        if key not in self._places:
            self.data += b"\0" * (-len(self.data) % 4)
            self._places[key] = len(self.data)
            self.data += key[1]
        return self._places[key]


def to_json(program: Program, weights: Weights) -> dict[str, Any]:
    """The program as JSON; its larger constants go to `weights`."""

    def constant(slot: int, array: np.ndarray) -> Any:
        if array.size <= INLINE and np.isfinite(array).all():
            return [slot, array.reshape(-1).tolist()]
        return [slot, weights.add(array)]

    def inner(settings: Any) -> Any:
        if isinstance(settings, Program):
            return to_json(settings, weights)
        if isinstance(settings, dict):
            return {name: inner(x) for name, x in settings.items()}
        if isinstance(settings, list):
            return [inner(x) for x in settings]
        return settings.item() if isinstance(settings, np.generic) else settings

    def steps(listed: list[Step]) -> list[Any]:
        return [[s.name, s.outputs, s.inputs, inner(s.settings)] for s in listed]

    return {
        "slots": program.slots,
        "inputs": program.inputs,
        "outputs": program.outputs,
        "constants": [constant(*held) for held in program.constants],
        "once": steps(program.once),
        "steps": steps(program.steps),
    }
