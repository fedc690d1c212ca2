"""Compaction kernels against NumPy's nonzero and boolean indexing."""

import ctypes

import numpy as np
import pytest

from rushlight.compiler import index_compact as compact
from rushlight.compiler.run import ENTRY, split
from rushlight.ir.dtypes import dtype_named

RANDOM = np.random.default_rng(1)


def run(kernel, arrays, params, total, pieces=3):
    buffers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    numbers = (ctypes.c_int64 * len(params))(*params)
    entry = ENTRY(kernel.address)
    for begin, end in reversed(split(total, pieces)):
        entry(ctypes.addressof(buffers), ctypes.addressof(numbers), begin, end)


def starts_of(x, pieces):
    blocks = compact.block_count(x.size)
    starts = np.full(blocks + 1, -1, np.int64)
    run(compact.count_kernel(dtype_named(str(x.dtype))), [x, starts], [x.size], blocks, pieces)
    run(compact.starts_kernel(), [starts], [blocks], 1)
    return starts, blocks


def nonzero(x, pieces=3, by_column=True):
    starts, blocks = starts_of(x, pieces)
    total = int(starts[-1])
    guarded = np.full((total + 1) * x.ndim, -7, np.int64)  # one row more, which must stay
    out = guarded[: total * x.ndim]
    steps = (1, total) if by_column else (x.ndim, 1)
    kernel = compact.positions_kernel(dtype_named(str(x.dtype)), x.ndim)
    run(kernel, [x, starts, out], [x.size, *steps, *x.shape], blocks, pieces)
    assert (guarded[total * x.ndim :] == -7).all()
    return out.reshape(x.ndim, total).T if by_column else out.reshape(total, x.ndim)


def select(values, mask, pieces=3):
    starts, blocks = starts_of(mask, pieces)
    out = np.full(int(starts[-1]) + 1, -7).astype(values.dtype)
    last = out[-1]
    run(compact.values_kernel(values.itemsize), [mask, starts, values, out], [mask.size], blocks, pieces)
    assert out[-1] == last
    return out[:-1]


def masks(shape, density):
    return RANDOM.random(shape) < density


@pytest.mark.parametrize("density", [0, 0.01, 0.5, 1])
@pytest.mark.parametrize(
    "shape", [(1,), (64,), (1000,), (40000,), (300, 131), (50, 7, 3), (3, 2, 5, 1, 70), (20000, 3)]
)
def test_nonzero(shape, density):
    x = masks(shape, density)
    expected = np.argwhere(x)
    for pieces in (1, 4):
        np.testing.assert_array_equal(nonzero(x, pieces), expected)
    np.testing.assert_array_equal(nonzero(x, by_column=False), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", "int64", "float64", "complex64"])
def test_nonzero_of_numbers(dtype):
    x = (RANDOM.integers(-1, 2, 1003) * 1.5).astype(dtype)
    x[[3, 5]] = 0
    if x.dtype.kind in "fc":
        x[[7, 9]] = -0.0, np.nan
    if x.dtype.kind == "c":
        x[11] = 1j
    np.testing.assert_array_equal(nonzero(x), np.argwhere(x))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("density", [0, 0.1, 1])
def test_select(dtype, density):
    values, mask = RANDOM.integers(0, 99, 33333).astype(dtype), masks(33333, density)
    np.testing.assert_array_equal(select(values, mask), values[mask])


def test_nothing():
    assert nonzero(np.zeros(0, bool)).shape == (0, 1)
    assert compact.block_count(0) == 0
