"""Matrix products against NumPy, at every level of the processor, next to unreadable memory."""

import ctypes
import itertools
import mmap
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from template_harness import bind, call

from rushlight.compiler import dot, gemm, target
from rushlight.compiler.dot_shape import Product
from rushlight.compiler.launch import Lowered
from rushlight.compiler.run import Bound
from rushlight.compiler.templates import Array, Context
from rushlight.ir.dtypes import bfloat16, dtype_named, float32, float64, int64
from rushlight.ir.graph import Graph, Value
from rushlight.ir.sizes import Scope, contiguous_strides

# unit roundoff of a result, and of the numbers it is summed in
ROUNDOFF = {"float16": (2.0**-11, 2.0**-24), "bfloat16": (2.0**-8, 2.0**-24), "float32": (2.0**-24,) * 2}
ROUNDOFF |= {"float64": (2.0**-53,) * 2, "complex64": (2.0**-24,) * 2, "complex128": (2.0**-53,) * 2}


# -- numbers ----------------------------------------------------------------------------------------
def guarded(array: np.ndarray) -> np.ndarray:
    """A copy whose last byte is the last before a page that must not be touched."""
    page = mmap.PAGESIZE
    room = -(-array.nbytes // page) * page
    memory = mmap.mmap(-1, room + page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None).mprotect
    assert protect(ctypes.c_void_p(address + room), ctypes.c_size_t(page), 0) == 0  # PROT_NONE
    copy = np.frombuffer(memory, array.dtype, array.size, room - array.nbytes).reshape(array.shape)
    copy[...] = array
    return copy


def numbers(shape, dtype: str, layout: str, seed: int) -> np.ndarray:
    """Random numbers; layout n: row-major, t: transposed in memory, s: neither dimension contiguous."""
    random = np.random.default_rng(seed)
    if layout == "t":
        return np.swapaxes(numbers((*shape[:-2], shape[-1], shape[-2]), dtype, "n", seed), -1, -2)
    if layout == "s":
        wide = numbers((*shape[:-2], 2 * shape[-2], 3 * shape[-1]), dtype, "n", seed)
        return wide[..., 1::2, 2::3]
    if dtype == "bfloat16":
        return guarded(to_bfloat(random.standard_normal(shape)))
    if dtype.startswith(("int", "uint")):
        limits = np.iinfo(dtype)
        return guarded(random.integers(limits.min, limits.max, shape, dtype, endpoint=True))
    values = random.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * random.standard_normal(shape)
    return guarded(values.astype(dtype))


def to_bfloat(values) -> np.ndarray:
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def exact(array: np.ndarray, dtype: str) -> np.ndarray:
    """The numbers in the widest type of their kind."""
    if dtype == "bfloat16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if array.dtype.kind in "iu":
        return array
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def check(m, n, k, dtype="float32", layouts="nn", batch=(), order=None, pieces=3) -> None:
    a = numbers((*batch, m, k), dtype, layouts[0], 1)
    b = numbers((*batch, k, n), dtype, layouts[1], 2)
    orders = None if order is None else [order]
    shapes = [((*batch, m, n), dtype)]
    (result,) = call("dot", [a, b], shapes, {}, pieces=pieces, orders=orders, dtypes=[dtype] * 2)
    compare(result, exact(a, dtype), exact(b, dtype), dtype, f"{m} x {n} x {k} {dtype} {layouts} {batch} {order}")


def compare(result, a, b, dtype: str, what: str) -> None:
    """Integers wrap around; floats stay within the bound of a sum of rounded products."""
    wanted = a @ b
    if wanted.dtype.kind in "iu":
        assert np.array_equal(result, wanted), what
        return
    last, sums = ROUNDOFF[dtype]
    bound = np.abs(wanted) * last + 4 * (a.shape[-1] + 1) * sums * (np.abs(a) @ np.abs(b)) + 1e-30
    assert np.all(np.abs(exact(result, dtype) - wanted) <= bound), what


# -- every level of the processor ---------------------------------------------------------------------
SHAPES = [(1, 1, 1), (7, 5, 3), (33, 70, 300), (49, 66, 33), (13, 130, 17), (100, 1, 40), (1, 100, 40), (9, 17, 0)]
FEW = [(1, 1, 300), (3, 70, 130), (70, 2, 65), (2, 70, 513), (16, 50, 200), (1, 210, 20)]
DTYPES = ("float32", "float64", "bfloat16", "float16", "int64", "int32", "int8", "uint8", "complex64", "complex128")


def sweep() -> None:
    """All element types with some layouts, float32 with all."""
    layouts = ["".join(pair) for pair in itertools.product("nts", repeat=2)]
    for i, dtype in enumerate(DTYPES):
        some = ["nn", "nt", "tn", "ss"] if dtype in ("bfloat16", "float16") else layouts[i % 3 :: 3]
        some = layouts if dtype == "float32" else some
        for pair in some:
            for size in SHAPES:
                check(*size, dtype, pair)
            if dtype in ROUNDOFF:
                for size in FEW if dtype == "float32" else FEW[1:2]:
                    check(*size, dtype, pair)
        check(9, 20, 33, dtype, some[0], batch=(2, 3), order=(2, 1, 3, 0))
        check(1, 2100, 20, dtype, some[-1])
    check(3, 4, 12345, "float32", "nn")
    check(5, 4, 8195, "bfloat16", "tn")
    check(2, 3, 8193, "complex64", "nt")
    check(50, 64, 600, "float16", "ns")


@pytest.mark.parametrize("level", list(target.LEVELS))
def test_every_level(level):
    order = list(target.LEVELS)
    here = {width: name for name, (width, _) in target.LEVELS.items()}
    wide = target.LEVELS[level][0] > target.host().vector_bytes
    if wide or order.index(level) < order.index(os.environ.get("RUSHLIGHT_ISA", order[0])):
        pytest.skip(f"this machine has {here.get(target.host().vector_bytes)}")
    path = os.pathsep.join(p for p in sys.path if p)
    environment = {**os.environ, "RUSHLIGHT_ISA": level, "PYTHONPATH": path}
    command = [sys.executable, "-c", "import test_dot; test_dot.sweep()"]
    run = subprocess.run(command, cwd=os.path.dirname(__file__), env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]


# -- one level from here on ---------------------------------------------------------------------------
def test_large_blocks():
    """Several blocks of k, panels and groups of rows; whole groups of interleaved rows."""
    for layouts in ("nn", "nt", "tn"):
        check(150, 330, 700, "float32", layouts)
    check(120, 140, 1100, "bfloat16", "tn")
    check(100, 140, 1101, "bfloat16", "nt")


@pytest.mark.parametrize("layouts", ["nn", "nt", "tn"])
@pytest.mark.parametrize("size", [(150, 200, 600), (4, 200, 600), (1, 300, 100), (5, 6, 9000)])
def test_result_does_not_depend_on_the_split(size, layouts):
    m, n, k = size
    a, b = numbers((m, k), "float32", layouts[0], 1), numbers((k, n), "float32", layouts[1], 2)
    results = [call("dot", [a, b], [((m, n), "float32")], {}, pieces=pieces)[0] for pieces in (1, 2, 5, 11)]
    for result in results[1:]:
        assert np.array_equal(result, results[0])


def run_product(a, b, c, dtype=float32, bias=None, relu=False, into_bias=False, bias_stride=1):
    """One product with an epilogue; c: an output array (maybe strided). Sizes are plain numbers here."""
    arrays = [x for x in (a, b, bias) if x is not None]
    graph, operands = Graph(Scope()), []
    for i, x in enumerate(arrays):
        strides = tuple(s // x.itemsize for s in x.strides)
        graph.tensor(x.shape, dtype, strides)
        operands.append(Array("input", i, x.shape, strides, dtype))
    strides = tuple(s // c.itemsize for s in c.strides)
    graph.returns([Value(c.shape, dtype)], [strides])
    lowered, result = Lowered([]), Array("output", 0, c.shape, strides, dtype)
    addend = result if into_bias else operands[2] if bias is not None else None
    epilogue = dot.Epilogue(addend, relu)
    dot.lower_dot(Context(lowered), SimpleNamespace(attrs={}), operands[:2], [result], epilogue=epilogue)
    Bound(lowered, graph, arrays, outputs=[c]).run(2)
    return c


EPILOGUE_SIZES = [(40, 70, 50), (3, 70, 50), (1, 70, 20), (70, 1, 50), (5, 6, 9000), (20, 30, 0)]


@pytest.mark.parametrize("size", EPILOGUE_SIZES)
@pytest.mark.parametrize("kind", ["row", "column", "full", "strided", "transposed"])
def test_bias_and_relu(size, kind):
    m, n, k = size
    random = np.random.default_rng(3)
    a, b = random.standard_normal((m, k)), random.standard_normal((k, n))
    bias = {
        "row": lambda: random.standard_normal(n),
        "column": lambda: random.standard_normal((m, 1)),
        "full": lambda: random.standard_normal((m, n)),
        "strided": lambda: random.standard_normal((n, 3))[:, 1],
        "transposed": lambda: random.standard_normal((n, m)).T,
    }[kind]()
    for relu, order in ((False, "C"), (True, "C"), (True, "F")):
        wanted = a @ b + bias
        result = run_product(a, b, np.empty((m, n), order=order), float64, bias, relu)
        np.testing.assert_allclose(result, np.maximum(wanted, 0) if relu else wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("size", EPILOGUE_SIZES)
def test_accumulates_into_its_own_memory(size):
    m, n, k = size
    random = np.random.default_rng(4)
    a, b, c = (random.standard_normal(shape) for shape in ((m, k), (k, n), (m, n)))
    wanted = c + a @ b
    np.testing.assert_allclose(run_product(a, b, c, float64, into_bias=True), wanted, rtol=1e-10, atol=1e-10)


def test_relu_keeps_nan():
    a = np.full((20, 20), np.nan, np.float32)
    for m in (20, 1):
        assert np.isnan(run_product(a[:m], a, np.empty((m, 20), np.float32), relu=True)).all()


def test_integers_take_relu_and_bias():
    a, b, bias = np.array([[-2, 1]]), np.array([[3, -1], [1, 1]]), np.array([1, 1])
    assert run_product(a, b, np.empty((1, 2), np.int64), int64, bias, True).tolist() == [[0, 4]]


def test_strided_result():
    a, b = np.random.default_rng(5).standard_normal((2, 3, 30, 30))
    memory = np.zeros((3, 60, 90))
    result = run_product(a, b, memory[:, ::2, ::3], float64)
    np.testing.assert_allclose(result, a @ b, rtol=1e-12, atol=1e-12)
    assert not memory[:, 1::2].any() and not memory[:, :, 1::3].any()


@pytest.mark.parametrize("m", [1, 20])
def test_expanded_batch(m):
    random = np.random.default_rng(6)
    a, b = random.standard_normal((4, m, 30)), random.standard_normal((30, 20))
    shared = np.broadcast_to(b, (4, 30, 20))
    np.testing.assert_allclose(run_product(a, shared, np.empty((4, m, 20)), float64), a @ b, rtol=1e-12, atol=1e-12)
    one = np.broadcast_to(a[0], (4, m, 30))
    np.testing.assert_allclose(run_product(one, shared, np.empty((4, m, 20)), float64)[3], a[0] @ b, rtol=1e-12)


def test_a_batch_that_shares_b_is_one_product():
    arrays = [Array("input", 0, shape, contiguous_strides(shape), float32) for shape in ((4, 5, 30), (4, 5, 20))]
    b = Array("input", 1, (4, 30, 20), (0, 20, 1), float32)
    p = Product(arrays[0], b, arrays[1], None, False).merged()
    assert (p.m, p.n, p.k, p.batch) == (20, 20, 30, ())


def test_empty():
    for m, n in ((0, 3), (3, 0)):
        bound = bind("dot", [np.ones((m, 4)), np.ones((4, n))], [((m, n), "float64")], {})
        assert not bound.calls


def test_one_program_serves_other_sizes():
    """Sizes fill in parameters: what was lowered for one shape is right for others under the same guards."""
    scope = Scope()
    m, n, k = (scope.symbol(size) for size in (40, 50, 60))
    graph = Graph(scope)
    shapes = (m, k), (n, k), (m, n)
    arrays = [Array("input", i, shape, contiguous_strides(shape), float32) for i, shape in enumerate(shapes[:2])]
    for array in arrays:
        graph.tensor(array.shape, float32)
    arrays[1] = Array("input", 1, (k, n), (1, k), float32)
    lowered = Lowered([])
    result = Array("output", 0, shapes[2], contiguous_strides(shapes[2]), float32)
    dot.lower_dot(Context(lowered), SimpleNamespace(attrs={}), arrays, [result])
    graph.returns([Value(shapes[2], float32)])
    for sizes in ((40, 50, 60), (333, 129, 700), (17, 1000, 35)):
        symbols = dict(zip(scope.hints, sizes))
        assert all(eval(guard, {}, symbols) for guard in scope.guards), (sizes, scope.guards)
        x, w = numbers((sizes[0], sizes[2]), "float32", "n", 7), numbers((sizes[1], sizes[2]), "float32", "n", 8)
        bound = Bound(lowered, graph, [x, w], symbols=symbols)
        bound.run(3)
        compare(bound.outputs[0], exact(x, "float32"), exact(w.T, "float32"), "float32", f"{sizes}")


def launches(m, n, k, layouts="nn", dtype="float32") -> list:
    lowered = Lowered([])
    strides = [(k, 1) if layouts[0] == "n" else (1, m), (n, 1) if layouts[1] == "n" else (1, k)]
    dtype = dtype_named(dtype)
    a, b = (Array("input", i, s, t, dtype) for i, (s, t) in enumerate(zip(((m, k), (k, n)), strides)))
    c = Array("output", 0, (m, n), (n, 1), dtype)
    dot.lower_dot(Context(lowered), SimpleNamespace(attrs={}), [a, b], [c])
    return lowered.launches


@pytest.mark.parametrize(
    ("size", "layouts", "names"),
    [
        ((64, 64, 64), "nn", ["gemm"]),
        ((1, 64, 64), "nn", ["column_product"]),
        ((64, 1, 64), "tn", ["column_product"]),
        ((8, 64, 256), "nt", ["row_product"]),
        ((64, 8, 256), "nn", ["row_product"]),
        ((8, 64, 16), "nt", ["gemm"]),
        ((64, 64, 10000), "tn", ["gemm", "add_pieces"]),
        ((1, 1, 10000), "nn", ["row_product", "add_pieces"]),
    ],
)
def test_choice_of_kernel(size, layouts, names):
    assert [launch.kernel.name for launch in launches(*size, layouts)] == names


def test_narrow_results_compile_narrow_tiles_only():
    (launch,) = launches(8, min(8, target.host().lanes(4)), 8)
    assert "tile_6x1" in launch.kernel.text or "tile_4x1" in launch.kernel.text
    assert "x2(" not in launch.kernel.text


def test_work_is_cut_for_threads():
    """Large products feed 16 threads; small ones are not worth a second one."""
    for size in ((512, 512, 512), (2048, 256, 512), (64, 4096, 256), (64, 64, 65536)):
        launch = launches(*size)[0]
        assert launch.range >= 16 * launch.grain, size
    for size in ((8, 8, 8), (32, 32, 32), (1, 128, 128)):
        launch = launches(*size)[0]
        assert launch.range < 2 * launch.grain, size


def test_bfloat16_products_by_pairs_round_once():
    """A sum of 1 and many numbers far below half a unit of bfloat16 is right only if it was kept in float."""
    a = to_bfloat(np.r_[1.0, np.full(1023, 2.0**-10)])[None].repeat(20, 0)
    b = to_bfloat(np.ones((1024, 20)))
    (result,) = call("dot", [a, b], [((20, 20), "bfloat16")], {}, dtypes=["bfloat16"] * 2)
    assert np.array_equal(result, to_bfloat(np.full((20, 20), 2.0)))


def test_scratch_keeps_unfinished_half_sums_only_if_needed():
    structure = gemm.Gemm(bfloat16, bfloat16, "rows", "rows")
    assert structure.scratch(1000, 10) < structure.scratch(1000, 10000)
    plain = gemm.Gemm(float32, float32, "direct", "rows")
    assert plain.scratch(1000, 10) == plain.scratch(1000, 10000)
