"""Winograd's convolution against sums over patches: when it is chosen, how exact it is, and where it must not be."""

import numpy as np
import pytest
from template_harness import bind, call, channels_last
from test_conv import Case, check, close

from rushlight.compiler import winograd_cost
from rushlight.compiler.dot import Epilogue

ROWS, LAST = (lambda a: a, None), (channels_last, (0, 2, 3, 1))
LAYOUTS = pytest.mark.parametrize("layout, order", [ROWS, LAST], ids=["rows", "last"])

CASES = {
    "one block of tiles": {"x": (2, 24, 9, 11), "w": (40, 24, 3, 3), "padding": 1},
    "blocks of tiles": {"x": (1, 16, 30, 27), "w": (35, 16, 3, 3), "padding": 1},
    "tiny images": {"x": (41, 18, 4, 4), "w": (34, 18, 3, 3), "padding": 1},
    "blocks of channels": {"x": (1, 150, 6, 8), "w": (80, 150, 3, 3), "padding": 1},
    "many output channels": {"x": (5, 20, 6, 10), "w": (300, 20, 3, 3), "padding": 1},
    "no padding": {"x": (2, 33, 12, 13), "w": (17, 33, 3, 3)},
    "wide padding": {"x": (2, 20, 6, 6), "w": (33, 20, 3, 3), "padding": (2, 3)},
    "a row wider than a block": {"x": (1, 20, 6, 160), "w": (24, 20, 3, 3), "padding": 1},
}


def kernels(case, layout=lambda a: a):
    """The names of the kernels of each primitive."""
    found = {}
    for name, operands, attrs, expected in case.primitives():
        bound = bind(name, [layout(a) for a in operands], [(expected.shape, case.dtype)], attrs)
        found[name] = [launch.kernel.name for launch in bound.lowered.launches]
    return found


@LAYOUTS
@pytest.mark.parametrize("name", CASES)
def test_cases(name, layout, order):
    case = Case(**CASES[name])
    names = kernels(case, layout)
    assert "winograd" in names["conv"] and "winograd_gradient" in names["conv_weight_grad"], names
    check(case, layout, order, pieces=4)


@pytest.mark.parametrize("layout", [lambda a: a, channels_last], ids=["rows", "last"])
def test_mixed_layouts(layout):
    case = Case(**CASES["no padding"])
    check(case, layout)
    check(case, order=(0, 2, 3, 1))
    check(case, order=(1, 3, 2, 0))
    case.w = np.ascontiguousarray(case.w.T).T  # neither taps nor a row of channels are contiguous in order
    check(case)


@LAYOUTS
def test_float64(layout, order):
    check(Case(**CASES["blocks of channels"], dtype="float64"), layout, order)


OTHERS = {
    "few channels": {"x": (2, 8, 16, 16), "w": (64, 8, 3, 3), "padding": 1},
    "single pixels": {"x": (9, 32, 1, 1), "w": (32, 32, 3, 3), "padding": 1},
    "stride": {"x": (1, 32, 16, 16), "w": (32, 32, 3, 3), "stride": 2},
    "dilation": {"x": (1, 32, 16, 16), "w": (32, 32, 3, 3), "dilation": 2},
    "groups": {"x": (1, 64, 16, 16), "w": (64, 32, 3, 3), "groups": 2},
    "5x5": {"x": (1, 32, 16, 16), "w": (32, 32, 5, 5), "padding": 2},
    "3-d": {"x": (1, 32, 6, 6, 6), "w": (32, 32, 3, 3, 3), "padding": 1},
}


@pytest.mark.parametrize("name", OTHERS)
def test_not_for(name):
    names = kernels(Case(**OTHERS[name]))
    assert not any("winograd" in kernel for found in names.values() for kernel in found), names


@LAYOUTS
def test_epilogue(layout, order):
    for name in ("one block of tiles", "blocks of tiles"):
        case = Case(**CASES[name])
        bias = np.random.default_rng(1).standard_normal(len(case.w)).astype("float32")
        expected = np.maximum(case.forward() + bias[:, None, None], 0)
        inputs, shapes = [layout(case.x), layout(case.w), bias], [(expected.shape, "float32")]
        options = lambda arrays: {"epilogue": Epilogue(arrays[2], relu=True)}  # noqa: E731
        orders = None if order is None else [order]
        (actual,) = call("conv", inputs, shapes, case.attrs, orders=orders, operands=2, options=options)
        close(actual, expected, "float32")


@LAYOUTS
@pytest.mark.parametrize("name", ["one block of tiles", "blocks of tiles", "blocks of channels"])
@np.errstate(invalid="ignore")
def test_pieces_do_not_matter(name, layout, order):
    for primitive, operands, attrs, expected in Case(**CASES[name]).primitives():
        operands, shapes = [layout(a) for a in operands], [(expected.shape, "float32")]
        operands[0][0, 3, 2, 2] = np.inf  # parts that are computed directly included
        one, many = (call(primitive, operands, shapes, attrs, pieces=pieces)[0] for pieces in (1, 9))
        np.testing.assert_array_equal(one, many, err_msg=primitive)


def forward(case, layout, order):
    orders = None if order is None else [order]
    shape = case.gy.shape
    (actual,) = call("conv", [layout(case.x), layout(case.w)], [(shape, case.dtype)], case.attrs, orders=orders)
    return actual


def magnitudes(case):
    """The sum of |x| |w| for each result: what rounding errors are measured against."""
    other = Case(**CASES["one block of tiles"])
    other.x, other.w = np.abs(case.x), np.abs(case.w)
    return other.forward()


def set_pixel(value):
    def act(case):
        case.x[1, 5, 4, 6] = value

    return act


def set_opposite(case):
    case.x[0, 5, 4, 6], case.x[0, 5, 5, 6], case.x[1, 0, 0, 0] = np.inf, -np.inf, np.nan


def set_weight(value):
    def act(case):
        case.w[7, 3, 0, 2] = value

    return act


def scale_all(case):
    case.x, case.w = case.x * np.float32(5e37), case.w * np.float32(0.01)


SPECIALS = {
    "inf": set_pixel(np.inf),
    "nan": set_pixel(np.nan),
    "inf and -inf": set_opposite,
    "inf weight": set_weight(-np.inf),
    "nan weight": set_weight(np.nan),
    "near overflow": scale_all,
}


@LAYOUTS
@pytest.mark.parametrize("name", SPECIALS)
@np.errstate(invalid="ignore")
def test_special_values_stay_where_they_are(name, layout, order):
    """A tile has 16 pixels, but each result is that of its own window."""
    case = Case(**CASES["one block of tiles"])
    SPECIALS[name](case)
    expected, actual = case.forward(), forward(case, layout, order)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(actual[~finite], expected[~finite])
    scale = magnitudes(case)[finite]
    assert (np.abs(actual[finite] - expected[finite]) <= 2e-6 * scale + 1e-6).all()


@LAYOUTS
def test_large_pixels_do_not_spoil_their_neighbours(layout, order):
    case = Case(**CASES["one block of tiles"])
    case.x *= np.float32(10) ** np.random.default_rng(2).uniform(-6, 6, (1, 1, *case.x.shape[2:])).astype("float32")
    error = np.abs(forward(case, layout, order) - case.forward())
    assert (error <= 2e-6 * magnitudes(case)).all()


@LAYOUTS
def test_windows_of_zeros_give_zeros(layout, order):
    case = Case(**CASES["one block of tiles"])
    case.x[...] = 0
    case.x[:, :, 4, 4] = 1 / 3
    actual = forward(case, layout, order)
    np.testing.assert_array_equal(actual == 0, case.forward() == 0)


def test_whole_numbers_are_exact():
    case = Case(**CASES["one block of tiles"])
    rng = np.random.default_rng(3)
    case.x, case.w, case.gy = (rng.integers(-9, 10, a.shape).astype("float32") for a in (case.x, case.w, case.gy))
    for name, operands, attrs, expected in case.primitives():
        (actual,) = call(name, operands, [(expected.shape, "float32")], attrs)
        np.testing.assert_array_equal(actual, expected, err_msg=name)


@LAYOUTS
@np.errstate(invalid="ignore")
def test_special_values_in_the_weight_gradient(layout, order):
    case = Case(**CASES["one block of tiles"])
    case.x[0, 5, 0, 0], case.x[1, 9, 4, 4], case.gy[0, 7, 0, 3] = np.inf, np.nan, -np.inf
    expected, operands = case.weight_grad(), [layout(case.gy), layout(case.x)]
    attrs = {**case.attrs, "shape": (3, 3)}
    (actual,) = call("conv_weight_grad", operands, [(expected.shape, "float32")], attrs)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(actual[~finite], expected[~finite])
    np.testing.assert_allclose(actual[finite], expected[finite], rtol=1e-4, atol=1e-4)


def test_errors_are_about_those_of_direct_summation(monkeypatch):
    errors = []
    for least in (winograd_cost.LEAST, 10**9):
        monkeypatch.setattr(winograd_cost, "LEAST", least)
        case = Case((2, 64, 20, 20), (64, 64, 3, 3), padding=1)
        for name, operands, attrs, expected in case.primitives():
            (actual,) = call(name, operands, [(expected.shape, "float32")], attrs)
            errors.append((name, np.sqrt(np.mean((actual - expected) ** 2)) / np.sqrt(np.mean(expected**2))))
    for (name, ours), (_, direct) in zip(errors[:3], errors[3:]):
        assert ours != direct and ours <= 2.5 * direct, (name, ours, direct)
