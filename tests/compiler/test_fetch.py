"""Reading by index inside of kernels: the same numbers as from memory, in one kernel, and no read out of bounds."""

import numpy as np
import pytest
from lower_harness import Case, check, random

from rushlight.ir import build as B
from rushlight.ir import dtypes

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int8", "bool", "complex64", "complex128"]


def indices(shape, size, dtype="int64", seed=1):
    return np.random.default_rng(seed).integers(0, size, shape).astype(dtype)


def kernels(case) -> int:
    return len(case.lowered.launches)


@pytest.mark.parametrize("index", ["int64", "int32"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_read_where_they_are_used(dtype, index):
    """Shapes that leave tails; the index stays the same along the vectors."""
    for width in (1, 3, 16, 37):
        table, rows = random((11, width), dtype), indices((5, 7), 11, index)
        case = Case(lambda t, i: B.eq(B.take(t, i, dim=0), B.take(t, B.flip(i, (1,)), dim=0)), [table, rows],
                    dtypes=[dtype, index])  # fmt: skip
        case.check()
        assert kernels(case) == 1


@pytest.mark.parametrize("index", ["int64", "int32"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_read_lane_by_lane(dtype, index):
    """The index changes along the vectors."""
    for length in (1, 5, 16, 61):
        x, places = random((3, 9), dtype), indices((3, length), 9, index)
        case = Case(lambda x, i: B.ne(B.gather(x, 1, i), B.zeros(i.shape, x.dtype)), [x, places], dtypes=[dtype, index])
        case.check()
        assert kernels(case) == 1


def test_along_both_loops():
    """Lanes with places of their own in memory that moves along too: x[i[r, c], c]."""
    x, rows = random((9, 40)), indices((7, 40), 9)
    assert kernels(check(lambda x, i: B.gather(x, 0, i) * 2.0, x, rows)) == 1
    assert kernels(check(lambda x, i: B.gather(x, 0, i) * 2.0, x.T.copy().T, rows)) == 1


def test_several_indices_and_strided_operands():
    x = random((6, 10, 5))[:, ::2]
    a, b = indices((4, 7), 6), indices((4, 7), 5)
    assert kernels(check(lambda x, a, b: B.exp(B.take(x, a, b, dim=0)), x, a, b)) == 1
    assert kernels(check(lambda x, a, b: B.exp(B.take(x, a, b, dim=1)), random((3, 6, 5)), a, b)) == 1


def test_sums_of_rows():
    table, bags = random((50, 33)), indices((9, 6), 50)
    assert kernels(check(lambda t, i: B.sum(B.take(t, i, dim=0), (1,)), table, bags)) == 1
    assert kernels(check(lambda t, i: B.sum(B.take(t, i, dim=0), (2,)), table, bags)) == 1


def test_computed_indices_and_operands():
    """What is read must be in memory; indices are computed on the way."""
    x, places = random((4, 30)), indices((4, 30), 30)
    case = check(lambda x, i: B.gather(B.exp(x), 1, B.remainder(i + 7, 30)) - x, x, places)
    assert kernels(case) == 2


def test_a_result_of_its_own_is_copied_by_rows():
    case = check(lambda t, i: B.take(t, i, dim=0), random((20, 40)), indices((6,), 20))
    assert case.kernels == ["take"]


def test_other_sizes_use_the_same_kernels():
    case = Case(lambda t, i: B.sum(B.take(t, i, dim=0), (1,)), [random((50, 33)), indices((9, 6), 50)], symbolic=True)
    case.check()
    case.check_other(random((8, 40)), indices((13, 5), 8))


def test_what_an_outer_loop_repeats_is_computed_once():
    """Index arithmetic that does not depend on channels stays outside of their loop."""
    x, grid = random((2, 5, 64)), random((2, 1, 48))

    def build(x, grid):
        place = B.cast(B.minimum(B.maximum(B.floor((grid + 3.0) * 10.0), 0.0), 63.0), dtypes.int64)
        share = B.expand(B.sin(grid), (2, 5, 48))
        return B.gather(x, 2, B.expand(place, (2, 5, 48))) * share

    check(build, x, grid, tolerance=1e-5)


@pytest.mark.parametrize("bad", [-1, 11, 1 << 40])
@pytest.mark.parametrize("length", [1, 16, 21])
def test_an_index_out_of_bounds_is_reported(bad, length):
    for spread in (True, False):
        places = indices((length,), 11)
        places[-1] = bad
        x = random((11,) if spread else (11, 4))
        case = Case(lambda x, i: B.take(x, i, dim=0) * 2.0, [x, places])
        with pytest.raises(IndexError, match=rf"{bad} is out of bounds for dimension 0 with size 11"):
            case.run()


def test_nothing_to_read_from():
    case = Case(lambda x, i: B.take(x, i, dim=0) * 2.0, [random((0, 3)), indices((2,), 1)])
    with pytest.raises(IndexError):
        case.run()
    check(lambda x, i: B.take(x, i, dim=0) * 2.0, random((0, 3)), indices((0,), 1))
