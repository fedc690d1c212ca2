"""A strided copy, for the rare operand or result that no product kernel reads or writes where it lies."""

from __future__ import annotations

import functools

from .gemm_element import memory_type
from .kernel import Kernel
from .templates import Array
from .text import Module, V


def copy(context, source: Array, target: Array) -> None:
    """Append a launch that copies `source` to `target`, of equal shape and dtype and any strides."""
    size = source.dtype.itemsize
    shape = (1, *source.shape) if len(source.shape) < 2 else source.shape
    from_strides, to_strides = ((0,) * (len(shape) - len(a.strides)) + tuple(a.strides) for a in (source, target))
    rows = functools.reduce(lambda a, b: a * b, shape[:-1], 1)
    params = [x * size for pair in zip(from_strides, to_strides) for x in pair]
    kernel = copy_kernel(memory_type(source.dtype), 2 if source.dtype.is_complex else 1, len(shape))
    context.launch(kernel, [source, target], [*shape, *params], range=rows, grain=1 + 2**14 // shape[-1])


@functools.cache
def copy_kernel(type: str, parts: int, rank: int) -> Kernel:
    """buffers source, target; parameters: `rank` sizes, then for each dimension both strides in bytes."""
    module = Module()
    f = module.kernel("copy")
    sizes = [f.param(i) for i in range(rank)]
    strides = [[f.param(rank + 2 * i + j) for j in range(2)] for i in range(rank)]
    with f.loop(f.begin, f.end) as row:
        pointers, rest = [f.buffer(0), f.buffer(1)], row
        for d in reversed(range(rank - 1)):
            place, rest = f.binary("srem", rest, sizes[d]), f.binary("sdiv", rest, sizes[d])
            pointers = [f.offset(p, f.mul(place, s)) for p, s in zip(pointers, strides[d])]
        with f.loop(0, sizes[-1]) as i:
            source, target = (f.offset(p, f.mul(i, s)) for p, s in zip(pointers, strides[-1]))
            for part in range(parts):
                f.store(f.load(f.at(source, type, V(str(part), "i64")), type), f.at(target, type, part))
    return Kernel("copy", str(module))
