"""Eigenvalues of many small symmetric matrices: one matrix in each lane of vectors, by Jacobi's rotations.

LAPACK spends microseconds on a matrix of 8 x 8 however small the work; here vectors do the work of 8 or 16 matrices
at a time, and none waits for a branch of another. Method: Golub and Van Loan, "Matrix Computations", section 8.5 (by
rows); a matrix is scaled by a power of two first, so that squares neither overflow nor vanish.
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType, finfo
from .index_layout import ONE, ZERO, i64, plus, times
from .kernel import Kernel
from .registers import memory_type
from .target import host
from .templates import Array, Context
from .text import Function, Module, V

MOST_SWEEPS = 24  # six or seven are usual
LARGEST = 24  # rows, up to which this beats LAPACK
FEWEST = 4  # matrices


def launch_jacobi(context: Context, a: Array, step, count, lower: bool, values: Array, vectors: Array | None) -> None:
    """Eigenvalues, and eigenvectors if wanted, of `count` dense matrices that lie `step` bytes apart."""
    from ..ir.sizes import hint

    n, lanes = a.shape[-1], lanes_of(a.dtype)
    outputs = [values] if vectors is None else [values, vectors]
    squares = n * n if vectors is None else 2 * n * n
    scratch = (squares + 2 * n) * lanes * a.dtype.itemsize
    grain = (1 << 11) // hint(n) ** 3 + 1
    kernel = jacobi_kernel(a.dtype, lower, vectors is not None)
    context.launch(kernel, [a, *outputs], [count, n, step], (count + (lanes - 1)) // lanes, grain, scratch)


def lanes_of(dtype: DType) -> int:
    return host().lanes(dtype.itemsize)


@functools.cache
def jacobi_kernel(dtype: DType, lower: bool, with_vectors: bool) -> Kernel:
    module = Module()
    f = module.kernel("jacobi")
    count, n, step = (f.param(i) for i in range(3))
    lanes = lanes_of(dtype)
    at_end = 3 if with_vectors else 2
    batch = Lanes(f, dtype, lanes, n, f.buffer(at_end), with_vectors)
    with f.loop(f.begin, f.end) as group:
        first = f.mul(group, i64(lanes))

        def matrix(lane: V) -> V:
            """The number of a lane's matrix; lanes past the end repeat the last one."""
            return f.minimum(f.add(first, lane), f.sub(count, ONE))

        load_triangles(batch, f.buffer(0), step, matrix, lower)
        unit, is_finite = scale(batch)
        if with_vectors:
            identity(batch)
        rotate_until_diagonal(batch)
        sort_values(batch, unit, is_finite)
        store_values(batch, f.buffer(1), matrix)
        if with_vectors:
            store_vectors(batch, f.buffer(2), matrix, is_finite)
    return Kernel(f.name, str(module))


class Lanes:
    """Vectors in scratch memory: A (upper triangles), V^T, the values in order, and the columns they came from."""

    def __init__(self, f: Function, dtype: DType, lanes: int, n: V, scratch: V, with_vectors: bool):
        self.f, self.lanes, self.n, self.dtype = f, lanes, n, dtype
        self.kind = memory_type(dtype)
        self.wide, self.places = f"<{lanes} x {self.kind}>", f"<{lanes} x i32>"
        squares = f.mul(n, n)
        self.a = scratch
        self.v = self.vector(scratch, squares)
        self.values = self.vector(self.v, squares) if with_vectors else self.v
        self.columns = self.vector(self.values, n)
        self.with_vectors = with_vectors

    def vector(self, base: V, index: V) -> V:
        """The address of vector number `index`."""
        return self.f.at(base, self.kind, times(self.f, index, i64(self.lanes)))

    def element(self, base: V, row: V, column: V) -> V:
        return self.vector(base, plus(self.f, times(self.f, row, self.n), column))

    def load(self, pointer: V) -> V:
        return self.f.load(pointer, self.wide, self.lanes * self.dtype.itemsize)

    def store(self, value: V, pointer: V) -> None:
        self.f.store(value, pointer, self.lanes * self.dtype.itemsize)

    def const(self, number: float) -> V:
        return self.f.const(number, self.wide)

    def any(self, mask: V) -> V:
        return self.f.intrinsic("llvm.vector.reduce.or", mask, returns="i1")


def load_triangles(batch: Lanes, source: V, step: V, matrix, lower: bool) -> None:
    """One element after another: each matrix lies in one piece, each lane is in every vector."""
    f, n, kind = batch.f, batch.n, batch.kind
    with f.loop(ZERO, batch.lanes) as lane:
        base = f.offset(source, f.mul(matrix(lane), step))
        with f.loop(ZERO, n) as column, f.loop(ZERO, f.add(column, ONE)) as row:
            place = f.add(column, f.mul(row, n)) if lower else f.add(row, f.mul(column, n))
            number = f.load(f.at(base, kind, place), kind)
            f.store(number, f.at(batch.element(batch.a, row, column), kind, lane))


def upper_elements(batch: Lanes):
    """Loops over the upper triangle: addresses."""
    f = batch.f
    with f.loop(ZERO, batch.n) as row, f.loop(row, batch.n) as column:
        yield batch.element(batch.a, row, column)


def scale(batch: Lanes) -> tuple[V, V]:
    """Divide by a power of two near the largest size; matrices that are not finite become 0. (power, is finite)."""
    f, wide = batch.f, batch.wide
    largest, spoiled = (f.variable(wide) for _ in range(2))
    batch.store(batch.const(0.0), largest), batch.store(batch.const(0.0), spoiled)
    for pointer in upper_elements(batch):
        x = batch.load(pointer)
        size = f.intrinsic("llvm.fabs", x)
        batch.store(f.intrinsic("llvm.maxnum", batch.load(largest), size), largest)
        batch.store(f.add(batch.load(spoiled), f.mul(x, batch.const(0.0))), spoiled)
    is_finite = f.compare("oeq", batch.load(spoiled), batch.const(0.0))
    integer = f"<{batch.lanes} x i{8 * batch.dtype.itemsize}>"
    exponent = f.const(0x7F800000 if batch.dtype.itemsize == 4 else 0x7FF << 52, integer)
    power = f.cast("bitcast", f.binary("and", f.cast("bitcast", batch.load(largest), integer), exponent), wide)
    usable = f.binary("and", is_finite, f.compare("ogt", power, batch.const(0.0)))
    power = f.select(usable, power, batch.const(1.0))
    inverse = f.binary("fdiv", batch.const(1.0), power)
    for pointer in upper_elements(batch):
        batch.store(f.select(is_finite, f.mul(batch.load(pointer), inverse), batch.const(0.0)), pointer)
    return power, is_finite


def identity(batch: Lanes) -> None:
    f = batch.f
    with f.loop(ZERO, batch.n) as row:
        with f.loop(ZERO, batch.n) as column:
            batch.store(batch.const(0.0), batch.element(batch.v, row, column))
        batch.store(batch.const(1.0), batch.element(batch.v, row, row))


# -- rotations ----------------------------------------------------------------------------------
def rotate_until_diagonal(batch: Lanes) -> None:
    """Sweeps until what is off the diagonal is lost in rounding."""
    f, n = batch.f, batch.n
    sweeps, more = f.variable("i64", ZERO), f.variable("i1", V("true", "i1"))
    f.store(ZERO, sweeps), f.store(V("true", "i1"), more)
    largest = f.variable(batch.wide)
    tolerance = batch.const(finfo(batch.dtype).eps / 4)
    with f.repeat(lambda: f.load(more, "i1")):
        with f.loop(ZERO, n) as p, f.loop(f.add(p, ONE), n) as q:
            rotate(batch, p, q)
        batch.store(batch.const(0.0), largest)
        with f.loop(ZERO, n) as p, f.loop(f.add(p, ONE), n) as q:
            size = f.intrinsic("llvm.fabs", batch.load(batch.element(batch.a, p, q)))
            batch.store(f.intrinsic("llvm.maxnum", batch.load(largest), size), largest)
        done = f.add(f.load(sweeps, "i64"), ONE)
        f.store(done, sweeps)
        wanted = batch.any(f.compare("ogt", batch.load(largest), tolerance))
        f.store(f.binary("and", wanted, f.compare("slt", done, i64(MOST_SWEEPS))), more)


def rotate(batch: Lanes, p: V, q: V) -> None:
    """Turn the plane of p and q so that A[p, q] becomes 0."""
    f, n, a = batch.f, batch.n, batch.a
    corner, first, second = (batch.element(a, *at) for at in ((p, q), (p, p), (q, q)))
    apq, app, aqq = map(batch.load, (corner, first, second))
    cosine, sine, tangent = rotation(batch, apq, app, aqq)
    shift = f.mul(tangent, apq)
    batch.store(f.sub(app, shift), first)
    batch.store(f.add(aqq, shift), second)
    batch.store(batch.const(0.0), corner)

    def turn(of_p: V, of_q: V) -> None:
        x, y = batch.load(of_p), batch.load(of_q)
        batch.store(f.sub(f.mul(cosine, x), f.mul(sine, y)), of_p)
        batch.store(f.add(f.mul(sine, x), f.mul(cosine, y)), of_q)

    after_p, after_q = f.add(p, ONE), f.add(q, ONE)
    with f.loop(ZERO, p) as k:
        turn(batch.element(a, k, p), batch.element(a, k, q))
    with f.loop(after_p, q) as k:
        turn(batch.element(a, p, k), batch.element(a, k, q))
    with f.loop(after_q, n) as k:
        turn(batch.element(a, p, k), batch.element(a, q, k))
    if batch.with_vectors:
        with f.loop(ZERO, n) as k:
            turn(batch.element(batch.v, p, k), batch.element(batch.v, q, k))


def rotation(batch: Lanes, apq: V, app: V, aqq: V) -> tuple[V, V, V]:
    """Cosine, sine and tangent of the smaller of the two angles."""
    f = batch.f
    apart, twice = f.sub(aqq, app), f.add(apq, apq)
    root = f.intrinsic("llvm.sqrt", f.add(f.mul(apart, apart), f.mul(twice, twice)))
    below = f.add(f.intrinsic("llvm.fabs", apart), root)
    flat = f.compare("oeq", below, batch.const(0.0))
    tangent = f.binary("fdiv", twice, f.select(flat, batch.const(1.0), below))
    tangent = f.mul(tangent, f.intrinsic("llvm.copysign", batch.const(1.0), apart))
    one = batch.const(1.0)
    cosine = f.binary("fdiv", one, f.intrinsic("llvm.sqrt", f.add(f.mul(tangent, tangent), one)))
    return cosine, f.mul(tangent, cosine), tangent


# -- results ------------------------------------------------------------------------------------
def sort_values(batch: Lanes, unit: V, is_finite: V) -> None:
    """The diagonal in ascending order, by exchanges of neighbours in every lane."""
    f, n = batch.f, batch.n
    with f.loop(ZERO, n) as i:
        value = f.mul(batch.load(batch.element(batch.a, i, i)), unit)
        batch.store(f.select(is_finite, value, batch.const(float("nan"))), batch.vector(batch.values, i))
        f.store(f.splat(f.cast("trunc", i, "i32"), batch.lanes), batch.vector(batch.columns, i), 4)
    with f.loop(ONE, n) as done, f.loop(ZERO, f.sub(n, done)) as i:
        here, there = (batch.vector(batch.values, place) for place in (i, f.add(i, ONE)))
        x, y = batch.load(here), batch.load(there)
        wrong = f.compare("ogt", x, y)
        batch.store(f.select(wrong, y, x), here)
        batch.store(f.select(wrong, x, y), there)
        here, there = (batch.vector(batch.columns, place) for place in (i, f.add(i, ONE)))
        x, y = (f.load(pointer, batch.places) for pointer in (here, there))
        f.store(f.select(wrong, y, x), here)
        f.store(f.select(wrong, x, y), there)


def store_values(batch: Lanes, target: V, matrix) -> None:
    f, n, kind = batch.f, batch.n, batch.kind
    with f.loop(ZERO, batch.lanes) as lane:
        base = f.at(target, kind, f.mul(matrix(lane), n))
        with f.loop(ZERO, n) as i:
            number = f.load(f.at(batch.vector(batch.values, i), kind, lane), kind)
            f.store(number, f.at(base, kind, i))


def store_vectors(batch: Lanes, target: V, matrix, is_finite: V) -> None:
    f, n, kind = batch.f, batch.n, batch.kind
    spoiled = f.binary("xor", is_finite, f.const(1, f"<{batch.lanes} x i1>"))
    with f.when(batch.any(spoiled)), f.loop(ZERO, f.mul(n, n)) as i:
        pointer = batch.vector(batch.v, i)
        batch.store(f.select(is_finite, batch.load(pointer), batch.const(float("nan"))), pointer)
    with f.loop(ZERO, batch.lanes) as lane:
        base = f.at(target, kind, f.mul(matrix(lane), f.mul(n, n)))
        with f.loop(ZERO, n) as i:
            column = f.load(f.at(batch.vector(batch.columns, i), "i32", lane), "i32")
            column = f.cast("sext", column, "i64")
            with f.loop(ZERO, n) as k:
                number = f.load(f.at(batch.element(batch.v, column, k), kind, lane), kind)
                f.store(number, f.at(base, kind, f.add(k, f.mul(i, n))))
