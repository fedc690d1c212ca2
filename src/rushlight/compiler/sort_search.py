"""Binary search in sorted rows: `searchsorted(sorted, values, *sorter; right)` -> int64 positions.

`sorted` has one dimension, or those of `values` but for the last one; `sorter`, of its shape, gives the order in
which its elements are sorted. A position is the number of elements before the value (with `right`: not after it).
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType
from .elementwise import from_memory, memory_type
from .index_layout import ONE, ZERO, Nest, Parameters, is_number, plus, segments, times
from .kernel import Kernel
from .templates import Array, Context, template
from .text import Function, Module, V

GRAIN = 1 << 10  # searches


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

    with segments(f, f.begin, f.end, inner.size) as (line, first, last):
        at = outer.offsets(line, [ZERO] * len(structure[0]))
        with f.loop(first, last) as i:
            to, of, *starts = (plus(f, o, times(f, i, s)) for o, s in zip(at, inner.steps[0]))

            def probe(middle: V, starts=starts) -> V:
                if has_sorter:
                    middle = f.load(f.at(sorter[0], "i64", plus(f, starts[1], times(f, middle, steps[1]))), "i64")
                return element(row, plus(f, starts[0], times(f, middle, steps[0])))

            found = emit_search(f, dtype, right, length, element(values, of), probe)
            f.store(found, f.at(result, "i64", to))
    return Kernel(f.name, str(module))


def emit_search(f: Function, dtype: DType, right: bool, length: V, value: V, probe) -> V:
    """Halve [low, high) without branches; with NaN, PyTorch's probes decide and hence are ours as well."""
    low, high = f.variable("i64", ZERO), f.variable("i64", length)
    head, body, done = (f.name_of(p) for p in ("head", "body", "done"))
    f.label(head)
    a, b = f.load(low, "i64"), f.load(high, "i64")
    f.line(f"br {f.compare('slt', a, b)}, label %{body}, label %{done}")
    f.lines.append(f"{body}:")
    middle = f.add(a, f.binary("lshr", f.sub(b, a), ONE))
    order = "le" if right else "lt"
    before = f.compare(("s" if dtype.kind == "i" else "u") + order, probe(middle), value)
    f.store(f.select(before, f.add(middle, ONE), a), low)
    f.store(f.select(before, b, middle), high)
    f.line(f"br label %{head}")
    f.lines.append(f"{done}:")
    return f.load(low, "i64")
