"""Binary search in sorted rows: `searchsorted(sorted, values, *sorter; right)` -> int64 positions.

`sorted` has one dimension, or those of `values` but for the last one; `sorter`, of its shape, gives the order in
which its elements are sorted. A position is the number of elements before the value (with `right`: not after it).
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType
from .elementwise import from_memory, memory_type
from .index_layout import ONE, ZERO, Nest, Parameters, i64, is_number, plus, segments, times
from .kernel import Kernel
from .templates import Array, Context, template
from .text import Function, Module, V

GRAIN = 1 << 10  # searches
ABREAST = 32  # searches that run side by side


@template("searchsorted")
def lower_searchsorted(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    row, values, *sorter = operands
    (result,) = results
    if any(is_number(n, 0) for n in values.shape):
        return
    rank, shared = len(values.shape), len(row.shape) == 1
    rows = [[0] * rank if shared else [*a.strides[:-1], 0] for a in (row, *sorter)]
    nest = Nest(values.shape, result.strides, values.strides, *rows)
    params = [row.shape[-1], *(a.strides[-1] for a in (row, *sorter)), *nest.params]
    kernel = search_kernel(values.dtype, node.attrs["right"], bool(sorter), nest.structure)
    context.launch(kernel, [result, values, row, *sorter], params, nest.size, GRAIN)


@functools.cache
def search_kernel(dtype: DType, right: bool, has_sorter: bool, structure: tuple) -> Kernel:
    module = Module()
    f = module.kernel("searchsorted")
    result, values, row, *sorter = (f.buffer(i) for i in range(4 if has_sorter else 3))
    parameters = Parameters(f)
    length, *steps = parameters.numbers(3 if has_sorter else 2)
    outer, inner = parameters.loops(structure).split(1)

    def element(base: V, offset: V) -> V:
        return from_memory(f, f.load(f.at(base, memory_type(dtype), offset), memory_type(dtype)), dtype, 1)

    def probe(starts: list[V], middle: V) -> V:
        if has_sorter:
            middle = f.load(f.at(sorter[0], "i64", plus(f, starts[1], times(f, middle, steps[1]))), "i64")
        return element(row, plus(f, starts[0], times(f, middle, steps[0])))

    with segments(f, f.begin, f.end, inner.size) as (line, first, last):
        at = outer.offsets(line, [ZERO] * len(structure[0]))
        middle = f.add(first, f.binary("and", f.sub(last, first), i64(-ABREAST)))
        for begin, end, count in ((first, middle, ABREAST), (middle, last, 1)):
            with f.loop(begin, end, count) as i:
                places = [
                    [plus(f, o, times(f, f.add(i, i64(k)) if k else i, s)) for o, s in zip(at, inner.steps[0])]
                    for k in range(count)
                ]
                probes = [functools.partial(probe, starts) for _, _, *starts in places]
                found = emit_searches(f, dtype, right, length, [element(values, of) for _, of, *_ in places], probes)
                for (to, *_), position in zip(places, found):
                    f.store(position, f.at(result, "i64", to))
    return Kernel(f.name, str(module))


def emit_searches(f: Function, dtype: DType, right: bool, length: V, values: list[V], probes: list) -> list[V]:
    """Halve [low, high) for several values at once, as lanes of vectors: none waits for a guess of the processor.

    All take as many steps as the longest search needs. With NaN, PyTorch's probes decide and hence are ours as well.
    """
    count = len(values)
    type = "i64" if count == 1 else f"<{count} x i64>"
    value, one, final = packed(f, values), f.splat(ONE, count), f.splat(f.sub(length, ONE), count)
    low, high = f.variable(type, f.splat(ZERO, count)), f.variable(type, f.splat(length, count))
    steps = f.sub(i64(64), f.call("llvm.ctlz.i64", "i64", length, V("false", "i1")))
    order = ("s" if dtype.kind == "i" else "u") + ("le" if right else "lt")
    with f.loop(ZERO, steps):
        a, b = f.load(low, type), f.load(high, type)
        middle = f.add(a, f.binary("lshr", f.sub(b, a), one))
        # a search that has ended probes on, within the row, and ignores what it finds
        within = f.minimum(middle, final)
        found = packed(f, [probe(lane(f, within, k)) for k, probe in enumerate(probes)])
        before = f.binary("and", f.compare(order, found, value), f.compare("slt", a, b))
        f.store(f.select(before, f.add(middle, one), a), low)
        f.store(f.select(before, b, middle), high)
    return [lane(f, f.load(low, type), k) for k in range(count)]


def packed(f: Function, values: list[V]) -> V:
    """Values as the lanes of a vector; a single one stays as it is."""
    if len(values) == 1:
        return values[0]
    vector = V("poison", f"<{len(values)} x {values[0].type}>")
    for k, value in enumerate(values):
        vector = f.value(f"insertelement {vector}, {value}, i32 {k}", vector.type)
    return vector


def lane(f: Function, vector: V, index: int) -> V:
    return f.lane(vector, index) if vector.type.startswith("<") else vector
