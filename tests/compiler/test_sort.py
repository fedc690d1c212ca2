"""Sorting templates against NumPy's stable sort."""

import numpy as np
import pytest
from template_harness import bind, call, rebind

import rushlight.compiler.sort as sort_template

RANDOM = np.random.default_rng(3)
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def numbers(shape, dtype):
    x = RANDOM.standard_normal(shape) * 60
    return (x > 0 if dtype == "bool" else x.astype(np.int64) if dtype == "uint8" else x).astype(dtype)


def sort(x, dim=-1, descending=False, **keywords):
    dim %= max(x.ndim, 1)
    shapes = [(x.shape, str(x.dtype)), (x.shape, "int64")]
    return call("sort", [x], shapes, {"dim": dim, "descending": descending}, **keywords)


def check(x, dim=-1, descending=False, **keywords):
    values, indices = sort(x, dim, descending, **keywords)
    expected = order(x, dim, descending)
    np.testing.assert_array_equal(indices, expected)
    picked = np.take_along_axis(x, expected, dim)
    assert values.tobytes() == picked.tobytes()  # bits: the sign of zero, the payload of NaN


def order(x, dim, descending):
    """Stable positions; NumPy sorts NaN last as well."""
    if not descending:
        return np.argsort(x, dim, kind="stable")
    backwards = np.argsort(np.flip(x, dim), dim, kind="stable")
    return np.flip(x.shape[dim] - 1 - backwards, dim)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [1, 2, 7, 33, 64, 65, 300])
def test_rows(dtype, length, descending):
    check(numbers((5, length), dtype), descending=descending)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("n", [5, 70])
def test_other_dims_and_strides(dim, n):
    shape = [3, 4, 5]
    shape[dim] = n
    check(numbers(shape, "float32"), dim)
    x = numbers((*shape[:2], 2 * shape[2]), "int32")[:, ::-1, ::2].transpose(1, 0, 2)
    values, indices = sort(x, 0, orders=[(2, 0, 1), (1, 2, 0)])
    np.testing.assert_array_equal(indices, np.argsort(x, 0, kind="stable"))
    np.testing.assert_array_equal(values, np.sort(x, 0))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("length", [60, 500])
@pytest.mark.parametrize("descending", [False, True])
def test_special_numbers(dtype, length, descending):
    special = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 6e-8, -6e-8, 1, -1], dtype)
    check(RANDOM.choice(special, (3, length)), descending=descending)


@pytest.mark.parametrize("dtype", ["int16", "int64"])
def test_extremes_of_integers(dtype):
    info = np.iinfo(dtype)
    check(RANDOM.choice(np.array([info.min, info.min + 1, -1, 0, 1, info.max], dtype), (2, 100)))


def test_bfloat16():
    bits = (numbers((3, 100), "float32").view(np.uint32) >> 16).astype(np.uint16)
    shapes = [(bits.shape, "bfloat16"), (bits.shape, "int64")]
    values, indices = call("sort", [bits], shapes, {"dim": 1, "descending": False}, dtypes=["bfloat16"])
    numeric = (bits.astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(indices, np.argsort(numeric, 1, kind="stable"))
    np.testing.assert_array_equal(values, np.take_along_axis(bits, indices, 1))


def test_scalar_and_empty():
    values, indices = sort(np.array(3.5))
    assert values == 3.5 and indices == 0
    assert sort(np.zeros((3, 0)))[0].shape == (3, 0)
    assert sort(np.zeros((0, 3)), 1)[1].shape == (0, 3)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int64", "float64"])
def test_long_rows(dtype, descending, monkeypatch):
    monkeypatch.setattr(sort_template, "LONG", 1000)
    check(numbers((1, 70001), dtype), descending=descending)
    check(numbers((3, 40000), dtype).T, 0, descending)


def test_long_row_with_few_varying_bytes(monkeypatch):
    monkeypatch.setattr(sort_template, "LONG", 1000)
    x = RANDOM.integers(0, 3, 50000) << 40
    check(x)
    check(np.full(40000, 7.5, np.float32))


@pytest.mark.parametrize("length", [20, 200])
def test_pieces_do_not_matter(length):
    x = numbers((9, length), "float32")
    for pieces in (1, 2, 9):
        check(x, pieces=pieces)


def test_complex_has_no_order():
    with pytest.raises(TypeError, match="complex"):
        sort(np.zeros(3, np.complex64))


@pytest.mark.parametrize(("lengths", "rows"), [((20, 50), (3, 7)), ((200, 1300), (3, 7)), ((70000, 50001), (2, 3))])
def test_one_lowering_serves_other_sizes(lengths, rows, monkeypatch):
    monkeypatch.setattr(sort_template, "LONG", 1 << 15)
    first = numbers((rows[0], lengths[0]), "float32")
    shapes = [(first.shape, "float32"), (first.shape, "int64")]
    bound = bind("sort", [first], shapes, {"dim": 1, "descending": False})
    x = numbers((rows[1], lengths[1]), "float32")
    again = rebind(bound, [x], dict(zip(first.shape, x.shape)))
    again.run(2)
    np.testing.assert_array_equal(again.outputs[1], np.argsort(x, 1, kind="stable"))
