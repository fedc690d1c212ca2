"""Matrix primitives against the interpreter: by LAPACK and in lanes, in other layouts, without elements, failing."""

import os

import numpy as np
import pytest
from lower_harness import Case, check

from rushlight.compiler.lower import lower
from rushlight.compiler.run import run_lowered
from rushlight.ir import build as B
from rushlight.ir.dtypes import dtype_named
from rushlight.ir.failures import LinAlgError
from rushlight.ir.graph import Graph
from rushlight.ir.primitives import factor, lu, orthogonal, solve

DTYPES = ("float32", "float64", "complex64", "complex128")
# batches for LAPACK, and for lanes (with lanes left over)
BATCHES = ((3, 40), (2, 9, 5), (19, 2), (2,))
LARGE = (200,)  # one matrix, on OpenBLAS's threads


def draw(*shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    made = random.standard_normal(shape)
    return (made + 1j * random.standard_normal(shape) if "complex" in dtype else made).astype(dtype)


def square(batch, dtype):
    """Well conditioned matrices that need rows exchanged."""
    n = batch[-1]
    return (draw(*batch, n, dtype=dtype) + 2 * np.sqrt(n) * np.eye(n)[::-1]).astype(dtype)


def definite(batch, dtype):
    a = draw(*batch, batch[-1], dtype=dtype)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) / batch[-1] + np.eye(batch[-1])).astype(dtype)


def tolerance(dtype):
    return 3e-4 if dtype in ("float32", "complex64") else 1e-11


def by_factors(adjoint):
    def function(a, b):
        return solve.solve(a, *lu.lu_factor(a, fails=None)[:2], b, adjoint=adjoint)

    return function


def triangular(transpose, upper, unit=False):
    return lambda a, b: solve.solve_triangular(a, b, upper=upper, unitriangular=unit, transpose=transpose)


@pytest.mark.parametrize("batch, dtype", [*((b, d) for b in BATCHES for d in DTYPES), (LARGE, "float64")], ids=str)
def test_values(batch, dtype):
    a, s, b = square(batch, dtype), definite(batch, dtype), draw(*batch, 3, dtype=dtype, seed=1)
    t = np.tril(draw(*batch, batch[-1], dtype=dtype)) / batch[-1] + 2 * np.eye(batch[-1], dtype=dtype)
    options = {"tolerance": tolerance(dtype), "symbolic": True}
    for upper in (False, True):
        check(lambda x, u=upper: factor.cholesky(x, upper=u, fails=None), s, **options)
        check(by_factors(upper), a, b, **options)
    check(lambda x: lu.lu_factor(x, fails=None), a, **options)
    check(lambda x: solve.inverse(x, fails=None), a, **options)
    for transpose in "NTC":
        check(triangular(transpose, False), t.astype(dtype), b, **options)
        check(triangular(transpose, True, True), np.swapaxes(t, -1, -2).astype(dtype), b[..., :1], **options)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(6, 4), (2, 4, 6), (70, 33), (3, 1), (1, 3)], ids=str)
def test_rectangles(shape, dtype):
    a, options = draw(*shape, dtype=dtype), {"tolerance": tolerance(dtype), "symbolic": True}
    check(lambda x: lu.lu_factor(x, fails=None), a, **options)
    check(lambda x: orthogonal.qr(x, mode="reduced")[:2], a, **options)
    check(lambda x: orthogonal.qr(x, mode="r")[1], a, **options)
    check(orthogonal.geqrf, a, **options)
    rows = max(shape[-2:])
    right = draw(*shape[:-2], rows, 2, dtype=dtype, seed=1)
    for driver in orthogonal.DRIVERS:
        check(
            lambda x, y, d=driver: B.narrow(
                orthogonal.lstsq(x, y, driver=d, rcond=None, fails=None)[0], -2, 0, x.shape[-1]
            ),
            a,
            right,
            **options,
        )


def test_a_structure_serves_other_sizes_of_its_kind_alone():
    """Lanes for small matrices, OpenBLAS's threads for large ones: which it is must not stick to what came first."""
    case = Case(lambda x: factor.cholesky(x, upper=False, fails=None), [definite((9, 4), "float64")], symbolic=True)
    assert "cholesky_lanes" in case.kernels
    case.check_other(definite((17, 7), "float64"), tolerance=1e-12)
    with pytest.raises(AssertionError, match="do not fulfil"):
        case.check_other(definite((9, 60), "float64"))
    large = Case(lambda x: factor.cholesky(x, upper=False, fails=None), [definite((300,), "float64")], symbolic=True)
    with pytest.raises(AssertionError, match="do not fulfil"):
        large.check_other(definite((30,), "float64"))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=str)
@pytest.mark.parametrize("batch", [(6, 3), (2, 30)], ids=str)
def test_layouts_of_operands_and_results(order, batch):
    a = definite(batch, "float64")
    memory = np.zeros([2 * a.shape[d] for d in order])
    inverse = np.argsort(order)
    strided = np.transpose(memory[::2, ::2, ::2], inverse)
    strided[...] = a
    strides = [tuple(s // 8 for s in strided.strides), None]
    check(lambda x: factor.cholesky(x, upper=False, fails=None), strided, strides=strides, tolerance=1e-12)
    repeated = np.broadcast_to(a[:1], a.shape)
    check(triangular("N", False), repeated, draw(*a.shape, dtype="float64"), tolerance=1e-11)


def test_operands_are_never_overwritten():
    a = square((3, 30), "float64")
    before = a.copy()
    case = Case(lambda x: (solve.inverse(x, fails=None)[0], x + 1), [a])
    case.check(tolerance=1e-11)
    np.testing.assert_array_equal(a, before)


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)], ids=str)
def test_without_elements(shape):
    a = np.zeros(shape)
    check(lambda x: factor.cholesky(x, upper=False, fails=None), a)
    check(lambda x: lu.lu_factor(x, fails=None), a)
    check(lambda x: solve.inverse(x, fails=None), a)


def failing(function, array):
    graph = Graph()
    value = graph.tensor(array.shape, dtype_named(str(array.dtype)))
    with graph:
        graph.returns(function(value))
    return lambda: run_lowered(lower(graph), graph, [array])


@pytest.mark.parametrize("n", [2, 40])
@pytest.mark.parametrize("spoil", [0.0, -1.0, np.nan], ids=str)
def test_the_first_failure_of_a_batch_is_raised(n, spoil):
    a = np.tile(np.eye(n), (20, 1, 1))
    a[7, 1, 1] = a[11, 0, 0] = spoil
    with pytest.raises(LinAlgError, match=r"element 7\): and 2"):
        failing(lambda x: factor.cholesky(x, upper=False, fails="{batch}and {info}"), a)()
    if spoil == 0:
        with pytest.raises(LinAlgError, match="element 7.* 2"):
            failing(lambda x: solve.inverse(x, fails="{batch}, {info}"), a)()
    with pytest.raises(LinAlgError, match="^2$"):
        failing(lambda x: factor.cholesky(x, upper=True, fails="{batch}{info}"), a[7].copy())()


def test_numbers_that_are_not_finite_end():
    for value in (np.nan, np.inf):
        a = np.full((5, 30, 30), value)
        for function in (
            lambda x: lu.lu_factor(x, fails=None),
            lambda x: orthogonal.qr(x, mode="complete"),
            lambda x: lu.ldl_factor(x, hermitian=False, fails=None),
            *(lambda x, d=d: orthogonal.lstsq(x, x, driver=d, rcond=None, fails=None) for d in orthogonal.DRIVERS),
        ):
            assert len(failing(function, a)()) >= 3


def test_a_forked_child_factorises():
    a = definite((400,), "float64")
    run = failing(lambda x: factor.cholesky(x, upper=False, fails=None), a)
    run()
    child = os.fork()
    if not child:
        os._exit(0 if np.isfinite(run()[0]).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    run()
