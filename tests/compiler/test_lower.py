"""Lowering end to end: what the kernels compute is what the interpreter says, for any sizes, strides and split."""

import numpy as np
import pytest
from lower_functions import (
    adam,
    batch_norm,
    cross_entropy,
    gelu,
    group_norm,
    layer_norm,
    layer_norm_backward,
    log_sum_exp,
    ramp,
    rotate_halves,
    shuffle_channels,
    shuffle_pixels,
    softmax,
    softmax_backward,
    variance_mean,
)
from lower_harness import Case, check, random
from random_graphs import function, shapes

from rushlight.compiler.run import Bound
from rushlight.ir import build as B
from rushlight.ir.dtypes import ALL, dtype_named
from rushlight.ir.interpret import interpret

SIZES = (1, 2, 3, 7, 15, 16, 17, 33, 1000)
NAMES = [d.name for d in ALL]

# name: (function, shapes of its operands for a size n)
CASES = {
    "add": (lambda a, b: a + b, lambda n: [(3, n), (3, n)]),
    "add a row": (lambda a, b: a + b, lambda n: [(5, n), (n,)]),
    "add a column": (lambda a, b: a + B.reshape(b, (b.shape[0], 1)), lambda n: [(5, n), (5,)]),
    "outer product": (lambda a, b: B.reshape(B.exp(a), (a.shape[0], 1)) * b, lambda n: [(n,), (40,)]),
    "gelu": (gelu, lambda n: [(n,)]),
    "softmax": (softmax, lambda n: [(5, n)]),
    "softmax of columns": (lambda a: softmax(a, 0), lambda n: [(n, 5)]),
    "softmax in the middle": (lambda a: softmax(a, 1), lambda n: [(3, n, 37)]),
    "softmax backward": (softmax_backward, lambda n: [(5, n), (5, n)]),
    "log-sum-exp": (log_sum_exp, lambda n: [(5, n)]),
    "sum of rows": (lambda a: B.sum(a, (1,)), lambda n: [(37, n)]),
    "sum of columns": (lambda a: B.sum(a, (0,)), lambda n: [(n, 37)]),
    "sum of the middle": (lambda a: B.sum(a, (1,)), lambda n: [(7, n, 5)]),
    "sum around the middle": (lambda a: B.sum(a, (0, 2)), lambda n: [(7, 5, n)]),
    "sum of all": (lambda a: B.sum(a), lambda n: [(7, n)]),
    "argmax of rows": (lambda a: B.argmax(a, 1), lambda n: [(7, n)]),
    "argmin of columns": (lambda a: B.argmin(a, 0), lambda n: [(n, 7)]),
    "several results": (lambda a, b: (a + b, a * b, B.sum(a * b, (1,))), lambda n: [(5, n), (5, n)]),
    "variance and mean": (variance_mean, lambda n: [(5, n)]),
    "minus the mean of all": (lambda a: a - B.mean(a, (0, 1), keepdim=True), lambda n: [(n, 40)]),
    "layer norm": (layer_norm, lambda n: [(9, n), (n,), (n,)]),
    "layer norm backward": (layer_norm_backward, lambda n: [(9, n), (9, n), (9, 1), (9, 1), (n,)]),
    "batch norm": (batch_norm, lambda n: [(4, 3, 2, n), (3,), (3,)]),
    "group norm": (group_norm, lambda n: [(2, 8, 3, n), (8,), (8,)]),
    "permute": (lambda a: B.permute(a, (1, 0)), lambda n: [(n, 90)]),
    "permute and add": (lambda a, b: B.exp(B.permute(a, (2, 0, 1))) + b, lambda n: [(3, 14, n), (n, 3, 14)]),
    "flip": (lambda a: B.flip(a, (0, 1)), lambda n: [(n, 4)]),
    "join and pad": (lambda a: B.pad(B.concat([a, a * a], 0), (1, 2), (3, 4)), lambda n: [(n, 4)]),
    "index ramp": (ramp, lambda n: [(5, n)]),
    "flatten": (lambda a: B.reshape(a * 3.0, (a.shape[0] * a.shape[1],)), lambda n: [(5, n)]),
    "pixel shuffle": (shuffle_pixels, lambda n: [(2, 8, 3, n)]),
    "channel shuffle": (shuffle_channels, lambda n: [(2, 6, 3, n)]),
}


def operands(shapes, dtype="float32"):
    return [random(shape, dtype, seed) for seed, shape in enumerate(shapes)]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("symbolic", [False, True], ids=["fixed", "symbolic"])
def test_sizes(name, symbolic):
    build, make = CASES[name]
    for n in SIZES:
        check(build, *operands(make(n)), symbolic=symbolic, tolerance=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_kernels_serve_other_sizes(name):
    build, make = CASES[name]
    case = Case(build, operands(make(19)), symbolic=True)
    for n in (2, 23, 64, 333) if "softmax" not in name and "sum" not in name else (18, 23, 64, 333):
        case.check_other(*operands(make(n)), tolerance=1e-5)


@pytest.mark.parametrize("dtype", NAMES)
def test_dtypes(dtype):
    def build(a, b):
        results = [a + b, a * b, B.eq(a, b), B.where(B.eq(a, b), a, b)]
        return [*results, B.permute(a, (1, 0)), B.any(a, (0,)), B.all(a, (1,))]

    for shape in ((3, 7), (4, 33), (2, 100)):
        check(build, random(shape, dtype), random(shape, dtype, 1), dtypes=[dtype, dtype])


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("dims", [(0,), (1,), (0, 1)])
def test_reductions_of_dtypes(dtype, dims):
    def build(a):
        results = [] if dtype == "bool" else [B.sum(a, dims)]
        if dtype not in ("bool", "float16", "bfloat16"):
            results.append(B.prod(a, dims))
        if not dtype.startswith("complex"):
            results += [B.max(a, dims), B.min(a, dims)]
        if not dtype.startswith("complex") and len(dims) == 1:
            results += [B.argmax(a, dims[0]), B.argmin(a, dims[0])]
        return results

    tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "complex64": 1e-5}.get(dtype, 1e-10)
    for shape in ((3, 7), (4, 33), (7, 100)):
        check(build, random(shape, dtype), dtypes=[dtype], tolerance=tolerance)


@pytest.mark.parametrize("source", NAMES)
def test_casts(source):
    array = random((4, 33), source)
    array = (
        array if source in ("bool", "uint8") else abs(array).astype(array.dtype)
    )  # negative to unsigned is undefined
    check(lambda a: [B.cast(a, dtype_named(target)) for target in NAMES], array, dtypes=[source])


def layouts(array):
    """The same values with other strides."""
    wide = np.repeat(array, 3, 1)[:, ::3]
    inside = np.pad(array, 2)[2:-2, 2:-2]
    across = np.ascontiguousarray(array.T).T
    backward = np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1]
    return [array, wide, inside, across, backward, np.broadcast_to(array[:1], array.shape)]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool", "complex64", "uint8"])
@pytest.mark.parametrize("symbolic", [False, True], ids=["fixed", "symbolic"])
def test_strides(dtype, symbolic):
    a, b = random((33, 70), dtype), random((33, 70), dtype, 1)
    for first in layouts(a):
        for second in layouts(b)[:4]:
            if first.strides[0] < 0 and symbolic:
                continue
            options = {"dtypes": [dtype, dtype], "symbolic": symbolic}
            check(lambda a, b: (a + b, B.any(a, (0,)), B.all(B.eq(a, b), (1,))), first, second, **options)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "complex64"])
def test_tiles(dtype):
    """Operands that lie across: all parts of tiles, of every element size."""
    for shape in ((64, 64), (130, 70), (9, 200), (65, 8)):
        a, b = random(shape, dtype), random(shape[::-1], dtype, 1)
        check(lambda a, b: B.permute(a, (1, 0)) + b, a, b)
        check(lambda a: B.permute(a, (1, 0)), a[3:, 5:], symbolic=True)
    check(lambda a: B.permute(a, (0, 2, 3, 1)), random((3, 5, 40, 30), dtype))


def test_numbers():
    x, i, z = random((33,)), random((33,), "int32"), random((33,), "complex64")
    check(lambda x, s: x + x * s, x, numbers=(2.5,))
    check(lambda x, s: x * s, i, numbers=(3,))
    check(lambda x, s: x * s, z, numbers=(3 + 2j,))
    check(lambda x, s, t: x * B.pow(s, t), x, numbers=(0.9, 3.0))
    case = Case(lambda x, s: x * s, [x], [2.0])
    case.check(numbers=[-7.5])


def test_no_dims_and_no_elements():
    one, empty = np.full((), 2.0, "float32"), np.zeros((0, 4), "float32")
    check(lambda a: (B.exp(a), B.sum(a)), one)
    check(lambda a, b: a + b, one, random((4,)))
    check(lambda a: B.exp(a), empty)
    check(lambda a: (B.sum(a, (0,)), B.prod(a, (0,)), B.any(a, (0,)), B.all(a, (0,)), B.sum(a)), empty)
    check(lambda a, b: B.concat([a, b], 0), empty, random((3, 4)))


def test_outputs_that_are_inputs_views_or_twice_the_same():
    check(lambda a: (a, a, B.permute(a, (1, 0)), B.reshape(a, (12,))), random((3, 4)))

    def build(a):
        e = B.exp(a)
        return e, e, B.permute(e, (1, 0)), e + 1

    check(build, random((3, 4)))


def test_templates_between_kernels():
    a, b = random((5, 7)), random((6, 7), seed=1)
    check(lambda a, b: B.matmul(a * 2.0, B.permute(b, (1, 0))) + 1.0, a, b, tolerance=1e-5)
    check(lambda a: B.exp(B.cumsum(a * 0.1, 1) * 0.1), a, tolerance=1e-5)
    check(lambda a: B.sum(B.sort(a)[0], (1,)), a, tolerance=1e-5)
    check(rotate_halves, random((5, 8)))


def test_reshapes_that_need_copies():
    x, across = random((6, 4)), np.asfortranarray(random((6, 4)))
    check(lambda a: B.reshape(a * 2.0, (8, 3)) * 3.0, x)
    check(lambda a: B.reshape(a, (8, 3)) * 3.0, across)
    check(lambda a: B.sum(B.reshape(B.permute(a, (1, 0)), (8, 3)), (1,)), x)
    square = np.asfortranarray(random((6, 6)))

    def product(a):
        b = B.reshape(a, (18, 2))
        return B.matmul(B.permute(b, (1, 0)), b)

    check(product, square, tolerance=1e-5)


def test_a_value_read_as_it_is_and_across():
    """A kernel that reads a value by a reshape it cannot follow does not compute that value itself."""

    def build(x):
        y = B.reshape(x - B.mean(x, (0, 2), keepdim=True), (3, 102))
        return B.maximum(B.flip(y, (1,)), y)

    check(build, random((6, 17, 3)))


def test_views_of_values():
    check(lambda a: B.exp(B.diagonal(a * a, 1, 0, 1)), random((5, 8)))
    check(lambda a: B.unfold(a * a, 0, 3, 2) * 2.0, random((11,)))
    check(lambda a: B.view_as_real(a * a) * 2.0, random((5,), "complex64"))
    check(lambda a: B.view_as_complex(a * a) * 2.0, random((5, 2)))


def test_cross_entropy():
    target = np.arange(9) * 7 % 20
    check(cross_entropy, random((9, 20)), target, tolerance=1e-5, symbolic=True)


# -- reductions that are split ------------------------------------------------------------------------
LONG = {
    "sum": (lambda a: B.sum(a), (300, 1000)),
    "several": (lambda a: (B.max(a), B.min(a), B.sum(a)), (300, 1000)),
    "argmax": (lambda a: B.argmax(B.round(a * 2)), (300, 1000)),
    "variance": (lambda a: B.mean(B.square(a - B.mean(a))), (300, 1000)),
    "few rows": (lambda a: B.sum(a, (1,)), (3, 200_000)),
    "columns": (lambda a: (B.sum(a, (0,)), a - B.mean(a, (0,), keepdim=True)), (3000, 100)),
    "few columns": (lambda a: B.sum(a, (0, 1)), (1000, 10, 33)),
}


@pytest.mark.parametrize("name", LONG)
def test_long_reductions(name):
    build, shape = LONG[name]
    case = check(build, random(shape), symbolic=True, tolerance=4e-5)
    assert any("partial" in kernel for kernel in case.kernels)
    case.check_other(random((*(n + 5 for n in shape[:-1]), shape[-1])), tolerance=4e-5)
    check(build, np.repeat(random(shape), 2, -1)[..., ::2], tolerance=4e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32", "uint8", "bool", "complex64"])
def test_tall_reductions(dtype):
    def build(a):
        results = [B.any(a, (0,)), B.all(a, (0,))]
        if dtype != "bool":
            results.append(B.sum(a, (0,)))
        if not dtype.startswith("complex"):
            results += [B.max(a, (0,)), B.min(a, (0,)), B.argmax(a, 0), B.argmin(a, 0)]
        return results

    for columns in (90, 1100):
        shape = (300_000 // columns, columns)
        tolerance = {"bfloat16": 2e-2, "float64": 1e-10}.get(dtype, 4e-5)
        check(build, random(shape, dtype), dtypes=[dtype], tolerance=tolerance)


def test_long_argmin_prefers_the_first_nan():
    x = random((300, 1000))
    x[7, 3] = x[200, 2] = np.nan
    check(lambda a: (B.argmin(a), B.argmax(a), B.max(a)), x)


def test_long_reductions_of_other_types():
    check(lambda a: B.sum(a), random((200, 1000), "complex64"), tolerance=1e-5)
    check(lambda a: B.sum(a), random((200, 1000), "int32"))
    check(lambda a: (B.any(a), B.all(a)), random((200, 1000), "bool"))


# -- memory that outputs share with inputs --------------------------------------------------------------
X, Y, SQUARE = random((5, 33)), random((5, 33), seed=1), random((6, 6))

# name: (function, arrays, aliases, numbers, kernels)
ALIASED = {
    "add": (lambda a, b: a + b, [X, Y], [0], (), 1),
    "softmax": (softmax, [X], [0], (), 1),
    "two at once": (lambda a, b: (a + b, a - b), [X, Y], [0, 1], (), 1),
    "swap": (lambda a, b: (b, a), [X, Y], [0, 1], (), 3),
    "transpose": (lambda a: B.permute(a, (1, 0)), [SQUARE], [0], (), 2),
    "plus its transpose": (lambda a: a + B.permute(a, (1, 0)), [SQUARE], [0], (), 2),
    "flip": (lambda a, b: B.flip(a, (0,)) * b, [X, Y], [0], (), 2),
    "row operand": (lambda a, b: a + B.sum(b, (1,)), [random((5,)), Y], [0], (), 1),
    "constant": (lambda a: B.zeros(a.shape, a.dtype), [X], [0], (), 1),
    "cumulative sum": (lambda a: B.cumsum(a, 1), [X], [0], (), 2),
    "adam": (adam, [X, Y, abs(X), Y * 2], [0, 1, 2], (0.1,), 1),
    "long": (lambda a: a / B.sum(a), [random((400, 1000))], [0], (), 3),
    "read by a template, too": (lambda a, b: (a + 1.0, B.matmul(a, B.permute(b, (1, 0)))), [X, Y], [0, None], (), 2),
}


@pytest.mark.parametrize("name", ALIASED)
def test_aliases(name):
    build, arrays, aliases, numbers, kernels = ALIASED[name]
    case = Case(build, arrays, numbers, aliases=aliases)
    wanted = interpret(case.graph, [*arrays, *numbers])
    assert len(case.kernels) == kernels
    for pieces in (1, 3):
        memory = [a.copy() for a in arrays]
        bound = Bound(case.lowered, case.graph, memory, numbers)
        bound.run(pieces)
        for output, want in zip(bound.outputs, wanted):
            np.testing.assert_allclose(output, want, 1e-5, 1e-6)
        assert all(i is None or o is memory[i] for o, i in zip(bound.outputs, aliases))


def test_output_strides():
    def two(a):
        e = B.exp(a)
        return e, B.reshape(e, (4, 9)) * 2.0

    Case(lambda a: B.exp(a), [X], strides=[(1, 5)]).check()
    Case(lambda a: B.matmul(a, a), [SQUARE], strides=[(1, 6)]).check(tolerance=1e-5)
    Case(lambda a: B.concat([a, a], 0), [SQUARE], strides=[(1, 12)]).check()
    Case(lambda a: softmax(B.reshape(a * 2.0, (4, 9))), [SQUARE], strides=[(1, 4)]).check(tolerance=1e-5)
    Case(two, [SQUARE], strides=[(1, 6), None]).check()


# -- anything at all ------------------------------------------------------------------------------------
@pytest.mark.parametrize("block", range(8))
def test_random_graphs(block):
    compared = 0
    for seed in range(block * 15, block * 15 + 15):
        arrays = [random(shapes(seed), seed=seed), random(shapes(seed)[-1:], seed=seed + 1)]
        if seed % 3 == 0:
            arrays[0] = np.asfortranarray(arrays[0])
        case = Case(function(seed), arrays)
        wanted = interpret(case.graph, arrays)
        if all(np.isfinite(w).all() and np.abs(w).max(initial=0) < 1e6 for w in wanted):
            case.check(tolerance=3e-4, floor=1e-6)
            compared += 1
    assert compared > 5
