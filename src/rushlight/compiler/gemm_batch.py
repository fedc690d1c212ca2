"""Which matrices of a batch a task works on: shared by all product kernels."""

from __future__ import annotations

from collections.abc import Mapping

from .text import Function, V

MATRICES = ("a", "b", "c", "bias")
PARAMETERS_PER_DIM = 1 + len(MATRICES)  # the size, then a stride in bytes for each matrix


def batch_params(shape, strides: Mapping[str, tuple], itemsizes: Mapping[str, int]) -> list:
    """Launch parameters of the batch dimensions: for each its size and the strides of `MATRICES` in bytes."""
    params = []
    for d, size in enumerate(shape):
        params += [size, *(strides[name][d] * itemsizes[name] if name in strides else 0 for name in MATRICES)]
    return params


def batch_addresses(f: Function, first: int, dims: int, index: V, bases: Mapping[str, V]) -> tuple[dict[str, V], V]:
    """The addresses of the matrices of batch number `index`, and its place in the last batch dimension.

    `first` is the number of the first batch parameter.
    """
    addresses, last = dict(bases), V("0", "i64")
    for d in reversed(range(dims)):
        at = first + d * PARAMETERS_PER_DIM
        size, place = f.param(at), index
        if d:  # the outermost dimension takes what is left
            place, index = f.binary("srem", index, size), f.binary("sdiv", index, size)
        if d == dims - 1:
            last = place
        for i, name in enumerate(MATRICES):
            if name in bases:
                addresses[name] = f.offset(addresses[name], f.mul(place, f.param(at + 1 + i)))
    return addresses, last


def piece_of_sum(f: Function, k: V, chunk: V, split: bool, place: V) -> V:
    """The length of a sum along k; when split, of its piece number `place` of `chunk` steps."""
    return f.minimum(chunk, f.sub(k, f.mul(place, chunk))) if split else k
