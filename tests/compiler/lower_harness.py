"""Lowers a function of Values and compares what its kernels compute with the reference interpreter."""

import numpy as np

from rushlight.compiler.lower import lower
from rushlight.compiler.run import Bound
from rushlight.ir.dtypes import dtype_named
from rushlight.ir.graph import Graph
from rushlight.ir.interpret import interpret
from rushlight.ir.sizes import Scope, Sym, contiguous_strides

TOLERANCE = {
    "float16": 2e-3,
    "bfloat16": 2e-2,
    "float32": 3e-6,
    "float64": 1e-13,
    "complex64": 3e-6,
    "complex128": 1e-13,
}


class Case:
    """A function traced for given arrays and numbers, and lowered once."""

    def __init__(self, function, arrays, numbers=(), *, dtypes=None, symbolic=False, strides=None, aliases=None):
        self.dtypes = dtypes or [str(a.dtype) for a in arrays]
        self.scope = Scope() if symbolic else None
        self.graph = Graph(self.scope)
        self.symbols, self.names = {}, []
        values = [self.tensor(a, d) for a, d in zip(arrays, self.dtypes)]
        values += [self.graph.scalar(dtype_named(_number_dtype(n))) for n in numbers]
        with self.graph:
            outputs = function(*values)
        outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
        self.graph.returns(outputs, strides, aliases)
        self.arrays, self.numbers = arrays, list(numbers)
        self.lowered = lower(self.graph)

    @property
    def kernels(self):
        return [launch.kernel.name for launch in self.lowered.launches]

    @property
    def guards(self):
        return list(self.scope.guards)

    def tensor(self, array, dtype):
        strides = tuple(s // array.itemsize for s in array.strides)
        if self.scope is None:
            return self.graph.tensor(array.shape, dtype_named(dtype), strides)
        shape = tuple(self.size(n) for n in array.shape)
        plain = strides == contiguous_strides(array.shape)
        strides = contiguous_strides(shape) if plain else tuple(self.stride(s) for s in strides)
        # by name: an equality that is learnt later turns a symbol into what it equals
        own = shape if plain else (*shape, *strides)
        self.names.append([s.source() if type(s) is Sym else None for s in own])
        return self.graph.tensor(shape, dtype_named(dtype), strides)

    def size(self, number):
        if number not in self.symbols:
            self.symbols[number] = self.scope.symbol(number)
        return self.symbols[number]

    def stride(self, number):
        if number in (0, 1):
            return number
        return self.scope.input_symbol(f"t{len(self.scope.hints)}", number)

    def bound(self, arrays) -> dict[str, int]:
        """What the symbols stand for, given arrays of other sizes; their guards must hold."""
        symbols: dict[str, int] = {}
        for names, array in zip(self.names, arrays):
            strides = [s // array.itemsize for s in array.strides]
            for name, number in zip(names, (*array.shape, *strides)):
                if name is not None:
                    assert symbols.setdefault(name, number) == number
        # in order: a guard may need the ones before it
        broken = next((guard for guard in self.scope.guards if not eval(guard, {}, symbols)), None)
        assert broken is None, f"other sizes do not fulfil {broken}"
        return symbols

    def check_other(self, *arrays, numbers=None, tolerance=None) -> None:
        """Run the same kernels, without lowering again, on arrays of other sizes."""
        self.check(arrays, numbers, symbols=self.bound(arrays), tolerance=tolerance)

    def run(self, arrays=None, numbers=None, *, pieces=1, symbols=None):
        arrays = self.arrays if arrays is None else arrays
        memory = [stored(a, d) for a, d in zip(arrays, self.dtypes)]
        bound = Bound(self.lowered, self.graph, memory, self.numbers if numbers is None else numbers, symbols)
        bound.run(pieces)
        return [loaded(o, v.dtype.name) for o, v in zip(bound.outputs, self.graph.outputs)]

    def check(self, arrays=None, numbers=None, *, pieces=(1, 3), symbols=None, tolerance=None, floor=1e-30):
        """Run in one piece and in several; both must agree exactly, and with the interpreter to a tolerance."""
        arrays = self.arrays if arrays is None else arrays
        numbers = self.numbers if numbers is None else numbers
        wanted = interpret(self.graph, [*arrays, *numbers])
        first = None
        for count in pieces:
            got = self.run(arrays, numbers, pieces=count, symbols=symbols)
            for value, have, want in zip(self.graph.outputs, got, wanted):
                compare(have, want, value.dtype.name, tolerance, floor)
            first = first or got
            for a, b in zip(first, got):
                np.testing.assert_array_equal(a, b, "depends on how the range is split")
        return first


def check(function, *arrays, numbers=(), tolerance=None, **options) -> Case:
    case = Case(function, arrays, numbers, **options)
    case.check(tolerance=tolerance)
    return case


def compare(have, want, dtype, tolerance=None, floor=1e-30):
    tolerance = TOLERANCE.get(dtype, 0) if tolerance is None else tolerance
    assert have.shape == want.shape
    if want.dtype.kind in "fc":
        scale = np.abs(want[np.isfinite(want)]).max(initial=0.0)
        np.testing.assert_allclose(have, want, rtol=tolerance, atol=tolerance * min(float(scale), 1.0) + floor)
    else:
        np.testing.assert_array_equal(have, want)


def laid_out(values, like) -> np.ndarray:
    """Values in new memory with the element strides of another array."""
    strides = [s // like.itemsize for s in like.strides]
    low = sum((n - 1) * s for n, s in zip(like.shape, strides) if s < 0)
    high = sum((n - 1) * s for n, s in zip(like.shape, strides) if s > 0)
    memory = np.zeros(high - low + 1, values.dtype)
    bytes = tuple(s * values.itemsize for s in strides)
    result = np.ndarray(like.shape, values.dtype, memory, -low * values.itemsize, bytes)
    result[...] = values
    return result


def _number_dtype(number):
    return {bool: "bool", int: "int64", float: "float64", complex: "complex128"}[type(number)]


def stored(array, dtype) -> np.ndarray:
    """A copy as it lies in memory, with the same strides: bfloat16 as bits."""
    values = array
    if dtype == "bfloat16":
        bits = np.ascontiguousarray(array).view(np.uint32)
        values = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return laid_out(values, array) if array.size else values


def loaded(array, dtype):
    if dtype != "bfloat16":
        return array
    return (array.astype(np.uint32) << 16).view(np.float32)


def random(shape, dtype="float32", seed=0):
    """Numbers of either sign; bfloat16 as rounded float32."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in ("float16", "float32", "float64"):
        return rng.standard_normal(shape).astype(dtype)
    if dtype == "bfloat16":
        return loaded(stored(rng.standard_normal(shape).astype("float32"), dtype), dtype)
    if dtype.startswith("complex"):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.integers(0 if dtype == "uint8" else -40, 41, shape).astype(dtype)
