"""The written kernels: exact sums, NaN and ties, tails that touch nothing else, large results, the text itself."""

import math

import numpy as np
import pytest
from lower_functions import layer_norm, softmax
from lower_harness import Case, check, compare, random

import rushlight as rl
from rushlight.compiler import codegen_scopes
from rushlight.compiler.run import Bound
from rushlight.ir import build as B


# -- sums -----------------------------------------------------------------------------------------
def pairwise(rows) -> np.ndarray:
    while rows.shape[1] > 1:
        rows = rows[:, 0::2] + rows[:, 1::2]
    return rows[:, 0]


@pytest.mark.parametrize(
    "shape, dims, excess",
    [((64, 4096), (1,), 1.2), ((4096, 64), (0,), 1.2), ((256, 64, 16), (0, 2), 1.2), ((8, 1 << 17), (1,), 1.6)],
)
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_sums_are_as_exact_as_pairwise_ones(shape, dims, excess, offset):
    """Root mean square errors over all rows; `excess` allows for chance where there are few."""
    x = random(shape) + np.float32(offset)
    case = Case(lambda x: B.sum(x, dims), [x])
    kept = tuple(d for d in range(x.ndim) if d not in dims)
    rows = np.ascontiguousarray(x.transpose(*kept, *dims)).reshape(shape[kept[0]], -1)
    exact = np.array([math.fsum(map(float, row)) for row in rows])
    ours, theirs = case.run()[0] - exact, pairwise(rows) - exact
    assert np.sqrt(np.mean(ours**2)) <= excess * np.sqrt(np.mean(theirs**2))


def test_half_sums_accumulate_in_float32():
    ones = np.full((2, 70_000), 1.0, "float16")
    check(lambda x: B.mean(x, (1,)), ones)


# -- NaN, infinities, ties ---------------------------------------------------------------------------
@pytest.mark.parametrize("shape, dim", [((5, 37), 1), ((37, 5), 0), ((400, 3), 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_nan_wins(shape, dim, dtype):
    x = random(shape, dtype)
    x[np.unravel_index(7, shape)] = np.nan
    x[np.unravel_index(11, shape)] = np.inf
    x[np.unravel_index(3, shape)] = -np.inf

    def build(a):
        return B.max(a, (dim,)), B.min(a, (dim,)), B.argmax(a, dim), B.argmin(a, dim)

    check(build, x)
    check(build, np.full_like(x, -np.inf))
    check(build, np.full_like(x, np.nan))


@pytest.mark.parametrize("shape, dim", [((5, 200), 1), ((200, 5), 0), ((40, 30), 0)])
def test_the_first_of_equals_wins(shape, dim):
    x = np.random.default_rng(0).integers(0, 3, shape).astype("float32")
    check(lambda a: (B.argmax(a, dim), B.argmin(a, dim)), x)
    check(lambda a: (B.argmax(a, dim), B.argmin(a, dim)), x.astype("uint8"))


@pytest.mark.parametrize("divide", [B.floor_divide, B.remainder, B.trunc_divide, B.fmod])
def test_integer_division_by_zero_is_reported(divide):
    x, y = np.arange(70, dtype="int32"), np.full(70, 3, "int32")
    case = check(divide, x, y)
    for place in (0, 40, 69):
        zero = y.copy()
        zero[place] = 0
        with pytest.raises(ZeroDivisionError):
            case.run([x, zero])
    check(lambda a, s: divide(a, s), x, numbers=(7,))
    with pytest.raises(ZeroDivisionError):
        Case(lambda a, s: divide(a, s), [x], [0]).run()


# -- memory -----------------------------------------------------------------------------------------
GUARD = 256  # elements around a result


def guarded(shape):
    """An array inside of memory that is known, and a check that the rest of it has not changed."""
    size = int(np.prod(shape))
    memory = np.full(size + 2 * GUARD, 7.0, "float32")
    inside = memory[GUARD : GUARD + size].reshape(shape)
    return inside, lambda: (memory[:GUARD] == 7).all() and (memory[GUARD + size :] == 7).all()


@pytest.mark.parametrize("build", [lambda x: x * 2.0, softmax, lambda x: softmax(x, 0), lambda x: B.permute(x, (1, 0))])
def test_tails_write_nothing_else(build):
    for shape in ((1, 1), (3, 5), (7, 17), (33, 65), (70, 70)):
        case = Case(build, [random(shape)])
        output, intact = guarded(case.graph.outputs[0].shape)
        Bound(case.lowered, case.graph, case.arrays, (), None, [output]).run(2)
        assert intact()
        compare(output, case.run()[0], "float32")


def test_large_results_bypass_caches(monkeypatch):
    """Aligned or not, the numbers are the same."""
    monkeypatch.setattr(codegen_scopes, "last_cache", lambda: 1 << 10)
    for build, shape in ((lambda x: x * 2.0, (5000,)), (lambda x: x + x, (70, 64)), (softmax, (70, 128))):
        case = check(build, random(shape))
        assert any("!nontemporal" in launch.kernel.text for launch in case.lowered.launches)
        output, intact = guarded(shape)
        Bound(case.lowered, case.graph, case.arrays, (), None, [output]).run()
        assert intact()
        compare(output, case.run()[0], "float32")


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "float16"])
@pytest.mark.parametrize("shape", [(2100, 130), (2048, 64), (4000, 70)])
def test_tiles_follow_operands_that_lie_across(monkeypatch, shape, dtype):
    """Rows of 2048 and more are cut into pieces of four tiles, each with all that lies across it."""
    monkeypatch.setattr(codegen_scopes, "last_cache", lambda: 1 << 10)
    x, y = random(shape, "float32"), random(shape[::-1], "float32")
    x, y = ((100 * v).astype(dtype) for v in (x, y))
    turn = lambda a: B.permute(a, (1, 0))  # noqa: E731
    for build, arrays in (turn, [x]), (lambda a, b: turn(a) + b, [x, y]), (lambda a, b: turn(a) + b + b * b, [x, y]):
        case = Case(build, arrays)
        for threads in (1, 2, 5):
            output = np.zeros(shape[::-1], dtype)
            Bound(case.lowered, case.graph, case.arrays, (), None, [output]).run(threads)
            compare(output, case.run()[0], dtype)
    check(turn, x)


def test_what_is_overwritten_unread_bypasses_caches_too(monkeypatch):
    monkeypatch.setattr(codegen_scopes, "last_cache", lambda: 1 << 10)
    target, source = rl.zeros(100, 64), rl.rand(64, 100)
    for out, value in ((target, source.t()), (target, rl.rand(100, 64))):
        assert out.copy_(value).equal(value)
    assert target.add_(target).equal(value + value) and not target.zero_().any()


def test_results_that_are_read_next_stay_in_caches():
    case = Case(lambda x: (B.tanh(x), B.matmul(B.tanh(x), x)), [random((20, 20))])
    assert "!nontemporal" not in case.lowered.launches[0].kernel.text


# -- text -------------------------------------------------------------------------------------------
def size_of(build, *shapes):
    return sum(len(launch.kernel.text) for launch in Case(build, [random(s) for s in shapes]).lowered.launches)


def test_text_stays_small():
    assert size_of(lambda a, b: a + b, (1000,), (1000,)) < 8_000
    assert size_of(softmax, (30, 1000)) < 22_000
    assert size_of(layer_norm, (30, 1000), (1000,), (1000,)) < 22_000


def test_debug_prints_every_stage(monkeypatch, capsys):
    monkeypatch.setenv("RUSHLIGHT_DEBUG", "graph,loops,llvm,asm")
    Case(softmax, [random((4, 60))])
    printed = capsys.readouterr().err
    for part in (
        "--- graph",
        "reduce_max(",
        "--- loops",
        "keep exp(",
        "--- llvm",
        "define void @row",
        "--- asm",
        "ret",
    ):
        assert part in printed
