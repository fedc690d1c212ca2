"""Passes that join and part the two halves of a real transform of even length n, done as a complex one of h = n / 2.

With z[j] = x[2j] + i x[2j+1], Z its transform and X that of x, both directions are one formula:
t = Z[k] + conj Z[h-k], u = Z[k] - conj Z[h-k], X[k] = a t + v[k] u, X[h-k] = conj(a t - v[k] u).
To X: a = 1/2, v[k] = -i w^k / 2. Back to Z (unnormalised): a = 1, v[k] = i conj(w^k).
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType
from .fft_butterfly import Complex, add, multiply, sub
from .fft_pass import Pass
from .index_layout import ONE, ZERO, i64
from .kernel import Kernel
from .text import Module, V


class _Halves(Pass):
    def __init__(self, module: Module, name: str, dtype: DType, back: bool):
        super().__init__(module, name, dtype)
        self.back = back

    def combined(self, a: Complex, b: Complex, root: Complex) -> tuple[Complex, Complex]:
        """Results k and h - k, of values k and h - k."""
        f = self.f
        mirrored = b[0], f.neg(b[1])
        total, difference = add(f, a, mirrored), sub(f, a, mirrored)
        if not self.back:
            half = f.const(0.5, a[0].type)
            total = tuple(f.mul(half, part) for part in total)
        turned = multiply(f, root, difference)
        first, second = add(f, total, turned), sub(f, total, turned)
        return first, (second[0], f.sub(turned[1], total[1]))


@functools.cache
def halves_of_tile(dtype: DType, back: bool, forms: tuple[str, str]):
    """For the rows of a tile; `count` is h, the table has scalars v[k], k <= h / 2.

    To X, row 0 stands for row h as well; back to Z, a row h is written that has no meaning, and imaginary parts of
    X[0] and X[h] are taken as 0.
    """
    module = Module()
    w = _Halves(module, "halves_of_tile", dtype, back)
    f = w.f
    last = f.add(f.binary("lshr", w.count, ONE), ONE)
    with f.loop(ZERO, last) as k:
        end = f.compare("eq", k, ZERO)
        opposite = f.sub(w.count, k)
        partner = opposite if back else f.select(end, ZERO, opposite)
        values = [w.load(w.row(w.source, w.source_step, j), forms[0], w.source_step) for j in (k, partner)]
        if back:
            nothing = f.const(0, w.vector)
            values = [(value[0], f.select(end, nothing, value[1])) for value in values]
        first, second = w.combined(*values, w.scalars(k))
        if not back:
            # no -0 where there is no imaginary part
            second = second[0], f.select(end, f.const(0, w.vector), second[1])
        # k first: where both are row h / 2, or the row that has no meaning, the order does not matter
        for j, value in zip((k, opposite), (first, second)):
            w.store(value, w.row(w.target, w.target_step, j), forms[1], w.target_step)
    return Kernel(f.name, str(module))


@functools.cache
def halves_of_line(dtype: DType, back: bool):
    """For one contiguous line; `count` is h, the table has vectors v[k], k <= h / 2.

    Source and target are h + 1 adjacent complex numbers. To X, number h of the source is written first; back to Z,
    number h of the target gets no meaning.
    """
    module = Module()
    w = _Halves(module, "halves_of_line", dtype, back)
    f, lanes = w.f, w.lanes
    if not back:
        for part in range(2):
            f.store(f.load(number(w, w.source, ZERO, part), w.type), number(w, w.source, w.count, part))
    middle = f.binary("lshr", w.count, ONE)
    vectors = f.binary("and", middle, i64(-lanes))
    with f.loop(ZERO, vectors, lanes) as k:
        opposite = f.sub(f.sub(w.count, k), i64(lanes - 1))
        ahead = w.load(number(w, w.source, k), "memory", ZERO)
        behind = reversed_lanes(w, w.load(number(w, w.source, opposite), "memory", ZERO))
        root = w.vectors(f.binary("udiv", k, i64(lanes)))
        first, second = w.combined(ahead, behind, root)
        w.store(first, number(w, w.target, k), "memory", ZERO)
        w.store(reversed_lanes(w, second), number(w, w.target, opposite), "memory", ZERO)
    with f.loop(vectors, f.add(middle, ONE)) as k:
        pair = k, f.sub(w.count, k)
        values = [tuple(f.load(number(w, w.source, j, part), w.type) for part in range(2)) for j in pair]
        for j, value in zip(pair, w.combined(*values, root_of_lane(w, k))):
            store_number(w, j, *value)
    if back:
        # whatever imaginary parts X[0] and X[h] have, they do not count
        first, last = (f.load(number(w, w.source, k), w.type) for k in (ZERO, w.count))
        store_number(w, ZERO, f.add(first, last), f.sub(first, last))
    else:
        # no -0 where there is no imaginary part
        f.store(f.const(0, w.type), number(w, w.target, w.count, 1))
    return Kernel(f.name, str(module))


def number(w: Pass, base: V, index: V, part: int = 0) -> V:
    """The address of a part of complex number `index`."""
    return w.f.at(w.f.at(base, w.type, w.f.mul(index, i64(2))), w.type, part)


def store_number(w: Pass, index: V, real: V, imaginary: V) -> None:
    for part, value in enumerate((real, imaginary)):
        w.f.store(value, number(w, w.target, index, part))


def root_of_lane(w: Pass, index: V) -> Complex:
    """One root of a table of vectors."""
    f, lanes = w.f, i64(w.lanes)
    block = f.binary("udiv", index, lanes)
    address = f.at(w.table, w.type, f.add(f.mul(block, lanes), index))  # 2 lanes a block, and the lane
    return f.load(address, w.type), f.load(f.at(address, w.type, w.lanes), w.type)


def reversed_lanes(w: Pass, value: Complex) -> Complex:
    order = list(reversed(range(w.lanes)))
    return tuple(w.f.shuffle(part, part, order) for part in value)
