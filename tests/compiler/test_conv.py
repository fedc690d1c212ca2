"""Convolution and its gradients against sums over patches."""

from itertools import product

import numpy as np
import pytest
from template_harness import bind, call, channels_last

import rushlight.compiler.conv  # noqa: F401 - registers the templates
from rushlight.compiler.dot import Epilogue


def patches(x, kernel, stride, padding, dilation, output):
    """x [N, C, *S] → [N, C, *K, *P], zero where a window reaches into the padding."""
    n = x.ndim - 2
    reach = [p * s + k * d for p, s, k, d in zip(output, stride, kernel, dilation)]
    room = [(p, max(r - p - size, 0)) for p, r, size in zip(padding, reach, x.shape[2:])]
    padded = np.pad(x, [(0, 0), (0, 0), *room])
    result = np.zeros((*x.shape[:2], *kernel, *output), x.dtype)
    for tap in product(*map(range, kernel)):
        window = [slice(t * d, t * d + (p - 1) * s + 1, s) for t, d, p, s in zip(tap, dilation, output, stride)]
        result[(slice(None), slice(None), *tap)] = padded[(slice(None), slice(None), *window)]
    assert result.ndim == 2 + 2 * n
    return result


def out_shape(size, kernel, stride, padding, dilation):
    return tuple(
        (i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in zip(size, kernel, stride, padding, dilation)
    )


class Case:
    """Random operands of one convolution and its three results by einsum, in float64, complex128 or int64."""

    def __init__(self, x, w, stride=1, padding=0, dilation=1, groups=1, dtype="float32", seed=0):
        n = len(x) - 2
        spread = lambda value: (value,) * n if isinstance(value, int) else tuple(value)  # noqa: E731
        self.attrs = {"stride": spread(stride), "padding": spread(padding), "dilation": spread(dilation)}
        self.output = out_shape(x[2:], w[2:], **self.attrs)
        self.attrs["groups"], self.dtype = groups, dtype
        shapes = x, w, (x[0], w[0], *self.output)
        rng = np.random.default_rng(seed)
        self.x, self.w, self.gy = (self.random(rng, shape) for shape in shapes)

    def random(self, rng, shape):
        if "int" in self.dtype:
            return rng.integers(0, 9, shape).astype(self.dtype)
        values = rng.standard_normal(shape)
        if "complex" in self.dtype:
            values = values + 1j * rng.standard_normal(shape)
        return values.astype(self.dtype)

    def grouped(self):
        """Operands in a wide type with the group dimension split off, and the window subscripts."""
        g = self.attrs["groups"]
        wide = {"i": "int64", "u": "int64", "c": "complex128"}.get(self.x.dtype.kind, "float64")
        x, w, gy = (a.astype(wide) for a in (self.x, self.w, self.gy))
        taps = patches(x, w.shape[2:], *[self.attrs[k] for k in ("stride", "padding", "dilation")], self.output)
        pixels, window = int(np.prod(self.output)), int(np.prod(w.shape[2:]))
        taps = taps.reshape(x.shape[0], g, x.shape[1] // g, window, pixels)
        w = w.reshape(g, w.shape[0] // g, w.shape[1], window)
        return taps, w, gy.reshape(gy.shape[0], g, w.shape[1], pixels)

    def forward(self):
        taps, w, _ = self.grouped()
        return np.einsum("ngckp,gock->ngop", taps, w, optimize=True).reshape(self.gy.shape)

    def weight_grad(self):
        taps, _, gy = self.grouped()
        return np.einsum("ngckp,ngop->gock", taps, gy, optimize=True).reshape(self.w.shape)

    def input_grad(self):
        """The adjoint of `patches`: the transpose of its matrix, read off by numbering the input."""
        _taps, w, gy = self.grouped()
        spread = np.einsum("gock,ngop->ngckp", w, gy, optimize=True)
        numbers = np.arange(1, self.x.size + 1).reshape(self.x.shape)
        options = [self.attrs[k] for k in ("stride", "padding", "dilation")]
        places = patches(numbers, self.w.shape[2:], *options, self.output).ravel()
        total = np.zeros(self.x.size + 1, spread.dtype)
        np.add.at(total, places, spread.ravel())
        return total[1:].reshape(self.x.shape)

    def primitives(self):
        """(name, operands, attributes, expected) of the three."""
        window = self.attrs
        yield "conv", (self.x, self.w), window, self.forward()
        yield "conv_input_grad", (self.gy, self.w), {**window, "shape": self.x.shape[2:]}, self.input_grad()
        yield "conv_weight_grad", (self.gy, self.x), {**window, "shape": self.w.shape[2:]}, self.weight_grad()


def close(actual, expected, dtype):
    if "int" in dtype:
        np.testing.assert_array_equal(actual, expected.astype(dtype))
        return
    limit = {"float16": 2e-3, "float32": 2e-6, "complex64": 2e-6}.get(dtype, 1e-14)
    scale = max(1.0, np.abs(expected).max(initial=0))
    np.testing.assert_allclose(actual / scale, expected / scale, rtol=0, atol=limit * 4)


def check(case, layout=lambda a: a, order=None, pieces=3):
    for name, operands, attrs, expected in case.primitives():
        orders = None if order is None else [order]
        before = [a.copy() for a in operands]
        operands = [layout(a) for a in operands]
        (actual,) = call(name, operands, [(expected.shape, case.dtype)], attrs, orders=orders, pieces=pieces)
        close(actual, expected, case.dtype)
        for a, b in zip(operands, before):
            np.testing.assert_array_equal(a, b, err_msg=f"{name} changed its operand")


GEOMETRIES = {
    "plain 3x3": {"x": (2, 3, 7, 6), "w": (4, 3, 3, 3), "padding": 1},
    "no padding": {"x": (1, 4, 8, 9), "w": (5, 4, 3, 2)},
    "stride 2": {"x": (2, 3, 9, 8), "w": (4, 3, 3, 3), "stride": 2, "padding": 1},
    "stride 3 of 2x1": {"x": (1, 2, 11, 10), "w": (3, 2, 2, 1), "stride": (3, 2)},
    "dilation 2": {"x": (2, 3, 9, 10), "w": (4, 3, 3, 3), "padding": 2, "dilation": 2},
    "stride, dilation": {
        "x": (1, 3, 12, 11),
        "w": (2, 3, 3, 2),
        "stride": (2, 3),
        "padding": (2, 1),
        "dilation": (1, 3),
    },
    "groups": {"x": (2, 6, 6, 7), "w": (8, 3, 3, 3), "padding": 1, "groups": 2},
    "depthwise": {"x": (2, 5, 9, 9), "w": (5, 1, 3, 3), "padding": 1, "groups": 5},
    "depthwise 5x5 stride 2": {"x": (1, 4, 11, 12), "w": (4, 1, 5, 5), "stride": 2, "padding": 2, "groups": 4},
    "depthwise multiplier 2": {"x": (2, 3, 6, 6), "w": (6, 1, 3, 3), "padding": 1, "groups": 3},
    "1x1": {"x": (2, 5, 4, 6), "w": (7, 5, 1, 1)},
    "1x1 stride 2": {"x": (2, 5, 5, 6), "w": (7, 5, 1, 1), "stride": 2},
    "padding wider than kernel": {"x": (1, 2, 3, 3), "w": (2, 2, 2, 2), "padding": 3},
    "window covers all": {"x": (2, 3, 5, 4), "w": (6, 3, 5, 4)},
    "single pixel": {"x": (3, 4, 1, 1), "w": (5, 4, 3, 3), "padding": 1},
    "1-d": {"x": (2, 3, 17), "w": (4, 3, 5), "stride": 2, "padding": 2},
    "3-d": {"x": (1, 2, 5, 6, 7), "w": (3, 2, 3, 2, 3), "stride": (1, 2, 1), "padding": (1, 0, 1)},
}


@pytest.mark.parametrize("name", GEOMETRIES)
def test_geometries(name):
    check(Case(**GEOMETRIES[name]))


BLOCKS = {
    "channels and pixels beyond a block": {"x": (3, 75, 13, 15), "w": (37, 75, 3, 3), "padding": 1},
    "strided, blocks": {"x": (2, 70, 25, 22), "w": (35, 70, 3, 3), "stride": 2, "padding": 1},
    "many output channels": {"x": (1, 20, 5, 6), "w": (533, 20, 3, 3), "padding": 1},
    "many input channels": {"x": (1, 533, 5, 6), "w": (20, 533, 3, 3), "padding": 1},
    "groups, blocks": {"x": (2, 80, 12, 11), "w": (70, 40, 3, 3), "padding": 1, "groups": 2},
    "large kernel": {"x": (2, 3, 30, 40), "w": (17, 3, 7, 7), "stride": 2, "padding": 3},
    "kernel larger than a block": {"x": (2, 2, 40, 20), "w": (5, 2, 32, 10)},
    "tiny images": {"x": (70, 16, 4, 4), "w": (24, 16, 3, 3), "padding": 1},
    "one input channel": {"x": (3, 1, 20, 21), "w": (37, 1, 3, 3), "padding": 1},
    "depthwise, vectors": {"x": (2, 83, 21, 30), "w": (83, 1, 3, 3), "padding": 1, "groups": 83},
    "depthwise 7 wide": {"x": (2, 40, 7, 7), "w": (40, 1, 5, 5), "padding": 2, "groups": 40},
    "depthwise stride 2": {"x": (2, 33, 30, 17), "w": (33, 1, 3, 3), "stride": 2, "padding": 1, "groups": 33},
    "depthwise stride 3": {"x": (1, 20, 19, 20), "w": (20, 1, 2, 4), "stride": 3, "padding": 1, "groups": 20},
    "depthwise dilated": {"x": (1, 20, 19, 20), "w": (20, 1, 3, 3), "dilation": (2, 3), "padding": 4, "groups": 20},
    "depthwise, much padding": {"x": (1, 20, 3, 2), "w": (20, 1, 2, 2), "padding": 5, "groups": 20},
    "depthwise 1x9": {"x": (1, 20, 4, 20), "w": (20, 1, 1, 9), "padding": (0, 4), "groups": 20},
}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("layout, order", [(lambda a: a, None), (channels_last, (0, 2, 3, 1))], ids=["rows", "last"])
def test_blocks(name, layout, order):
    check(Case(**BLOCKS[name]), layout, order, pieces=5)


COVERED = {
    "rows of one channel": {"x": (3, 1, 9, 8), "w": (5, 1, 3, 8)},
    "rows": {"x": (3, 4, 9, 8), "w": (5, 4, 3, 8)},
    "columns": {"x": (2, 3, 6, 7), "w": (4, 3, 6, 2), "dilation": (1, 2)},
    "rows, others padded": {"x": (2, 3, 7, 5), "w": (4, 3, 3, 5), "padding": (2, 0)},
    "planes of one channel": {"x": (4, 1, 4, 3), "w": (6, 1, 4, 3), "stride": 2},
    "planes": {"x": (30, 20, 4, 4), "w": (37, 20, 4, 4)},
    "dilated, so that elements are left out": {"x": (2, 3, 7, 5), "w": (4, 3, 3, 3), "dilation": (3, 2)},
    "two of three": {"x": (2, 2, 3, 5, 4), "w": (3, 2, 3, 2, 4), "stride": (1, 2, 3)},
    "halves": {"x": (2, 3, 6, 5), "w": (4, 3, 2, 5), "dtype": "float16"},
    "groups": {"x": (2, 6, 5, 4), "w": (4, 3, 5, 4), "groups": 2},
}


@pytest.mark.parametrize("name", COVERED)
def test_axes_covered_by_one_window(name):
    case = Case(**COVERED[name])
    last = (0, *range(2, case.x.ndim), 1)
    for layout, order in ((lambda a: a, None), (channels_last, last), (channels_last, None), (lambda a: a, last)):
        check(case, layout, order)


def test_one_window_costs_no_padding():
    """The gradient of the input is one product, not a convolution of mostly padding."""
    x, w = np.zeros((2, 3, 40, 64), "float32"), np.zeros((32, 3, 3, 64), "float32")
    attrs = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1, "shape": (40, 64)}
    gy = np.zeros((2, 32, 38, 1), "float32")
    launches = bind("conv_input_grad", [gy, w], [(x.shape, "float32")], attrs).lowered.launches
    taps = [launch for launch in launches if launch.kernel.name.startswith(("conv_columns", "conv_rows"))]
    assert len(taps) == 1 and 64 not in [size for size in taps[0].params[3:6] if type(size) is int]


@pytest.mark.parametrize("name", ["plain 3x3", "1x1", "depthwise"])
def test_mixed_layouts(name):
    """The result has another layout than the operands."""
    check(Case(**GEOMETRIES[name]), channels_last)
    check(Case(**GEOMETRIES[name]), order=(0, 2, 3, 1))


@pytest.mark.parametrize("name", ["channels and pixels beyond a block", "depthwise, vectors", "one input channel"])
@pytest.mark.parametrize("layout, order", [(lambda a: a, None), (channels_last, (0, 2, 3, 1))], ids=["rows", "last"])
def test_epilogue(name, layout, order):
    case = Case(**BLOCKS[name])
    bias = np.random.default_rng(1).standard_normal(2 * len(case.w)).astype("float32")[::2]
    expected = np.maximum(case.forward() + bias[:, None, None], 0)
    inputs, shapes = [layout(case.x), layout(case.w), bias], [(expected.shape, "float32")]

    def epilogue(arrays):
        return {"epilogue": Epilogue(arrays[2], relu=True)}

    orders = None if order is None else [order]
    (actual,) = call("conv", inputs, shapes, case.attrs, orders=orders, operands=2, options=epilogue)
    close(actual, expected, "float32")


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "complex64"])
def test_bias_of_other_types(dtype):
    case = Case((2, 3, 6, 5), (4, 3, 3, 3), padding=1, dtype=dtype)
    bias = case.random(np.random.default_rng(1), (4,))
    expected = case.forward() + bias[:, None, None]
    inputs, shapes = [case.x, case.w, bias], [(expected.shape, dtype)]
    options = lambda arrays: {"epilogue": Epilogue(arrays[2])}  # noqa: E731
    (actual,) = call("conv", inputs, shapes, case.attrs, operands=2, options=options)
    close(actual, expected, dtype)


def test_not_a_number_passes_relu():
    x, w = np.full((1, 1, 2, 2), np.nan, "float32"), np.ones((1, 1, 1, 1), "float32")
    attrs = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1}
    options = lambda arrays: {"epilogue": Epilogue(relu=True)}  # noqa: E731
    (actual,) = call("conv", [x, w], [(x.shape, "float32")], attrs, options=options)
    assert np.isnan(actual).all()


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "int64", "uint8", "complex64", "complex128"])
def test_dtypes(dtype):
    check(Case((2, 4, 6, 5), (6, 2, 3, 3), stride=(1, 2), padding=1, groups=2, dtype=dtype))


@pytest.mark.parametrize("name", ["stride 2", "depthwise"])
@pytest.mark.parametrize("layout, order", [(lambda a: a, None), (channels_last, (0, 2, 3, 1))], ids=["rows", "last"])
def test_half_types(name, layout, order):
    """float16, and bfloat16 as the upper half of float32."""
    check(Case(**GEOMETRIES[name], dtype="float16"), layout, order)
    for primitive, operands, attrs, expected in Case(**GEOMETRIES[name]).primitives():
        bits = [layout((a.view(np.uint32) >> 16).astype(np.uint16)) for a in operands]
        orders = None if order is None else [order]
        (actual,) = call(primitive, bits, [(expected.shape, "bfloat16")], attrs, orders=orders, dtypes=["bfloat16"] * 2)
        wide = (actual.astype(np.uint32) << 16).view(np.float32)
        np.testing.assert_allclose(wide, expected, rtol=0, atol=0.03 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["plain 3x3", "stride 2", "groups", "depthwise", "1x1", "3-d"])
def test_channels_last(name):
    case = Case(**GEOMETRIES[name])
    order = (0, *range(2, case.x.ndim), 1)
    check(case, layout=channels_last, order=order)


@pytest.mark.parametrize("name", ["plain 3x3", "stride 2", "depthwise", "1x1"])
def test_odd_strides(name):
    def scattered(a):
        """Every second element of a larger array, with the last two dimensions exchanged in memory."""
        wide = np.zeros((a.shape[0], a.shape[1] + 1, a.shape[3] * 2, a.shape[2]), a.dtype)
        view = wide[:, 1:, ::2].swapaxes(2, 3)
        view[...] = a
        return view

    check(Case(**GEOMETRIES[name]), layout=scattered, order=(1, 0, 3, 2))


@pytest.mark.parametrize("name", ["plain 3x3", "stride 2", "depthwise", "1x1"])
def test_expanded_operands(name):
    """All strides are 0, as of the cotangent of a sum."""
    case = Case(**GEOMETRIES[name])
    for operand in ("x", "w", "gy"):
        other = Case(**GEOMETRIES[name])
        value = getattr(case, operand)
        setattr(other, operand, np.broadcast_to(value[:1, :1, :1, :1], value.shape))
        check(other)


def test_empty():
    check(Case((0, 3, 5, 5), (4, 3, 3, 3), padding=1))
    check(Case((2, 3, 5, 5), (0, 3, 3, 3), padding=1))


def test_no_input_channels():
    check(Case((2, 0, 5, 5), (3, 0, 3, 3), padding=1))


@pytest.mark.parametrize("layout", [lambda a: a, channels_last], ids=["rows", "last"])
@pytest.mark.parametrize("name", ["channels and pixels beyond a block", "depthwise stride 2"])
def test_pieces_do_not_matter(name, layout):
    for primitive, operands, attrs, expected in Case(**BLOCKS[name]).primitives():
        operands = [layout(a) for a in operands]
        shapes = [(expected.shape, "float32")]
        one, many = (call(primitive, operands, shapes, attrs, pieces=pieces)[0] for pieces in (1, 7))
        np.testing.assert_array_equal(one, many, err_msg=primitive)


@pytest.mark.parametrize("groups", [1, 6])
def test_other_batches_share_kernels(groups):
    """A batch of another size meets the guards of the first, and compiles nothing."""
    kernels = []
    for batch in (4, 5):
        case = Case((batch, 6, 9, 11), (6, 6 // groups, 3, 3), padding=1, groups=groups)
        found = []
        for name, operands, attrs, expected in case.primitives():
            bound = bind(name, operands, [(expected.shape, "float32")], attrs, fixed=(3, 6))
            assert not any("==" in guard for guard in bound.guards), (name, bound.guards)
            found += [launch.kernel for launch in bound.lowered.launches]
        kernels.append(found)
    assert kernels[0] == kernels[1]


@pytest.mark.parametrize("layout", ["contiguous_format", "channels_last"])
def test_against_torch(layout):
    torch = pytest.importorskip("torch")
    memory = {"memory_format": getattr(torch, layout)}
    x = torch.randn(3, 20, 17, 18).contiguous(**memory).requires_grad_()
    w = torch.randn(30, 10, 3, 3).contiguous(**memory).requires_grad_()
    y = torch.nn.functional.conv2d(x, w, None, 2, 1, 1, 2)
    gy = torch.randn_like(y)
    y.backward(gy)
    attrs = {"stride": (2, 2), "padding": (1, 1), "dilation": (1, 1), "groups": 2}
    x_, w_, gy_ = (a.detach().numpy() for a in (x, w, gy))
    cases = (
        ("conv", (x_, w_), y.detach()),
        ("conv_input_grad", (gy_, w_), x.grad),
        ("conv_weight_grad", (gy_, x_), w.grad),
    )
    for name, operands, expected in cases:
        extra = {} if name == "conv" else {"shape": tuple(expected.shape)}
        (actual,) = call(name, operands, [(tuple(expected.shape), "float32")], {**attrs, **extra})
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4, err_msg=name)
