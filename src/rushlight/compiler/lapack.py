"""Primitives of kind "matrix": lowered to one kernel each, which calls LAPACK for every matrix of a batch.

Batches of small matrices are shared among our threads. Large matrices come one after another, each on OpenBLAS's
threads, which are as many as ours.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from ..ir.failures import code_of
from ..ir.sizes import Sym, hint
from .error_flag import error_flag, report
from .index_copy import copy
from .index_layout import ONE, ZERO, Nest, Parameters, alignment, is_number, storage
from .kernel import Kernel
from .lanes import launch_lanes
from .lapack_kernel import LapackKernel
from .lapack_library import routine_address, thread_addresses
from .lapack_memory import dense_temp, is_dense, is_repeated, matrix_count
from .templates import Array, Context, template
from .text import Module, V

PIECE = 1 << 15  # multiplications that are worth another thread's start
LARGE = 192**3  # multiplications for one matrix from which OpenBLAS's threads help most routines
HUGE = 768**3  # from which they help more than working on several matrices at a time
FEW = 4  # matrices
BLOCK = 64  # columns that LAPACK's blocked algorithms take together, at most
# rows and columns up to which matrices go together in the lanes of vectors
SMALL = {"cholesky": 20, "lu_factor": 20, "inverse": 24, "solve": 16, "solve_triangular": 16}


@dataclass
class Routine:
    """How a primitive is lowered.

    emit      `emit(kernel, operands, results, **attrs)`: what happens to one matrix
    regions   `regions(operands, results, **attrs)`: the sizes in bytes of the regions of scratch memory it uses,
              from the arrays
    scratch   how many there are
    large     multiplications for one matrix from which OpenBLAS's threads help
    """

    emit: Callable
    regions: Callable | None
    scratch: int
    large: int


ROUTINES: dict[str, Routine] = {}


def routine(name: str, regions: Callable | None = None, scratch: int = 0, large: int = LARGE):
    """Register the emitter of a primitive, whose template is `lower_matrices`."""

    def register(emit: Callable) -> Callable:
        ROUTINES[name] = Routine(emit, regions, scratch, large)
        template(name)(lower_matrices)
        return emit

    return register


def lower_matrices(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    columns = node.prim.columns
    ranks = (*columns.operands, *columns.results)
    empty = (is_number(n, 0) for a, rank in zip(operands, ranks) for n in a.shape[len(a.shape) - rank :])
    if any(empty) or is_number(matrix_count(results[0].shape, columns.results[0]), 0):
        for result in results:
            fill_zero(context, result)
        return
    targets = [dense_target(context, a, rank) for a, rank in zip(results, columns.results)]
    operands = list(operands)
    for result, operand in columns.starts.items():
        targets[result], operands[operand] = start(context, operands[operand], targets[result], results[result])
    operands = [dense_operand(context, a, rank) for a, rank in zip(operands, columns.operands)]
    launch(context, node, operands, targets, ranks)
    report_failures(context, node, targets)
    for target, result in zip(targets, results):
        if target is not result:
            copy(context, target, result)


def dense_target(context: Context, result: Array, rank: int) -> Array:
    return result if is_dense(result, rank) else dense_temp(context, result.shape, result.dtype, rank)


def dense_operand(context: Context, operand: Array, rank: int) -> Array:
    if is_dense(operand, rank) or is_repeated(operand, rank):
        return operand
    dense = dense_temp(context, operand.shape, operand.dtype, rank)
    copy(context, operand, dense)
    return dense


def start(context: Context, operand: Array, target: Array, result: Array) -> tuple[Array, Array]:
    """The memory in which an operand becomes a result: it is there already, or is copied."""
    if operand is target:
        return target, operand
    if target is not result and operand.role == "temp" and is_dense(operand, 2):
        return operand, operand  # made for this node alone
    copy(context, operand, target)
    return target, target


def launch(context: Context, node, operands: list[Array], targets: list[Array], ranks: tuple) -> None:
    # sizes reach the kernel as parameters; as a part of its key they would make a kernel for each
    given = {name: v for name, v in node.attrs.items() if name != "fails"}
    static = {name: v for name, v in given.items() if type(v) not in (int, Sym)}
    arrays = [*operands, *targets]
    count = matrix_count(targets[0].shape, node.prim.columns.results[0])
    steps = [matrix_step(array, rank) for array, rank in zip(arrays, ranks)]
    if suits_lanes(node.prim.name, arrays, ranks, count):
        starts = node.prim.columns.starts
        launch_lanes(context, node.prim.name, arrays, ranks, len(operands), starts, static, count, steps)
        return
    found = ROUTINES[node.prim.name]
    regions = list(found.regions(operands, targets, **given)) if found.regions else []
    threaded = is_large(arrays, ranks, count, found.large)
    described = tuple((rank, a.dtype) for rank, a in zip(ranks, arrays))
    built = matrix_kernel(node.prim.name, described, len(operands), tuple(sorted(static.items())), threaded)
    params = [count, *thread_addresses()]
    for array, rank, step in zip(arrays, ranks, steps):
        params += [step, *array.shape[len(array.shape) - rank :]]
    offset = 0
    for size in regions:
        params += [offset, size]
        offset = offset + (size + 63) // 64 * 64
    params += [routine_address(name, arrays[0].dtype) for name in built.routines]
    # a threaded kernel takes one piece, of a range that says how much work it is
    grain = PIECE // max(hint(work_of(arrays, ranks)), 1) + 1
    total, grain = (work_size(arrays, ranks), 1 << 60) if threaded else (count, grain)
    context.launch(built.kernel, arrays, params, total, grain, offset)


def suits_lanes(name: str, arrays: list[Array], ranks: tuple, count) -> bool:
    """Whether matrices are so small, and so many, that vectors across them beat LAPACK; with a guard."""
    most = SMALL.get(name)
    if most is None:
        return False
    sizes = [n for array, rank in zip(arrays, ranks) if rank == 2 for n in array.shape[-2:]]
    return all(n <= most for n in sizes) and bool(count >= FEW)


def is_large(arrays: list[Array], ranks: tuple, count, large: int) -> bool:
    """Whether each matrix is worth OpenBLAS's threads; with a guard, as the next sizes may be quite others."""
    work = work_of(arrays, ranks)
    return bool(work >= HUGE) or (bool(work >= large) and bool(count < FEW))


def work_of(arrays: list[Array], ranks: tuple):
    """About how many multiplications one matrix costs."""
    matrices = [a for a, rank in zip(arrays, ranks) if rank == 2]
    if not matrices:
        return 1
    rows, columns = max((a.shape[-2:] for a in matrices), key=lambda shape: hint(shape[0]) * hint(shape[1]))
    return rows * columns * (rows if hint(rows) <= hint(columns) else columns)


def work_size(arrays: list[Array], ranks: tuple):
    return next(a.shape[-2] * a.shape[-1] for a, rank in zip(arrays, ranks) if rank == 2)


def matrix_step(array: Array, rank: int):
    """Bytes from one matrix to the next: none, where one serves the whole batch."""
    if len(array.shape) > rank and is_repeated(array, rank) and not is_dense(array, rank):
        return 0
    step = array.dtype.itemsize
    for size in array.shape[len(array.shape) - rank :]:
        step = size * step
    return step


@dataclass
class Built:
    """A kernel, and the routines whose addresses it takes."""

    kernel: Kernel
    routines: list[str]


@functools.cache
def matrix_kernel(name: str, arrays: tuple, operands: int, attrs: tuple, threaded: bool) -> Built:
    found = ROUTINES[name]
    kernel = LapackKernel(name, list(arrays), found.scratch)
    with kernel.batch(threaded) as matrices:
        found.emit(kernel, matrices[:operands], matrices[operands:], **dict(attrs))
    return Built(Kernel(name, str(kernel.module)), kernel.routines)


# -- failures ---------------------------------------------------------------------------------
def report_failures(context: Context, node, targets: list[Array]) -> None:
    """Have the first failure of the batch raised, if the node shall: its last result holds LAPACK's numbers."""
    fails, info = node.attrs.get("fails"), targets[-1]
    if fails is not None:
        params = [matrix_count(info.shape, 0), code_of(fails), int(bool(info.shape))]
        context.launch(failure_kernel(), [info, error_flag()], params)


@functools.cache
def failure_kernel() -> Kernel:
    module = Module()
    f = module.kernel("report_failure")
    info, error = f.buffer(0), f.buffer(1)
    count, code, batched = (f.param(i) for i in range(3))
    place = f.variable("i64", ZERO)

    def fine() -> V:
        at = f.load(place, "i64")
        inside = f.compare("slt", at, count)
        # past the end the last number is read again, and not looked at
        safe = f.minimum(at, f.sub(count, ONE))
        return f.binary("and", inside, f.compare("eq", f.load(f.at(info, "i32", safe), "i32"), V("0", "i32")))

    with f.repeat(fine):
        f.store(f.add(f.load(place, "i64"), ONE), place)
    at = f.load(place, "i64")
    with f.when(f.compare("slt", at, count)):
        number = f.cast("sext", f.load(f.at(info, "i32", at), "i32"), "i64")
        report(f, error, code, at, number, batched)
    return Kernel("report_failure", str(module))


# -- without elements -------------------------------------------------------------------------
def fill_zero(context: Context, result: Array) -> None:
    if any(is_number(n, 0) for n in result.shape):
        return
    nest = Nest(result.shape, result.strides)
    context.launch(zero_kernel(result.dtype.itemsize, nest.structure), [result], nest.params, nest.size, 1 << 15)


@functools.cache
def zero_kernel(itemsize: int, structure: tuple) -> Kernel:
    module = Module()
    f = module.kernel("fill_zero")
    target, type = f.buffer(0), storage(itemsize)
    loops = Parameters(f).loops(structure)
    with f.loop(f.begin, f.end) as index:
        (at,) = loops.offsets(index, [ZERO])
        f.store(V("0", type), f.at(target, type, at), alignment(itemsize))
    return Kernel("fill_zero", str(module))
