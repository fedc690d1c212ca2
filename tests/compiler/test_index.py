"""Templates that read and write by index, against NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest
from template_harness import bind, call, rebind

import rushlight.compiler.index_write as index_write
from rushlight.compiler.index import read_kernel
from rushlight.compiler.launch import Lowered
from rushlight.compiler.run import evaluate, run_lowered
from rushlight.compiler.templates import TEMPLATES, Array, Context
from rushlight.ir.dtypes import float32, int64
from rushlight.ir.graph import Graph

RANDOM = np.random.default_rng(7)
DTYPES = ["bool", "uint8", "int16", "float32", "int64", "complex64", "complex128"]


def numbers(shape, dtype="float32", scale=50):
    return (RANDOM.standard_normal(shape) * scale).astype(dtype)


def gather(x, index, dim, **keywords):
    (out,) = call("gather", [x, index], [(index.shape, str(x.dtype))], {"dim": dim}, **keywords)
    return out


def take(x, *indices, dim=0, **keywords):
    shape = (*x.shape[:dim], *indices[0].shape, *x.shape[dim + len(indices) :])
    (out,) = call("take", [x, *indices], [(shape, str(x.dtype))], {"dim": dim}, **keywords)
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_gather(dtype, dim):
    x = numbers((5, 6, 7), dtype)
    index = RANDOM.integers(0, x.shape[dim], (5, 6, 7))
    np.testing.assert_array_equal(gather(x, index, dim), np.take_along_axis(x, index, dim))


def test_gather_strided_smaller_and_expanded():
    x = numbers((9, 8, 12))[:, ::-1, 1::2].transpose(2, 0, 1)
    index = np.broadcast_to(RANDOM.integers(0, 9, (4, 3, 1)), (4, 3, 8))
    expected = np.take_along_axis(x[:4], index, 1)
    np.testing.assert_array_equal(gather(x, index, 1), expected)
    np.testing.assert_array_equal(gather(x, index, 1, orders=[(2, 0, 1)]), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_take_rows(dtype):
    x = numbers((11, 37), dtype)
    index = RANDOM.integers(0, 11, (6, 5))
    np.testing.assert_array_equal(take(x, index), x[index])


def test_take_several_indices():
    x = numbers((3, 5, 6, 7))
    i, j = RANDOM.integers(0, 5, (4, 2)), RANDOM.integers(0, 6, (4, 2))
    np.testing.assert_array_equal(take(x, i, j, dim=1), x[:, i, j])
    narrow = i.astype(np.int32)
    np.testing.assert_array_equal(take(x[..., ::2], narrow, j, dim=1), x[:, i, j, ::2])


def test_take_scalar_and_empty():
    x = numbers((4, 5))
    np.testing.assert_array_equal(take(x, np.array(3), dim=1), x[:, 3])
    assert take(x, np.zeros((0, 2), np.int64)).shape == (0, 2, 5)


@pytest.mark.parametrize("bad", [-1, 11, 2**62, -(2**63)])
@pytest.mark.parametrize("dim", [0, 1])
def test_index_out_of_bounds(bad, dim):
    x, index = numbers((11, 11)), RANDOM.integers(0, 11, 9)
    index[4] = bad
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for dimension {dim} with size 11"):
        take(x, index, dim=dim)
    with pytest.raises(IndexError, match="out of bounds"):
        gather(x, np.broadcast_to(index, (11, 9)), dim)


def test_index_into_nothing():
    with pytest.raises(IndexError, match="size 0"):
        take(np.zeros((0, 4), np.float32), np.zeros(2, np.int64))


def test_other_sizes_share_the_kernel():
    take(numbers((11, 4)), RANDOM.integers(0, 11, 9))
    kernels = read_kernel.cache_info().misses
    take(numbers((300, 4)), RANDOM.integers(0, 300, 77))
    assert read_kernel.cache_info().misses == kernels


# -- writing ----------------------------------------------------------------------------------------
UFUNCS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def scattered(x, index, source, dim, mode):
    """The meaning of `scatter`, one element after the other."""
    out = x.copy()
    for at in np.ndindex(index.shape):
        target = (*at[:dim], index[at], *at[dim + 1 :])
        out[target] = source[at] if mode == "set" else UFUNCS[mode](out[target], source[at])
    return out


def scatter(x, index, source, dim, mode="set", **keywords):
    attrs = {"dim": dim, "mode": mode}
    (out,) = call("scatter", [x, index, source], [(x.shape, str(x.dtype))], attrs, **keywords)
    return out


def put(x, values, *indices, dim=0, mode="set", **keywords):
    attrs = {"dim": dim, "mode": mode}
    (out,) = call("put", [x, values, *indices], [(x.shape, str(x.dtype))], attrs, **keywords)
    return out


@pytest.mark.parametrize("mode", ["set", "add", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64"])
def test_scatter(mode, dtype):
    x, source = numbers((4, 5, 6), dtype, 5), numbers((4, 5, 6), dtype, 5)
    for dim in range(3):
        index = RANDOM.integers(0, x.shape[dim], [min(n, 4) for n in x.shape])
        expected = scattered(x, index, source, dim, mode)
        np.testing.assert_array_equal(scatter(x, index, source[:4, :4, :4], dim, mode), expected)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("mode", ["set", "add", "mul"])
def test_scatter_complex(mode, dtype):
    x, source = (numbers((5, 37), dtype) + 1j * numbers((5, 37)) for _ in range(2))
    x, source = x.astype(dtype), source.astype(dtype)
    index = RANDOM.integers(0, 5, (5, 37))
    expected = scattered(x, index, source, 0, mode)
    np.testing.assert_allclose(scatter(x, index, source, 0, mode), expected, rtol=1e-5)


def test_scatter_into_other_strides():
    x, source = numbers((6, 7)), numbers((7, 14))[:, ::2].T
    rows = RANDOM.integers(0, 6, (6, 7))
    for dim, index in ((0, rows), (1, np.broadcast_to(rows[:, :1], (6, 7)))):
        expected = scattered(x, index, source, dim, "add")
        np.testing.assert_allclose(scatter(x, index, source, dim, "add", orders=[(1, 0)]), expected, rtol=1e-6)


def test_in_place():
    x, values, index = numbers((9, 5)), numbers((4, 5)), np.array([3, 1, 3, 8])
    expected = x.copy()
    np.add.at(expected, index, values)
    graph = Graph()
    shapes = ((9, 5), float32), ((4, 5), float32), ((4,), int64)
    inputs = [graph.tensor(*shape) for shape in shapes]
    graph.returns([inputs[0]], aliases=[0])
    arrays = [Array("input", i, v.shape, v.strides, v.dtype) for i, v in enumerate(inputs)]
    lowered = Lowered([])
    result = Array("output", 0, *(getattr(inputs[0], name) for name in ("shape", "strides", "dtype")))
    TEMPLATES["put"](Context(lowered), SimpleNamespace(attrs={"dim": 0, "mode": "add"}), arrays, [result])
    run_lowered(lowered, graph, [x, values, index])
    np.testing.assert_allclose(x, expected, rtol=1e-6)


@pytest.mark.parametrize("mode", ["set", "add"])
@pytest.mark.parametrize("width", [3, 64, 100])
def test_put_rows(mode, width):
    x, values = numbers((9, width)), numbers((5, 6, width))
    index = RANDOM.integers(0, 9, (5, 6))
    expected = x.copy()
    for at in np.ndindex(index.shape):
        expected[index[at]] = values[at] + (expected[index[at]] if mode == "add" else 0)
    for pieces in (1, 4):
        np.testing.assert_array_equal(put(x, values, index, mode=mode, pieces=pieces), expected)


def test_put_several_indices():
    x, values = numbers((3, 5, 6, 7)), numbers((3, 4, 2, 7))
    i, j = RANDOM.integers(0, 5, (4, 2)), RANDOM.integers(0, 6, (4, 2))
    expected = x.copy()
    np.add.at(expected, (slice(None), i, j), values)
    np.testing.assert_allclose(put(x, values, i, j, dim=1, mode="add"), expected, rtol=1e-5)


@pytest.mark.parametrize("mode", ["set", "add", "max"])
@pytest.mark.parametrize("width", [None, 4])
@pytest.mark.parametrize("cached", [0, 1 << 17])
def test_many_collisions(mode, width, cached, monkeypatch):
    monkeypatch.setattr(index_write, "CACHED", cached)
    tail = () if width is None else (width,)
    x, values, index = numbers((100, *tail)), numbers((40000, *tail)), RANDOM.integers(0, 100, 40000)
    results = [put(x, values, index, mode=mode, pieces=pieces) for pieces in (1, 2, 7)]
    expected = x.copy()
    if mode == "set":
        expected[index] = values
    else:
        UFUNCS[mode].at(expected, index, values)
    np.testing.assert_allclose(results[0], expected, rtol=1e-3, atol=mode == "add")
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    index[777] = 100
    with pytest.raises(IndexError, match="index 100 is out of bounds for dimension 0 with size 100"):
        put(x, values, index, mode=mode)


@pytest.mark.parametrize("width", [256, 300, 1024])
@pytest.mark.parametrize("mode", ["set", "add"])
def test_threads_share_long_rows(mode, width):
    x, values, index = numbers((64, width)), numbers((160, width)), RANDOM.integers(0, 64, 160)
    expected = x.copy()
    for at, row in zip(index, values):
        expected[at] = row + (expected[at] if mode == "add" else 0)
    for pieces in (1, 2, 5):
        np.testing.assert_array_equal(put(x, values, index, mode=mode, pieces=pieces), expected)


@pytest.mark.parametrize("width", [None, 1024])
def test_two_threads_find_work(width, monkeypatch):
    """Threads that share the rows of the result: there must be at least two pieces for two processors."""
    monkeypatch.setattr(index_write.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(index_write, "CACHED", 0)
    tail = () if width is None else (width,)
    arrays = numbers((100, *tail)), numbers((40000, *tail)), RANDOM.integers(0, 100, 40000)
    bound = bind("put", arrays, [((100, *tail), "float32")], {"dim": 0, "mode": "set"})
    launch = bound.lowered.launches[-1]
    work, grain = evaluate(launch.range, bound.symbols), evaluate(launch.grain, bound.symbols)
    assert work == 100 and work >= 2 * grain


@pytest.mark.parametrize("bad", [-1, 6, 2**62])
@pytest.mark.parametrize("dim", [0, 1])
def test_write_out_of_bounds(bad, dim):
    x, index = numbers((6, 6)), RANDOM.integers(0, 6, (6, 6))
    index[3, 2] = bad
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for dimension {dim} with size 6"):
        scatter(x, index, x, dim)
    with pytest.raises(IndexError, match="out of bounds"):
        put(x, x, index[3], dim=dim, mode="add")


def test_sums_by_chunks_keep_the_sign_of_zero():
    x, index = np.full(3, -0.0, np.float32), np.zeros(40000, np.int64)
    out = put(x, np.zeros(40000, np.float32), index, mode="add")
    np.testing.assert_array_equal(np.signbit(out), [False, True, True])


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "complex64"])
def test_sums_by_chunks(dtype):
    x, index = numbers((4, 3), dtype), RANDOM.integers(0, 4, 40000)
    values = (RANDOM.integers(0, 9, (40000, 3)) == 0).astype(dtype)
    expected = x.copy()
    np.add.at(expected, index, values)
    out = put(x, values, index, mode="add", orders=[(1, 0)])
    np.testing.assert_allclose(out, expected, rtol=0.02)


def test_scatter_of_nothing_copies():
    x = numbers((3, 4))
    np.testing.assert_array_equal(scatter(x, np.zeros((0, 4), np.int64), x[:0], 0), x)
    x = np.array(2.5, np.float32)
    np.testing.assert_array_equal(put(numbers(3), x, np.array(1))[1], x)


@pytest.mark.parametrize(("before", "after"), [((9, 40, 6), (300, 45, 77)), ((50, 3, 50000), (70, 5, 90000))])
def test_one_lowering_serves_other_sizes(before, after):
    def arrays(rows, width, count):
        return numbers((rows, width)), numbers((count, width)), RANDOM.integers(0, rows, count)

    x, values, index = arrays(*before)
    sizes = dict(zip(before, after))
    taken = bind("take", [x, index], [(values.shape, "float32")], {"dim": 0})
    written = bind("put", [x, values, index], [(x.shape, "float32")], {"dim": 0, "mode": "add"})
    x, values, index = arrays(*after)
    taken, written = rebind(taken, [x, index], sizes), rebind(written, [x, values, index], sizes)
    taken.run(3)
    np.testing.assert_array_equal(taken.outputs[0], x[index])
    written.run(3)
    expected = x.astype(np.float64)
    np.add.at(expected, index, values.astype(np.float64))
    np.testing.assert_allclose(written.outputs[0], expected, rtol=1e-3, atol=0.1)
