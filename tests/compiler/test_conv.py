"""Convolution and its gradients against sums over patches."""

from itertools import product

import numpy as np
import pytest
from template_harness import call, channels_last

import rushlight.compiler.conv  # noqa: F401 - registers the templates


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
        return np.einsum("ngckp,gock->ngop", taps, w).reshape(self.gy.shape)

    def weight_grad(self):
        taps, _, gy = self.grouped()
        return np.einsum("ngckp,ngop->gock", taps, gy).reshape(self.w.shape)

    def input_grad(self):
        """The adjoint of `patches`: the transpose of its matrix, read off by numbering the input."""
        _taps, w, gy = self.grouped()
        spread = np.einsum("gock,ngop->ngckp", w, gy)
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


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "int64", "uint8", "complex64", "complex128"])
def test_dtypes(dtype):
    check(Case((2, 4, 6, 5), (6, 2, 3, 3), stride=(1, 2), padding=1, groups=2, dtype=dtype))


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


def test_empty():
    check(Case((0, 3, 5, 5), (4, 3, 3, 3), padding=1))
    check(Case((2, 3, 5, 5), (0, 3, 3, 3), padding=1))


def test_no_input_channels():
    check(Case((2, 0, 5, 5), (3, 0, 3, 3), padding=1))


def test_pieces_do_not_matter():
    case = Case((3, 8, 10, 10), (12, 8, 3, 3), padding=1)
    for name, operands, attrs, expected in case.primitives():
        one, many = (call(name, operands, [(expected.shape, "float32")], attrs, pieces=pieces)[0] for pieces in (1, 7))
        np.testing.assert_array_equal(one, many, err_msg=name)
