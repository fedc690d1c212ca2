"""Primitives: their NumPy meaning against PyTorch where build functions don't show it, and their strictness."""

from __future__ import annotations

import numpy as np
import pytest

from rushlight.ir import build as B
from rushlight.ir.dtypes import bfloat16, float16, float32, int32, int64
from rushlight.ir.graph import Graph
from rushlight.ir.interpret import interpret
from rushlight.ir.primitive import PRIMITIVES, Primitive
from rushlight.ir.sizes import Scope

from .samples import SAMPLES
from .trace import evaluate, traced

torch = pytest.importorskip("torch")
F = torch.nn.functional


def apply(name, *arrays, **attrs):
    """One primitive's results on arrays."""

    def function(*values):
        result = PRIMITIVES[name](*values, **attrs)
        return list(result) if isinstance(result, tuple) else [result]

    found = evaluate(function, *arrays)
    return found[0] if len(found) == 1 else found


def t(array):
    return torch.from_numpy(np.ascontiguousarray(array))


def close(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected.numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_samples_run_and_leave_their_inputs_alone(sample):
    before = [np.array(a) for a in sample.arrays]
    graph = traced(sample.apply, sample.arrays)
    for value, result in zip(graph.outputs, interpret(graph, sample.arrays)):
        assert result.shape == value.shape and result.dtype.name == value.dtype.name
        assert result.dtype.kind not in "fc" or np.isfinite(result).all()
    for array, copy in zip(sample.arrays, before):
        np.testing.assert_array_equal(array, copy)


# -- maps at the edges of their domains -----------------------------------------------------------
EDGES = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -7.5, 100.0, -100.0, np.inf, -np.inf, np.nan, 1e-300]
)
SAME_NAME = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "lgamma", "digamma",
    "sigmoid", "floor", "ceil", "trunc", "round", "abs", "sign", "neg", "isfinite", "isnan",
)  # fmt: skip


@pytest.mark.parametrize("name", SAME_NAME)
def test_function_at_the_edges(name):
    found, expected = apply(name, EDGES), getattr(torch, name)(t(EDGES)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=0)
    if name not in ("sign", "digamma"):  # torch loses the sign of zero and of digamma's poles
        same = ~np.isnan(found) if expected.dtype.kind == "f" else slice(0)
        np.testing.assert_array_equal(np.signbit(found[same]), np.signbit(expected[same]))


@pytest.mark.parametrize("name", ["maximum", "minimum", "remainder", "fmod", "atan2", "nextafter", "copysign", "pow"])
def test_binary_function_at_the_edges(name):
    a, b = (grid.ravel() for grid in np.meshgrid(EDGES, EDGES))
    np.testing.assert_allclose(apply(name, a, b), getattr(torch, name)(t(a), t(b)).numpy(), rtol=1e-13)


def test_divisions_at_the_edges():
    a, b = (grid.ravel() for grid in np.meshgrid(EDGES, EDGES))
    for name, mode in (("floor_divide", "floor"), ("trunc_divide", "trunc")):
        expected = torch.div(t(a), t(b), rounding_mode=mode).numpy()
        np.testing.assert_allclose(apply(name, a, b), expected, rtol=1e-13)
    c, d = (grid.ravel() for grid in np.meshgrid(np.arange(-7, 8), [-3, -2, -1, 1, 2, 3]))
    for name, mode in (("floor_divide", "floor"), ("trunc_divide", "trunc")):
        np.testing.assert_array_equal(apply(name, c, d), torch.div(t(c), t(d), rounding_mode=mode).numpy())
    for name in ("remainder", "fmod"):
        np.testing.assert_array_equal(apply(name, c, d), getattr(torch, name)(t(c), t(d)).numpy())


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_shifts_and_powers_of_integers(dtype):
    a, b = (grid.ravel().astype(dtype) for grid in np.meshgrid([0, 1, 2, 5, 100, 127], [0, 1, 3, 7, 8, 63, 64, 100]))
    np.testing.assert_array_equal(apply("shift_left", a, b), torch.bitwise_left_shift(t(a), t(b)).numpy())
    np.testing.assert_array_equal(apply("shift_right", a, b), torch.bitwise_right_shift(t(a), t(b)).numpy())
    if dtype != "uint8":
        a, b = (grid.ravel().astype(dtype) for grid in np.meshgrid([-3, -2, -1, 1, 2, 3], [-3, -2, -1, 0, 1, 2, 5]))
        np.testing.assert_array_equal(apply("pow", a, b), torch.pow(t(a), t(b)).numpy())
        np.testing.assert_array_equal(apply("shift_right", a, b), torch.bitwise_right_shift(t(a), t(b)).numpy())


# -- contractions -----------------------------------------------------------------------------
@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.primitive.name == "conv"], ids=str)
def test_convolution_and_its_adjoints(sample):
    x, w = (t(a).requires_grad_() for a in sample.arrays)
    convolve = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[len(sample.attrs["stride"])]
    y = convolve(x, w, **sample.attrs)
    found = apply("conv", *sample.arrays, **sample.attrs)
    close(found, y.detach())
    gy = torch.randn(y.shape, dtype=y.dtype)
    gx, gw = torch.autograd.grad(y, (x, w), gy)
    x, w = sample.arrays
    close(apply("conv_input_grad", gy.numpy(), np.conj(w), shape=x.shape[2:], **sample.attrs), gx)
    close(apply("conv_weight_grad", gy.numpy(), np.conj(x), shape=w.shape[2:], **sample.attrs), gw)


# -- indexing ---------------------------------------------------------------------------------
@pytest.mark.parametrize(("mode", "theirs"), [("add", "sum"), ("mul", "prod"), ("max", "amax"), ("min", "amin")])
def test_scatter_combines(mode, theirs):
    x, src, index = np.arange(12.0).reshape(3, 4), np.array([[5.0, -2, 3], [7, 9, 1]]), np.array([[0, 0, 3], [1, 1, 1]])
    close(apply("scatter", x, index, src, dim=1, mode=mode), t(x).scatter_reduce(1, t(index), t(src), theirs))


def test_gather_take_and_put():
    x, index = np.arange(24.0).reshape(2, 3, 4), np.array([[[2, 0, 1, 1]], [[0, 0, 2, 1]]])
    close(apply("gather", x, index, dim=1), t(x).gather(1, t(index)))
    one, two = np.array([[0, 2], [1, 1]]), np.array([[3, 0], [2, 2]])
    close(apply("take", x, one, two, dim=1), t(x)[:, one, two])
    values = np.ones((2, 2, 2))
    for mode in ("set", "add"):
        expected = t(x).clone()
        expected = expected.index_put((torch.arange(2)[:, None, None], t(one), t(two)), t(values), mode == "add")
        close(apply("put", x, values, one, two, dim=1, mode=mode), expected)


def test_set_keeps_the_last_of_several():
    zeros, index = np.zeros(2), np.array([1, 1])
    assert apply("scatter", zeros, index, np.array([3.0, 4]), dim=0, mode="set").tolist() == [0, 4]
    assert apply("put", zeros, np.array([3.0, 4]), index, dim=0, mode="set").tolist() == [0, 4]


@pytest.mark.parametrize("bad", [-1, 3])
def test_index_out_of_range(bad):
    x, index = np.zeros(3), np.array([bad])
    for name, operands, attrs in [
        ("gather", (x, index), {}),
        ("take", (x, index), {}),
        ("scatter", (x, index, np.ones(1)), {"mode": "add"}),
        ("put", (x, np.ones(1), index), {"mode": "set"}),
    ]:
        with pytest.raises(IndexError, match=f"{name}: index {bad} is out of bounds for dimension with size 3"):
            apply(name, *operands, dim=0, **attrs)


# -- windows ----------------------------------------------------------------------------------
def plane(*shape):
    x = np.random.default_rng(0).integers(-9, 9, shape).astype("float64")  # with ties
    x[(0,) * len(shape)] = np.nan
    return x


def test_max_pool():
    x = plane(2, 3, 8, 9)
    attrs = {"kernel": (3, 2), "stride": (2, 3), "padding": (1, 1), "dilation": (2, 1)}
    theirs = {"kernel_size" if k == "kernel" else k: v for k, v in attrs.items()}
    values, indices = F.max_pool2d(t(x), return_indices=True, **theirs)
    found = apply("max_pool", x, shape=tuple(values.shape[2:]), **attrs)
    close(found[0], values)
    close(found[1], indices)


@pytest.mark.parametrize("ceil", [False, True])
def test_max_pool_with_a_last_partial_window(ceil):
    x = plane(2, 3, 8, 8)
    values, indices = F.max_pool2d(t(x), 3, 2, 0, 1, ceil, True)
    found = apply(
        "max_pool", x, kernel=(3, 3), stride=(2, 2), padding=(0, 0), dilation=(1, 1), shape=tuple(values.shape[2:])
    )
    close(found[0], values)
    close(found[1], indices)


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("divisor", [None, 4])
@pytest.mark.parametrize("ceil", [False, True])
def test_avg_pool(include, divisor, ceil):
    x = t(plane(2, 3, 8, 9)[:, 1:]).requires_grad_()
    y = F.avg_pool2d(x, (3, 2), (2, 3), (1, 1), ceil, include, divisor)
    attrs = {"kernel": (3, 2), "stride": (2, 3), "padding": (1, 1), "count_include_pad": include, "divisor": divisor}
    close(apply("avg_pool", x.detach().numpy(), shape=tuple(y.shape[2:]), **attrs), y.detach())
    gy = torch.randn_like(y)
    close(apply("avg_pool_grad", gy.numpy(), shape=(8, 9), **attrs), torch.autograd.grad(y, x, gy)[0])


def test_adaptive_pools():
    x = t(plane(2, 3, 7, 9)[:, 1:]).requires_grad_()
    y = F.adaptive_avg_pool2d(x, (3, 4))
    close(apply("adaptive_avg_pool", x.detach().numpy(), shape=(3, 4)), y.detach())
    gy = torch.randn_like(y)
    close(apply("adaptive_avg_pool_grad", gy.numpy(), shape=(7, 9)), torch.autograd.grad(y, x, gy)[0])
    values, indices = F.adaptive_max_pool2d(x.detach(), (3, 4), return_indices=True)
    found = apply("adaptive_max_pool", x.detach().numpy(), shape=(3, 4))
    close(found[0], values)
    close(found[1], indices)


def test_max_pool_grad_adds_where_windows_share_a_maximum():
    found = apply("max_pool_grad", np.array([[1.0, 2, 4]]), np.array([[1, 1, 0]]), shape=(3,))
    assert found.tolist() == [[4, 3, 0]]


# -- order, scans -----------------------------------------------------------------------------
@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable_and_puts_nan_above_all(descending):
    x = np.array([[2.0, np.nan, 1, 2, -np.inf, np.nan, 1, np.inf]])
    values, indices = torch.sort(t(x), dim=1, descending=descending, stable=True)
    found = apply("sort", x, dim=1, descending=descending)
    np.testing.assert_array_equal(found[0], values.numpy())
    np.testing.assert_array_equal(found[1], indices.numpy())
    first = apply("topk", x, k=3, dim=1, largest=descending)
    np.testing.assert_array_equal(first[1], indices.numpy()[:, :3])


def test_scans_with_ties_and_nan():
    x = np.array([1.0, 1, 3, 2, 3, np.nan, 5, np.nan, 1])
    for name in ("cummax", "cummin"):
        for ours, theirs in zip(apply(name, x, dim=0), getattr(torch, name)(t(x), 0)):
            np.testing.assert_array_equal(ours, theirs.numpy())
    y = np.array([-np.inf, -np.inf, 700.0, 710, 3])
    close(apply("logcumsumexp", y, dim=0), torch.logcumsumexp(t(y), 0))


# -- strictness -------------------------------------------------------------------------------
def value(*shape, dtype=float32):
    graph = Graph(Scope())
    return graph.tensor(shape, dtype)


REFUSED = [
    ("add", (value(2), value(3)), {}, RuntimeError, "equal shapes and dtypes"),
    ("add", (value(2), value(2, dtype=int32)), {}, RuntimeError, "equal shapes and dtypes"),
    ("add", (value(2),), {}, RuntimeError, "expected 2 operands"),
    ("div", (value(2, dtype=int32), value(2, dtype=int32)), {}, RuntimeError, "floating point"),
    ("complex", (value(2, dtype=float16), value(2, dtype=float16)), {}, RuntimeError, "float32 or float64"),
    ("where", (value(2), value(2), value(2)), {}, RuntimeError, "bool"),
    ("constant", (), {"value": 1.5, "shape": (), "dtype": int64}, RuntimeError, "does not fit"),
    ("constant", (), {"value": "x", "shape": (), "dtype": int64}, RuntimeError, "number"),
    ("iota", (), {"shape": (2,), "dim": 1, "dtype": int64}, IndexError, "dimension"),
    ("reshape", (value(2, 3),), {"shape": (4,)}, RuntimeError, "does not hold"),
    ("permute", (value(2, 3),), {"dims": (0,)}, RuntimeError, "expected 2 dimensions"),
    ("permute", (value(2, 3),), {"dims": (0, 0)}, RuntimeError, "differ"),
    ("expand", (value(2, 3),), {"shape": (2, 4)}, RuntimeError, "must match the existing size"),
    ("slice", (value(4),), {"starts": (2,), "sizes": (3,), "steps": (1,)}, IndexError, "leave"),
    ("slice", (value(4),), {"starts": (0,), "sizes": (2,), "steps": (0,)}, IndexError, "leave"),
    ("diagonal", (value(4, 4),), {"offset": 0, "dim1": 1, "dim2": 1}, RuntimeError, "differ"),
    ("unfold", (value(4),), {"dim": 0, "size": 5, "step": 1}, RuntimeError, "do not fit"),
    ("view_as_real", (value(4),), {}, RuntimeError, "complex"),
    ("view_as_complex", (value(4, 3),), {}, RuntimeError, "last dimension of 2"),
    ("pad", (value(4),), {"low": (-1,), "high": (0,), "value": 0}, RuntimeError, "non-negative"),
    ("concat", (value(4, 2), value(4, 3)), {"dim": 0}, RuntimeError, "sizes must match"),
    ("concat", (), {"dim": 0}, RuntimeError, "at least one"),
    ("flip", (value(4),), {"dims": (1,)}, IndexError, "dimension"),
    ("reduce_sum", (value(4),), {"dims": (-1,)}, IndexError, "dimension"),
    ("reduce_max", (value(0, 4),), {"dims": (0,)}, RuntimeError, "at least one element"),
    ("reduce_any", (value(4),), {"dims": (0,)}, RuntimeError, "bool"),
    ("argmax", (value(0),), {"dim": 0}, IndexError, "at least one element"),
    ("cumsum", (value(4),), {"dim": 2}, IndexError, "dimension"),
    ("dot", (value(2, 3), value(2, 3)), {}, RuntimeError, "inner sizes"),
    ("dot", (value(2), value(2)), {}, RuntimeError, "expected"),
    ("gather", (value(2), value(2)), {"dim": 0}, RuntimeError, "int64"),
    ("gather", (value(2, 2), value(3, 2, dtype=int64)), {"dim": 1}, RuntimeError, "fit"),
    ("take", (value(2),), {"dim": 0}, RuntimeError, "0 indices"),
    ("sort", (value(2),), {"dim": 1, "descending": False}, IndexError, "dimension"),
    ("topk", (value(2),), {"k": 3, "dim": 0, "largest": True}, RuntimeError, "out of range"),
    ("max_pool_grad", (value(2), value(2)), {"shape": (3,)}, RuntimeError, "int64"),
]


@pytest.mark.parametrize(
    ("name", "operands", "attrs", "error", "message"), REFUSED, ids=lambda x: x if isinstance(x, str) else ""
)
def test_shape_rules_are_strict(name, operands, attrs, error, message):
    with Graph(), pytest.raises(error, match=f"^{name}: .*{message}"):
        PRIMITIVES[name](*operands, **attrs)


GEOMETRY = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1)}


@pytest.mark.parametrize(
    ("x", "w", "groups", "message"),
    [
        ((1, 6, 28, 28), (16, 8, 3, 3), 1, "8 input channels"),
        ((1, 6, 28, 28), (16, 3, 3, 3), 3, "9 input channels"),
        ((1, 6, 2, 2), (16, 6, 3, 3), 1, "larger than the padded input"),
        ((1, 6, 2), (16, 6, 3), 1, "2 spatial dimensions"),
    ],
)
def test_convolution_says_what_does_not_fit(x, w, groups, message):
    with Graph(), pytest.raises(RuntimeError, match=message):
        PRIMITIVES["conv"](value(*x), value(*w), groups=groups, **GEOMETRY)


def test_declarations_are_checked():
    with pytest.raises(ValueError, match="twice"):
        Primitive("add", "map", lambda: None)
    with pytest.raises(ValueError, match="unknown kind"):
        Primitive("fresh", "magic", lambda: None)
    with pytest.raises(RuntimeError, match="outside of tracing"):
        PRIMITIVES["neg"](value(2))


def test_every_primitive_has_a_meaning_a_batch_rule_and_a_docstring_or_table_line():
    for prim in PRIMITIVES.values():
        if not prim.shape_rule.__module__.startswith("rushlight.ir"):
            continue  # the compiler's own, which no op records
        assert prim.kind == "source" or prim.batch_rule is not None, prim
        assert prim.kind == "call" or prim.numpy_rule is not None, prim


# -- the interpreter --------------------------------------------------------------------------
def test_bfloat16_is_rounded_after_every_primitive():
    graph = Graph()
    with graph:
        x = graph.tensor((3,), bfloat16)
        graph.returns([x * x + x, B.cast(x, float32), B.sum(x)])
    x = torch.tensor([1.2345, -3.3e38, 0.1], dtype=torch.float32)
    half = x.bfloat16()
    found = interpret(graph, [x.numpy()])
    np.testing.assert_array_equal(found[0], (half * half + half).float().numpy())
    np.testing.assert_array_equal(found[1], half.float().numpy())
    np.testing.assert_array_equal(found[2], half.sum().float().numpy())


def test_interpreter_counts_inputs():
    graph = Graph()
    with graph:
        graph.returns([graph.tensor((3,), float32) + 1])
    with pytest.raises(ValueError, match="1 inputs, got 0"):
        interpret(graph, [])
