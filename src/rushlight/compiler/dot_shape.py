"""A matrix product as arrays with strides, and the ways to restate it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..ir.sizes import Sym
from .templates import Array


@dataclass(slots=True)
class Product:
    """C[*batch, m, n] = finish(A[*batch, m, k] B[*batch, k, n] + bias).

    Strides are (*batch, first, second), in elements. `bias` has C's shape, with strides of 0 where it is expanded.
    If `total` is set, the last batch dimension counts pieces of a sum of `total` steps along k.
    """

    a: Array
    b: Array
    c: Array
    bias: Array | None
    relu: bool
    total: Any = None

    @property
    def m(self):
        return self.c.shape[-2]

    @property
    def n(self):
        return self.c.shape[-1]

    @property
    def k(self):
        """The length of a sum, of one piece if it is split."""
        return self.a.shape[-1]

    @property
    def batch(self) -> tuple:
        return self.c.shape[:-2]

    @property
    def arrays(self) -> list[Array]:
        return [self.a, self.b, self.c] + ([self.bias] if self.bias else [])

    def transposed(self) -> Product:
        """The same product as C^T = B^T A^T."""
        a, b, c, *bias = map(transpose, self.arrays)
        return Product(b, a, c, bias[0] if bias else None, self.relu, self.total)

    def map(self, change) -> Product:
        a, b, c, *bias = (change(array) for array in self.arrays)
        return Product(a, b, c, bias[0] if bias else None, self.relu, self.total)

    def merged(self) -> Product:
        """Without batch dimensions of size 1; dimensions that are one in memory are joined, with m if possible."""
        keep = [d for d, size in enumerate(self.batch) if not is_number(size, 1)]
        p = self.map(lambda array: pick_batch(array, keep))
        for d in reversed(range(len(keep) - 1)):
            if all(joins(array, d) for array in p.arrays):
                p = p.map(lambda array: join(array, d))  # noqa: B023 - called at once
        return p.folded()

    def folded(self) -> Product:
        """One taller product instead of a batch that shares B, if the rows of the matrices follow each other."""
        shared = len(self.batch) == 1 and is_number(self.b.strides[0], 0)
        if shared and all(joins(array, 0) for array in self.arrays if array is not self.b):
            return self.map(lambda array: pick_batch(array, []) if array is self.b else join(array, 0))
        return self


def is_number(size, number: int) -> bool:
    """Whether a size is this very number, without recording a guard: symbols are never 0 or 1."""
    return type(size) is int and size == number


def same(x, y) -> bool:
    """Whether two sizes are equal whatever their symbols stand for."""
    if type(x) is Sym and type(y) is Sym:
        return x.key() == y.key()
    return type(x) is type(y) and x == y


def contiguous(array: Array, dim: int) -> bool:
    """Whether elements follow each other along `dim`."""
    return is_number(array.shape[dim], 1) or array.strides[dim] == 1


def transpose(array: Array) -> Array:
    """The last two dimensions exchanged."""
    shape, strides = ((*x[:-2], x[-1], x[-2]) for x in (array.shape, array.strides))
    return replace(array, shape=shape, strides=strides)


def expand(array: Array, shape: tuple) -> Array:
    """`array` broadcast to `shape`, aligned at the right."""
    missing = len(shape) - len(array.shape)
    strides = [0] * missing
    for own, wanted, stride in zip(array.shape, shape[missing:], array.strides):
        strides.append(0 if is_number(own, 1) and not is_number(wanted, 1) else stride)
    return replace(array, shape=tuple(shape), strides=tuple(strides))


def pick_batch(array: Array, batch: list[int]) -> Array:
    """Only these batch dimensions."""
    shape, strides = ((*(x[d] for d in batch), *x[-2:]) for x in (array.shape, array.strides))
    return replace(array, shape=shape, strides=strides)


def joins(array: Array, d: int) -> bool:
    """Whether dimensions d and d + 1 are one in memory."""
    return same(array.strides[d], array.shape[d + 1] * array.strides[d + 1])


def join(array: Array, d: int) -> Array:
    """Dimensions d and d + 1 as one."""
    shape = (*array.shape[:d], array.shape[d] * array.shape[d + 1], *array.shape[d + 2 :])
    return replace(array, shape=shape, strides=(*array.strides[:d], *array.strides[d + 1 :]))
