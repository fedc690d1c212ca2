"""Emitters for eigenvalues and singular values, and the check of a derivative's condition.

Matrices that hold NaN or infinities never reach LAPACK, whose iterations might not end. Its threads meet after every
column: where another process has a core they wait for each other longest, so that only huge matrices use them.
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType, int32
from ..ir.failures import code_of
from ..ir.sizes import product
from .error_flag import error_flag, report
from .index_copy import copy
from .index_layout import ONE, ZERO, Nest, Parameters, i64, is_number
from .jacobi import FEWEST, LARGEST, launch_jacobi
from .kernel import Kernel
from .lapack import (
    BLOCK,
    HUGE,
    dense_operand,
    dense_target,
    fill_zero,
    lower_matrices,
    matrix_step,
    routine,
)
from .lapack_kernel import LapackKernel, Matrix
from .registers import memory_type
from .templates import Array, Context, template
from .text import Module, V

LANES = 8
FINE = V("0", "i32")
BAD = V("-4", "i32")  # LAPACK's number for: the matrix is not a legal argument


def parts(dtype: DType) -> int:
    return 2 if dtype.is_complex else 1


# -- finiteness -------------------------------------------------------------------------------
class Finiteness:
    """Whether all numbers seen are finite: their products with 0 sum up to 0, and to NaN otherwise."""

    def __init__(self, k: LapackKernel, dtype: DType):
        self.f, self.dtype, self.kind = k.f, dtype, memory_type(dtype)
        self.wide = f"<{LANES} x {self.kind}>"
        self.sums = k.f.variable(self.wide)
        k.f.store(V("zeroinitializer", self.wide), self.sums)

    def add(self, number: V, sums: V) -> None:
        f = self.f
        f.store(f.add(f.load(sums, number.type), f.mul(number, f.const(0.0, number.type))), sums)

    def run(self, pointer: V, count: V) -> None:
        """See adjacent elements."""
        f, kind = self.f, self.kind
        count = f.mul(count, i64(parts(self.dtype)))
        whole = f.binary("and", count, i64(-LANES))
        with f.loop(ZERO, whole, LANES) as i:
            self.add(f.load(f.at(pointer, kind, i), self.wide), self.sums)
        with f.loop(whole, count) as i:
            self.add(f.load(f.at(pointer, kind, i), kind), self.sums)  # the first lane

    def holds(self) -> V:
        f = self.f
        sums = f.load(self.sums, self.wide)
        total = f.lane(sums, 0)
        for lane in range(1, LANES):
            total = f.add(total, f.lane(sums, lane))
        return f.compare("oeq", total, f.const(0.0, self.kind))


def is_finite(k: LapackKernel, matrix: Matrix) -> V:
    seen = Finiteness(k, matrix.dtype)
    seen.run(matrix.pointer, k.f.mul(matrix.rows, matrix.columns))
    return seen.holds()


def triangle_is_finite(k: LapackKernel, matrix: Matrix, lower: bool) -> V:
    f, seen = k.f, Finiteness(k, matrix.dtype)
    with f.loop(ZERO, matrix.columns) as column:
        if lower:
            seen.run(k.at(matrix, column, column), f.sub(matrix.rows, column))
        else:
            seen.run(k.at(matrix, ZERO, column), f.add(column, ONE))
    return seen.holds()


def fill_nan(k: LapackKernel, *arrays: Matrix) -> None:
    f = k.f
    for array in arrays:
        kind, count = memory_type(array.dtype), i64(parts(array.dtype))
        for size in array.sizes:
            count = f.mul(count, size)
        with f.loop(ZERO, count) as i:
            f.store(f.const(float("nan"), kind), f.at(array.pointer, kind, i))


def set_info(k: LapackKernel, info: Matrix, number: V = FINE) -> None:
    k.f.store(number, info.pointer)


def copy_to_scratch(k: LapackKernel, matrix: Matrix, region: int) -> V:
    """A copy of a matrix, to be overwritten."""
    f, target = k.f, k.scratch(region)
    size = f.mul(f.mul(matrix.rows, matrix.columns), i64(matrix.dtype.itemsize))
    f.call("llvm.memcpy.p0.p0.i64", "void", target, matrix.pointer, size, V("false", "i1"))
    return target


def work(k: LapackKernel, region: int, dtype: DType) -> tuple[V, V]:
    """A region of scratch memory and its length, as LAPACK takes them."""
    return k.scratch(region), k.integer(k.scratch_length(region, dtype))


# -- Hermitian matrices -------------------------------------------------------------------------
def eigh_regions(operands: list[Array], results: list[Array], lower: bool) -> list:
    n, dtype = operands[0].shape[-1], operands[0].dtype
    squares = n * n * (1 if dtype.is_complex else 2)
    numbers = squares + (BLOCK + 6) * n + 1
    reals = 2 * n * n + 5 * n + 1 if dtype.is_complex else 0
    return [numbers * dtype.itemsize, reals * dtype.to_real().itemsize, (5 * n + 3) * 4]


def call_eigh(
    k: LapackKernel, job: str, lower: bool, size: V, a: V, values: Matrix, info: Matrix, dtype: DType
) -> None:
    """LAPACK's divide and conquer; regions 0 to 2 are its workspace."""
    n = k.integer(size)
    reals = work(k, 1, dtype.to_real()) if dtype.is_complex else ()
    name = "heevd" if dtype.is_complex else "syevd"
    given = (k.letter(job), k.letter("L" if lower else "U"), n, a, n, values.pointer)
    k.call(name, *given, *work(k, 0, dtype), *reals, *work(k, 2, int32), info.pointer)


@routine("eigh", eigh_regions, 3, HUGE)
def eigh(k: LapackKernel, operands: list[Matrix], results: list[Matrix], lower: bool) -> None:
    values, vectors, info = results
    with k.f.branch(triangle_is_finite(k, vectors, lower)) as otherwise:
        call_eigh(k, "V", lower, vectors.rows, vectors.pointer, values, info, vectors.dtype)
        otherwise()
        fill_nan(k, values, vectors)
        set_info(k, info)


def eigvalsh_regions(operands: list[Array], results: list[Array], lower: bool) -> list:
    n, dtype = operands[0].shape[-1], operands[0].dtype
    reals = n if dtype.is_complex else 0
    sizes = [((BLOCK + 2) * n + 1) * dtype.itemsize, reals * dtype.to_real().itemsize, (5 * n + 3) * 4]
    return [*sizes, n * n * dtype.itemsize]


@routine("eigvalsh", eigvalsh_regions, 4, HUGE)
def eigvalsh(k: LapackKernel, operands: list[Matrix], results: list[Matrix], lower: bool) -> None:
    (a,), (values, info) = operands, results
    with k.f.branch(triangle_is_finite(k, a, lower)) as otherwise:
        call_eigh(k, "N", lower, a.rows, copy_to_scratch(k, a, 3), values, info, a.dtype)
        otherwise()
        fill_nan(k, values)
        set_info(k, info)


@template("eigh", "eigvalsh")
def lower_hermitian(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    """Many small real matrices go abreast, in the lanes of vectors; all others through LAPACK."""
    (a,) = operands
    batch = a.shape[:-2]
    # guards: the signs of vectors depend on the choice, and a tangent is computed apart from its vectors
    abreast = not a.dtype.is_complex and not is_number(a.shape[-1], 0)
    if not abreast or not product(batch) >= FEWEST or not a.shape[-1] <= LARGEST:
        lower_matrices(context, node, operands, results)
        return
    targets = [dense_target(context, result, rank) for result, rank in zip(results, node.prim.columns.results)]
    a = dense_operand(context, a, 2)
    vectors = targets[1] if node.prim.name == "eigh" else None
    launch_jacobi(context, a, matrix_step(a, 2), product(batch), node.attrs["lower"], targets[0], vectors)
    fill_zero(context, targets[-1])
    for target, result in zip(targets, results):
        if target is not result:
            copy(context, target, result)


# -- singular values ------------------------------------------------------------------------------
def svd_regions(operands: list[Array], results: list[Array], full: bool = False, vectors: bool = True) -> list:
    (m, n), dtype = operands[0].shape[-2:], operands[0].dtype
    small, large = (m, n) if m <= n else (n, m)
    squares = 0 if not vectors else 3 if dtype.is_complex else 5
    numbers = squares * small * small + (BLOCK + 12) * (m + n)
    reals = 7 * small if not vectors else 7 * small * small + 2 * small * large + 7 * small
    reals = reals if dtype.is_complex else 0
    sizes = [numbers * dtype.itemsize, reals * dtype.to_real().itemsize, 8 * small * 4]
    return [*sizes, m * n * dtype.itemsize]


def call_svd(k: LapackKernel, job: str, a: Matrix, s: Matrix, left: tuple, right: tuple, info: Matrix) -> None:
    """LAPACK's divide and conquer; regions 0 to 2 are its workspace, 3 the copy of the matrix."""
    m, n = k.integer(a.rows), k.integer(a.columns)
    reals = (k.scratch(1),) if a.dtype.is_complex else ()
    given = (k.letter(job), m, n, copy_to_scratch(k, a, 3), m, s.pointer, *left, *right)
    k.call("gesdd", *given, *work(k, 0, a.dtype), *reals, k.scratch(2), info.pointer)


@routine("svd", svd_regions, 4, HUGE)
def svd(k: LapackKernel, operands: list[Matrix], results: list[Matrix], full: bool) -> None:
    (a,), (u, s, vh, info) = operands, results
    with k.f.branch(is_finite(k, a)) as otherwise:
        left, right = ((x.pointer, k.integer(x.rows)) for x in (u, vh))
        call_svd(k, "A" if full else "S", a, s, left, right, info)
        otherwise()
        fill_nan(k, u, s, vh)
        set_info(k, info, BAD)


@routine("svdvals", functools.partial(svd_regions, vectors=False), 4, HUGE)
def svdvals(k: LapackKernel, operands: list[Matrix], results: list[Matrix]) -> None:
    (a,), (s, info) = operands, results
    with k.f.branch(is_finite(k, a)) as otherwise:
        unused = (k.scratch(0), k.integer(1))
        call_svd(k, "N", a, s, unused, unused, info)
        otherwise()
        fill_nan(k, s)
        set_info(k, info, BAD)


# -- general square matrices -------------------------------------------------------------------------
def eig_regions(operands: list[Array], results: list[Array], vectors: bool = True) -> list:
    """The copy of the matrix, workspace, and for real matrices the parts of values, and vectors in pairs."""
    n, dtype = operands[0].shape[-1], operands[0].dtype
    real = dtype.to_real().itemsize
    pairs = n * n if vectors and not dtype.is_complex else 1
    return [n * n * dtype.itemsize, (BLOCK + 4) * n * dtype.itemsize, 2 * n * real, n * real, pairs * real]


def call_eig(k: LapackKernel, a: Matrix, values: Matrix, vectors: Matrix | None, info: Matrix) -> None:
    n, one, work_of_it = k.integer(a.rows), k.integer(1), work(k, 1, a.dtype)
    jobs = k.letter("N"), k.letter("N" if vectors is None else "V")
    copied = copy_to_scratch(k, a, 0)
    unused = k.scratch(4)
    if a.dtype.is_complex:
        right = (unused, one) if vectors is None else (vectors.pointer, n)
        k.call(
            "geev", *jobs, n, copied, n, values.pointer, unused, one, *right, *work_of_it, k.scratch(2), info.pointer
        )
        return
    right = (unused, one if vectors is None else n)
    parts_of_it = k.scratch(2), k.scratch(3)
    k.call("geev", *jobs, n, copied, n, *parts_of_it, unused, one, *right, *work_of_it, info.pointer)
    join_values(k, values, *parts_of_it)
    if vectors is not None:
        join_vectors(k, vectors, parts_of_it[1], unused)


def join_values(k: LapackKernel, values: Matrix, re: V, im: V) -> None:
    """Complex numbers from their parts."""
    f, kind = k.f, memory_type(values.dtype)
    with f.loop(ZERO, values.sizes[0]) as i:
        for place, source in ((f.mul(i, i64(2)), re), (f.add(f.mul(i, i64(2)), ONE), im)):
            f.store(f.load(f.at(source, kind, i), kind), f.at(values.pointer, kind, place))


def join_vectors(k: LapackKernel, vectors: Matrix, im: V, pairs: V) -> None:
    """Complex vectors from LAPACK's columns: for a conjugate pair of values, the real and the imaginary part of one."""
    f, kind, n = k.f, memory_type(vectors.dtype), vectors.rows
    with f.loop(ZERO, n) as column:
        part = f.load(f.at(im, kind, column), kind)
        first, second = (f.compare(order, part, f.const(0.0, kind)) for order in ("ogt", "olt"))
        re_column = f.select(second, f.sub(column, ONE), column)
        im_column = f.select(first, f.add(column, ONE), column)
        sign = f.select(first, f.const(1.0, kind), f.select(second, f.const(-1.0, kind), f.const(0.0, kind)))
        with f.loop(ZERO, n) as row:
            re, imaginary = (f.load(f.at(pairs, kind, f.add(row, f.mul(c, n))), kind) for c in (re_column, im_column))
            place = f.mul(f.add(row, f.mul(column, n)), i64(2))
            f.store(re, f.at(vectors.pointer, kind, place))
            f.store(f.mul(imaginary, sign), f.at(vectors.pointer, kind, f.add(place, ONE)))


@routine("eig", eig_regions, 5, HUGE)
def eig(k: LapackKernel, operands: list[Matrix], results: list[Matrix]) -> None:
    (a,), (values, vectors, info) = operands, results
    with k.f.branch(is_finite(k, a)) as otherwise:
        call_eig(k, a, values, vectors, info)
        otherwise()
        fill_nan(k, values, vectors)
        set_info(k, info, BAD)


@routine("eigvals", functools.partial(eig_regions, vectors=False), 5, HUGE)
def eigvals(k: LapackKernel, operands: list[Matrix], results: list[Matrix]) -> None:
    (a,), (values, info) = operands, results
    with k.f.branch(is_finite(k, a)) as otherwise:
        call_eig(k, a, values, None, info)
        otherwise()
        fill_nan(k, values)
        set_info(k, info)


# -- conditions ---------------------------------------------------------------------------------
@template("claim")
def lower_claim(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    x, holds = operands
    copy(context, x, results[0])
    if not any(is_number(n, 0) for n in holds.shape):
        nest = Nest(holds.shape, holds.strides)
        params = [code_of(node.attrs["fails"]), *nest.params]
        context.launch(claim_kernel(nest.structure), [holds, error_flag()], params, nest.size, 1 << 15)


@functools.cache
def claim_kernel(structure: tuple) -> Kernel:
    module = Module()
    f = module.kernel("claim")
    holds, error = f.buffer(0), f.buffer(1)
    parameters = Parameters(f)
    (code,) = parameters.numbers(1)
    loops = parameters.loops(structure)
    with f.loop(f.begin, f.end) as index:
        (at,) = loops.offsets(index, [ZERO])
        with f.when(f.compare("eq", f.load(f.at(holds, "i8", at), "i8"), V("0", "i8"))):
            report(f, error, code, ZERO, ZERO, ZERO)
    return Kernel("claim", str(module))
