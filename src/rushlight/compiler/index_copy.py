"""Copying an array into another of the same shape, whatever their strides."""

from __future__ import annotations

import functools

from .index_layout import ZERO, Nest, Parameters, alignment, copy_run, fill_run, plus, segments, storage, times
from .kernel import Kernel
from .target import host
from .templates import Array, Context
from .text import Module

GRAIN = 1 << 15  # elements: below this a second thread costs more than it saves


def copy(context: Context, source: Array, target: Array) -> None:
    """target[...] = source[...]; nothing happens if both are the same memory (an output in an input's place)."""
    nest = Nest(target.shape, target.strides, source.strides, reorder=True)
    kernel = copy_kernel(target.dtype.itemsize, nest.structure)
    context.launch(kernel, [target, source], nest.params, nest.size, GRAIN)


@functools.cache
def copy_kernel(itemsize: int, structure: tuple) -> Kernel:
    module = Module()
    f = module.kernel("copy")
    target, source = f.buffer(0), f.buffer(1)
    type, align = storage(itemsize), alignment(itemsize)
    outer, inner = Parameters(f).loops(structure).split(1)
    with f.when(f.compare("ne", target, source)), segments(f, f.begin, f.end, inner.size) as (row, first, last):
        at = outer.offsets(row, [ZERO, ZERO])
        if structure[-1] == (1, 1):
            to, of = (f.at(pointer, type, f.add(offset, first)) for pointer, offset in zip((target, source), at))
            copy_run(f, to, of, f.sub(last, first), itemsize, host().vector_bytes)
        elif structure[-1] == (1, 0) and itemsize <= 8:
            one = f.load(f.at(source, type, at[1]), type)
            fill_run(f, f.at(target, type, f.add(at[0], first)), one, f.sub(last, first), host().lanes(itemsize))
        else:
            with f.loop(first, last) as i:
                to, of = (plus(f, offset, times(f, i, step)) for offset, step in zip(at, inner.steps[0]))
                f.store(f.load(f.at(source, type, of), type, align), f.at(target, type, to), align)
    return Kernel("copy", str(module))
