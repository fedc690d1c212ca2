"""Adding the parts of a sum that several tasks have computed, in a fixed order."""

from __future__ import annotations

import functools
from contextlib import contextmanager

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_lanes import Lanes, below, vector_lanes
from .conv_window import i64
from .kernel import Kernel
from .templates import Array
from .text import Module, V

BLOCK = 1024  # elements of a task


def split_count(weights, pixels, block: int) -> int:
    """In how many parts `pixels` are summed, `block` at a time: enough tasks for many threads, no more sums than fit
    the cache, and few of them without a block."""
    if weights >= 2**17 or pixels <= block:
        return 1
    return 4 if weights >= 2**14 or pixels <= 4 * block else 16


@contextmanager
def sum_parts(context, count: int, total: Array):
    """Yields parts [count, *S] to write, and launches total [*S] = their sum; one part is the total itself."""
    if count == 1:
        yield total
        return
    parts = context.temp((count, *total.shape), total.dtype)
    yield parts
    size = product(total.shape)
    context.launch(add_kernel(total.dtype), [parts, total], [count, size], (size + BLOCK - 1) // BLOCK, 8)


@functools.cache
def add_kernel(dtype: DType) -> Kernel:
    """Buffers parts, total; parameters: how many parts, elements of each."""
    module = Module()
    f = module.kernel("conv_add_parts")
    parts, size = f.param(0), f.param(1)
    lanes = Lanes(f, dtype, vector_lanes(dtype))
    end = f.minimum(f.mul(f.end, i64(BLOCK)), size)
    with f.loop(f.mul(f.begin, i64(BLOCK)), end, lanes.count) as i:

        def add(mask: V | None, i: V = i) -> None:
            total = f.variable(lanes.type, lanes.constant(0))
            with f.loop(0, parts) as part:
                value = lanes.load(f.buffer(0), f.add(f.mul(part, size), i), mask)
                f.store(f.add(f.load(total, lanes.type), value), total)
            lanes.store(f.load(total, lanes.type), f.buffer(1), i, mask)

        left = f.sub(size, i)
        with f.branch(f.compare("sge", left, i64(lanes.count))) as otherwise:
            add(None)
            otherwise()
            add(below(f, left, lanes.count))
    return Kernel(f.name, str(module))
