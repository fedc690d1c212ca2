"""Pools and their gradients against the meaning of their primitives, and against PyTorch."""

import numpy as np
import pytest
from template_harness import bind, call, channels_last

import rushlight.compiler.pool
import rushlight.ir.primitives.window  # noqa: F401 - declares the primitives
from rushlight.ir.primitive import PRIMITIVES


def out_shape(size, kernel, stride, padding, dilation):
    return tuple(
        (i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in zip(size, kernel, stride, padding, dilation)
    )


def fixed(x, kernel, stride, padding=0, dilation=1):
    """The attributes of a pool of an array shaped x; the number of spatial dimensions is that of `kernel`."""
    spread = lambda value: (value,) * len(kernel) if isinstance(value, int) else value  # noqa: E731
    window = {"kernel": kernel, "stride": spread(stride), "padding": spread(padding), "dilation": spread(dilation)}
    return {**window, "shape": out_shape(x[-len(kernel) :], **window)}


def averaging(attrs, count_include_pad=True, divisor=None):
    kept = {name: value for name, value in attrs.items() if name != "dilation"}
    return {**kept, "count_include_pad": count_include_pad, "divisor": divisor}


def adjoint(attrs, x):
    return {**attrs, "shape": x.shape[x.ndim - len(attrs["shape"]) :]}


def random(shape, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    if "int" in dtype:
        return rng.integers(0, 100, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def check(name, operands, attrs, layout=lambda a: a, order=None, **options):
    """Run a primitive and compare every result with its meaning; returns the results."""
    expected = PRIMITIVES[name].numpy_rule(*operands, **attrs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    before = [a.copy() for a in operands]
    operands = [layout(a) for a in operands]
    orders = None if order is None else [order] * len(expected)
    actual = call(name, operands, [(e.shape, str(e.dtype)) for e in expected], attrs, orders=orders, **options)
    tolerance = {"float16": 4e-3, "float32": 1e-5}.get(str(expected[0].dtype), 1e-12)
    for a, e in zip(actual, expected):
        np.testing.assert_allclose(a.astype(np.float64), e.astype(np.float64), rtol=tolerance, atol=tolerance)
    for a, b in zip(operands, before):
        np.testing.assert_array_equal(a, b, err_msg=f"{name} changed its operand")
    return actual


def check_all(x, attrs, layout=lambda a: a, order=None):
    """Both pools and both gradients with the same windows."""
    values, indices = check("max_pool", [x], attrs, layout, order)
    gy = random(values.shape, str(x.dtype), 1)
    check("max_pool_grad", [gy, indices.copy()], adjoint({"shape": attrs["shape"]}, x), layout, order)
    for count_include_pad, divisor in ((True, None), (False, None), (False, 5)):
        means = averaging(attrs, count_include_pad, divisor)
        if set(attrs["dilation"]) == {1}:
            check("avg_pool", [x], means, layout, order)
            check("avg_pool_grad", [gy], adjoint(means, x), layout, order)


GEOMETRIES = {
    "2x2": ((2, 3, 8, 8), (2, 2), 2),
    "2x2 wide": ((1, 2, 4, 70), (2, 2), 2),
    "3x3 stride 2": ((2, 3, 11, 12), (3, 3), 2, 1),
    "2x2 of rows of two": ((3, 7, 4, 4), (2, 2), 2),
    "2x2 of many short rows": ((1, 3, 32, 8), (2, 2), 2),
    "2x2 of odd planes": ((2, 3, 9, 7), (2, 2), 2),
    "3x3 stride 1": ((1, 2, 7, 40), (3, 3), 1, 1),
    "3x3 stride 2 wide": ((1, 2, 9, 83), (3, 3), 2, 1),
    "stride 3": ((1, 3, 10, 34), (2, 3), (2, 3), (0, 1)),
    "dilated": ((2, 2, 12, 13), (3, 2), (1, 2), (1, 1), (2, 1)),
    "dilated along the row": ((2, 2, 6, 40), (2, 3), 1, (1, 1), (1, 3)),
    "whole plane": ((2, 4, 5, 6), (5, 6), 1),
    "single place": ((2, 3, 1, 1), (1, 1), 1),
    "1-d": ((2, 3, 21), (3,), 2, 1),
    "3-d": ((1, 2, 5, 6, 7), (2, 3, 2), (2, 1, 2), (1, 1, 0)),
    "no batch": ((3, 9, 10), (2, 3), 2),
    "two batches": ((2, 3, 2, 8, 8), (2, 2), 2),
}


@pytest.mark.parametrize("name", GEOMETRIES)
def test_geometries(name):
    shape, *window = GEOMETRIES[name]
    check_all(random(shape), fixed(shape, *window))


@pytest.mark.parametrize("name", ["2x2", "3x3 stride 2", "dilated", "3-d", "1-d"])
def test_channels_last(name):
    shape, *window = GEOMETRIES[name]
    shape = (shape[0], 19, *shape[2:])
    check_all(random(shape), fixed(shape, *window), channels_last, (0, *range(2, len(shape)), 1))


@pytest.mark.parametrize("name", ["2x2", "3x3 stride 2"])
def test_odd_strides(name):
    shape, *window = GEOMETRIES[name]

    def scattered(a):
        wide = np.zeros((a.shape[0], a.shape[1] + 1, a.shape[3] * 2, a.shape[2]), a.dtype)
        view = wide[:, 1:, ::2].swapaxes(2, 3)
        view[...] = a
        return view

    check_all(random(shape), fixed(shape, *window), scattered, (1, 0, 3, 2))


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_dtypes(dtype):
    shape, *window = GEOMETRIES["3x3 stride 2"]
    check_all(random(shape, dtype), fixed(shape, *window))
    check_all(random(shape, dtype), fixed(shape, *window), channels_last, (0, 2, 3, 1))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_integer_maximum(dtype):
    x = random((2, 3, 9, 10), dtype) * (1 if dtype == "uint8" else -1)
    x[0, 0] = 255 if dtype == "uint8" else -128
    check("max_pool", [x], fixed(x.shape, (3, 3), 2, 1))
    check("max_pool", [x], fixed(x.shape, (3, 3), 2, 1), channels_last, (0, 2, 3, 1))


def test_bfloat16():
    x = random((2, 3, 8, 9))
    bits = (x.view(np.uint32) >> 16).astype(np.uint16)
    x = (bits.astype(np.uint32) << 16).view(np.float32)
    attrs = fixed(x.shape, (2, 2), 2)
    expected, places = PRIMITIVES["max_pool"].numpy_rule(x, **attrs)
    shapes = [(expected.shape, "bfloat16"), (expected.shape, "int64")]
    values, indices = call("max_pool", [bits], shapes, attrs, dtypes=["bfloat16"])
    np.testing.assert_array_equal((values.astype(np.uint32) << 16).view(np.float32), expected)
    np.testing.assert_array_equal(indices, places)


@pytest.mark.parametrize("layout", [lambda a: a, channels_last])
def test_special_values(layout):
    x = random((1, 5, 8, 9))
    x[0, 0] = -np.inf
    x[0, 1, 2:5, 2:5] = np.nan
    x[0, 2] = 3.0
    x[0, 3, ::2] = np.inf
    check("max_pool", [x], fixed(x.shape, (3, 3), 2, 1), layout)
    check("max_pool", [x], fixed(x.shape, (2, 3), 1, (1, 1)), layout)
    check("adaptive_max_pool", [x], {"shape": (3, 2)}, layout)


def test_windows_beyond_the_edge():
    """ceil_mode: the last windows reach past the padded input."""
    x = random((2, 3, 8, 8))
    attrs = {**fixed(x.shape, (3, 3), 2, 1), "shape": (5, 5)}
    check_all(x, attrs)
    check_all(x, attrs, channels_last, (0, 2, 3, 1))


@pytest.mark.parametrize("layout, order", [(lambda a: a, None), (channels_last, (0, 2, 3, 1))])
@pytest.mark.parametrize("size, shape", [((7, 7), (1, 1)), ((8, 37), (3, 2)), ((5, 4), (5, 4)), ((3, 2), (6, 5))])
def test_adaptive(size, shape, layout, order):
    x, attrs = random((2, 18, *size)), {"shape": shape}
    values, indices = check("adaptive_max_pool", [x], attrs, layout, order)
    check("adaptive_avg_pool", [x], attrs, layout, order)
    gy = random(values.shape, seed=1)
    check("adaptive_avg_pool_grad", [gy], {"shape": size}, layout, order)
    check("max_pool_grad", [gy, indices.copy()], {"shape": size}, layout, order)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("size", [(1, 1), (7, 7), (3, 43)])
def test_maximum_of_a_whole_plane(size, dtype):
    """The first of equals, the last NaN, and the first place of all if nothing is larger than the lowest."""
    x = random((2, 18, *size), dtype)
    if "float" in dtype:
        x[0, 0] = -np.inf
        x[0, 1, 0, 0] = x[0, 2, -1, -1] = x[0, 2, size[0] // 2, size[1] // 2] = np.nan
    x[0, 3] = 3
    x[0, 4, size[0] // 2] = 120
    (launch,) = bind(
        "adaptive_max_pool", [x], [((2, 18, 1, 1), dtype), ((2, 18, 1, 1), "int64")], {"shape": (1, 1)}
    ).lowered.launches
    assert launch.kernel.name == "max_pool_global"
    check("adaptive_max_pool", [x], {"shape": (1, 1)})


def test_adaptive_in_other_dimensions():
    for x, shape in ((random((2, 3, 11)), (4,)), (random((1, 2, 4, 5, 6)), (2, 3, 2)), (random((3, 5, 6)), (2, 2))):
        for name in ("adaptive_max_pool", "adaptive_avg_pool"):
            check(name, [x], {"shape": shape})


def test_empty_batch():
    x, attrs = random((0, 3, 8, 8)), fixed((0, 3, 8, 8), (2, 2), 2)
    shapes = [((0, 3, 4, 4), "float32"), ((0, 3, 4, 4), "int64")]
    values, indices = call("max_pool", [x], shapes, attrs)
    assert values.shape == indices.shape == (0, 3, 4, 4)
    (gx,) = call("max_pool_grad", [values, indices], [(x.shape, "float32")], {"shape": (8, 8)})
    assert gx.shape == x.shape


def launched(name, shape, small, window=((2, 2), 2)):
    """What a maximum of windows is lowered to."""
    shapes = [((*shape[:2], *small), t) for t in ("float32", "int64")]
    return bind(name, [random(shape)], shapes, fixed(shape, *window))


def test_other_sizes_share_a_kernel():
    """A batch of another size meets the guards of the first, and compiles nothing."""
    kernels = []
    for count in (2, 9):
        bound = launched("max_pool", (count, 3, 40, 40), (20, 20))
        kernels.append([launch.kernel for launch in bound.lowered.launches])
        assert not any("==" in guard for guard in bound.guards), bound.guards
    assert kernels[0] == kernels[1]


@pytest.mark.parametrize(
    "plane, small, window, name",
    [
        ((8, 8), (4, 4), ((2, 2), 2), "max_pool_pairs"),
        ((4, 4), (2, 2), ((2, 2), 2), "max_pool_pairs"),
        ((12, 12), (6, 6), ((2, 2), 2), "max_pool_taps"),
        ((64, 64), (32, 32), ((2, 2), 2), "max_pool_taps"),
        ((112, 112), (56, 56), ((3, 3), 2, 1), "max_pool_taps"),
        ((64, 64), (64, 64), ((3, 3), 1, 1), "max_pool_taps"),
        ((64, 64), (60, 60), ((5, 5), 1), "max_pool_row"),
    ],
)
def test_common_windows_have_kernels_of_their_own(plane, small, window, name):
    (launch,) = launched("max_pool", (4, 8, *plane), small, window).lowered.launches
    assert launch.kernel.name == name


def test_against_torch():
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    x = torch.randn(2, 5, 13, 14, requires_grad=True)
    values, indices = functional.max_pool2d(x, 3, 2, 1, return_indices=True)
    gy = torch.randn_like(values)
    values.backward(gy)
    attrs = fixed(tuple(x.shape), (3, 3), 2, 1)
    shapes = [(tuple(values.shape), "float32"), (tuple(values.shape), "int64")]
    ours = call("max_pool", [x.detach().numpy()], shapes, attrs)
    np.testing.assert_array_equal(ours[0], values.detach())
    np.testing.assert_array_equal(ours[1], indices)
    grads = call("max_pool_grad", [gy.numpy(), ours[1]], [(tuple(x.shape), "float32")], {"shape": (13, 14)})
    np.testing.assert_allclose(grads[0], x.grad, rtol=1e-6)
