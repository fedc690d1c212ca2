"""Every map primitive, for every element type, against the reference interpreter's meaning."""

import numpy as np
import pytest
from single_map import apply, make_node

import rushlight.ir.primitives  # noqa: F401 - fills the registry
from rushlight.compiler import elementwise
from rushlight.compiler.text import Module, V
from rushlight.ir.dtypes import ALL, dtype_named
from rushlight.ir.meaning import round_to_bfloat16
from rushlight.ir.primitive import PRIMITIVES

COUNT = 256
BINARY = {
    "add": "buifc", "sub": "uifc", "mul": "buifc", "div": "fc", "floor_divide": "uif", "trunc_divide": "uif",
    "remainder": "uif", "fmod": "uif", "pow": "uifc", "maximum": "buif", "minimum": "buif", "atan2": "f",
    "nextafter": "f", "copysign": "f", "bit_and": "bui", "bit_or": "bui", "bit_xor": "bui", "shift_left": "ui",
    "shift_right": "ui", "gcd": "ui", "eq": "buifc", "ne": "buifc", "lt": "buif", "le": "buif", "gt": "buif",
    "ge": "buif",
}  # fmt: skip
UNARY = {
    "neg": "uifc", "abs": "uifc", "sign": "buifc", "bit_not": "bui", "isfinite": "fc", "isnan": "fc", "floor": "f",
    "ceil": "f", "trunc": "f", "round": "f", "real": "c", "imag": "c", "conj": "c",
}  # fmt: skip
FUNCTIONS = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sigmoid",
]
REAL_FUNCTIONS = ["erf", "erfc", "erfinv", "lgamma", "digamma"]
BOOLEAN = {"eq", "ne", "lt", "le", "gt", "ge", "isfinite", "isnan"}
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -3.5, 2.5, 1e-5, 1e4, 3.0]
# relative error of a function; half types are computed in float and rounded once
TOLERANCE = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 4e-7, "float64": 1e-15}
TOLERANCE |= {"complex64": 2e-6, "complex128": 1e-14}


def sample(dtype, seed):
    """Values as the reference holds them: bfloat16 as rounded float32."""
    random = np.random.default_rng(seed)
    if dtype.kind == "b":
        return random.integers(0, 2, COUNT).astype(bool)
    if dtype.kind in "ui":
        info = np.iinfo(dtype.name)
        values = random.integers(info.min, info.max, COUNT, dtype.name, endpoint=True)
        values[::2] = random.integers(0 if dtype.kind == "u" else -9, 10, COUNT // 2)
        values[:3] = info.min, info.max, 1
        return values
    real = random.normal(0, 3, COUNT)
    real[: len(SPECIAL)] = random.permutation(SPECIAL)
    if dtype.kind == "c":
        return (random.normal(0, 2, COUNT) + 1j * random.normal(0, 2, COUNT)).astype(dtype.name)
    return round_to_bfloat16(real) if dtype.name == "bfloat16" else real.astype(dtype.name)


def stored(array, dtype):
    """The bits in memory of what the reference holds."""
    if dtype.name != "bfloat16":
        return array
    return (np.ascontiguousarray(array, "float32").view(np.uint32) >> 16).astype(np.uint16)


def loaded(array, dtype):
    return (array.astype(np.uint32) << 16).view(np.float32) if dtype.name == "bfloat16" else array


def run(name, arrays, dtypes, output, lanes=16, **options):
    memory = [stored(a, d) for a, d in zip(arrays, dtypes)]
    return loaded(apply(name, memory, output, inputs=dtypes, lanes=lanes, **options), output)


def meaning(name, arrays, output, **attrs):
    with np.errstate(all="ignore"):
        result = PRIMITIVES[name].numpy_rule(*arrays, **attrs)
    return round_to_bfloat16(result) if output.name == "bfloat16" else result


def result_dtype(name, dtype):
    if name in BOOLEAN:
        return dtype_named("bool")
    return dtype.to_real() if name in ("abs", "real", "imag") else dtype


def check(got, expected, tolerance=0.0):
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=0, equal_nan=True)
    if got.dtype.kind == "f" and not tolerance:
        zero = (expected == 0) & ~np.isnan(got)
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(expected[zero]))


def cases(table):
    return [pytest.param(n, d, id=f"{n}-{d.name}") for n, kinds in table.items() for d in ALL if d.kind in kinds]


# NumPy has no bfloat16 to step in: see test_nextafter_steps_in_the_half_type
BINARY_CASES = [c for c in cases(BINARY) if c.id != "nextafter-bfloat16"]


@pytest.mark.parametrize("name, dtype", BINARY_CASES)
def test_binary(name, dtype):
    a, b = sample(dtype, 1), sample(dtype, 2)
    if name in ("floor_divide", "trunc_divide", "remainder", "fmod") and dtype.kind in "ui":
        b[(b == 0) | (a == np.iinfo(dtype.name).min)] = 7
    if name == "pow" and dtype.kind == "f":
        a[4:] = np.abs(a[4:])  # a few negative bases are enough
    output = result_dtype(name, dtype)
    expected = meaning(name, [a, b], output)
    inexact = name in ("pow", "atan2", "remainder", "trunc_divide") or dtype.kind == "c" or dtype.name == "float16"
    tolerance = TOLERANCE[dtype.name] if inexact and output.kind in "fc" else 0
    if name == "pow" and dtype.kind == "c":
        tolerance *= 20  # the exponent multiplies the error of the logarithm
    check(run(name, [a, b], [dtype, dtype], output), expected, tolerance)
    if dtype.name in ("int64", "uint8", "float32", "bool"):
        check(run(name, [a, b], [dtype, dtype], output, lanes=1), expected, tolerance)


@pytest.mark.parametrize("name, dtype", cases(UNARY))
def test_unary(name, dtype):
    a, output = sample(dtype, 3), result_dtype(name, dtype)
    tolerance = TOLERANCE.get(dtype.name, 0) if name in ("abs", "sign") and dtype.kind == "c" else 0
    for lanes in (1, 16):
        check(run(name, [a], [dtype], output, lanes), meaning(name, [a], output), tolerance)


@pytest.mark.parametrize("name, dtype", cases(dict.fromkeys(FUNCTIONS, "fc") | dict.fromkeys(REAL_FUNCTIONS, "f")))
def test_function(name, dtype):
    a = sample(dtype, 4)
    expected = meaning(name, [a], dtype)
    got = run(name, [a], [dtype], dtype, 8)
    # near its zeros the reference for gamma functions is itself rounded
    slack = 1e-13 if name in ("lgamma", "digamma", "erfinv") and dtype.name == "float64" else 0
    with np.errstate(invalid="ignore"):
        error = np.abs(got - expected)
    close = error <= TOLERANCE[dtype.name] * np.abs(expected) + slack
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    bad = ~(close | same)
    assert not bad.any(), list(zip(a[bad], got[bad], expected[bad]))[:5]


@pytest.mark.parametrize("source", ALL, ids=lambda d: d.name)
def test_cast(source):
    a = sample(source, 5)
    for target in ALL:
        x = a
        if source.kind in "fc" and target.kind in "ui":
            x = np.where(np.isfinite(a), a, 2).astype(a.dtype)
            x = np.where(np.abs(x) < 100, x, 3).astype(a.dtype)
        expected = meaning("cast", [x], target, dtype=target)
        check(run("cast", [x], [source], target, attrs={"dtype": target}), expected)


def test_where():
    for dtype in ALL:
        mask, a, b = sample(dtype_named("bool"), 6), sample(dtype, 7), sample(dtype, 8)
        got = run("where", [mask, a, b], [dtype_named("bool"), dtype, dtype], dtype)
        np.testing.assert_array_equal(got, np.where(mask, a, b))


def test_complex_is_made_of_parts():
    re, im = sample(dtype_named("float32"), 1), sample(dtype_named("float32"), 2)
    got = apply("complex", [re, im], "complex64")
    np.testing.assert_array_equal(got.real, re)
    np.testing.assert_array_equal(got.imag, im)


def test_division_by_zero_does_not_trap_and_is_reported():
    for name in ("floor_divide", "trunc_divide", "remainder", "fmod"):
        for dtype in ("uint8", "int8", "int16", "int32", "int64"):
            for lanes in (1, 16):
                x = np.arange(16).astype(dtype)
                apply(name, [x, np.zeros_like(x)], dtype, lanes=lanes)
    module, int64 = Module(), dtype_named("int64")
    f, masks = module.kernel("kernel"), []
    f.on_zero_division = masks.append
    elementwise.emit(f, make_node("remainder", [int64, int64], int64), [V("7", "i64"), V("%d", "i64")], 1)
    assert [m.type for m in masks] == ["i1"]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_the_least_integer_divided_by_minus_one_wraps(dtype):
    least = np.full(16, np.iinfo(dtype).min, dtype)
    for lanes in (1, 16):
        for name in ("floor_divide", "trunc_divide"):
            np.testing.assert_array_equal(apply(name, [least, -np.ones(16, dtype)], dtype, lanes=lanes), least)
        for name in ("remainder", "fmod"):
            assert not apply(name, [least, -np.ones(16, dtype)], dtype, lanes=lanes).any()


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_vectors_of_long_integers_divide_exactly(dtype):
    """As doubles where both are below 2^51; lanes beyond that take a branch."""
    half = 1 << 51
    factors = np.arange(1, 1 << 25, 99991)
    products = factors * factors[::-1]
    edges = np.array([1, 2, 3, 7, half - 1, half, half + 1, (1 << 53) + 1, (1 << 62) + 5])
    a, b = (g.ravel() for g in np.meshgrid(edges, edges))
    a = np.concatenate([a, products - 1, products, products + 1])
    b = np.concatenate([b, factors, factors, factors])
    if dtype == "int64":
        a, b = np.concatenate([a, -a, a, -a]), np.concatenate([b, b, -b, -b])
    a, b = (np.resize(x, (len(x) + 7) // 8 * 8).astype(dtype) for x in (a, b))
    np.testing.assert_array_equal(apply("floor_divide", [a, b], dtype, lanes=8), a // b)
    np.testing.assert_array_equal(apply("remainder", [a, b], dtype, lanes=8), a % b)
    np.testing.assert_array_equal(apply("fmod", [a, b], dtype, lanes=8), np.fmod(a, b))


def test_casts_out_of_range_do_not_crash():
    x = np.array([np.inf, -np.inf, np.nan, 1e30, -1e30, 300.0, -300.0, 3e9] * 2)
    for dtype in ("int8", "uint8", "int16", "int32", "int64"):
        for lanes in (1, 16):
            apply("cast", [x], dtype, attrs={"dtype": dtype_named(dtype)}, lanes=lanes)
    # narrow integers take the low bits, as C does on this processor
    got = apply("cast", [x], "uint8", attrs={"dtype": dtype_named("uint8")})
    np.testing.assert_array_equal(got[5:7], [300 % 256, -300 % 256])


def test_every_half_number_survives_memory():
    bits = np.arange(1 << 16, dtype=np.uint16)
    half = bits.view(np.float16)
    wide = apply("cast", [half], "float32", attrs={"dtype": dtype_named("float32")})
    np.testing.assert_array_equal(wide, half.astype(np.float32))
    back = apply("cast", [wide], "float16", attrs={"dtype": dtype_named("float16")})
    np.testing.assert_array_equal(back, half)


def test_half_rounding_is_to_nearest_even():
    random = np.random.default_rng(0).integers(0, 1 << 32, 20000, np.uint32).view(np.float32)
    near = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    with np.errstate(all="ignore"):
        x = np.concatenate([random, near * np.float32(1 + 2**-11), near * np.float32(1 + 2**-12)])
        expected = x.astype(np.float16)
    np.testing.assert_array_equal(apply("cast", [x], "float16", attrs={"dtype": dtype_named("float16")}), expected)
    bfloat16 = dtype_named("bfloat16")
    denormals = (random.view(np.uint32)[:4000] & 0x807FFFFF).view(np.float32)
    x = np.resize(np.concatenate([x, denormals]), 220000)
    for lanes in (1, 8, 16):  # full vectors may take the processor's instruction, but not for denormals
        got = loaded(apply("cast", [x], bfloat16, attrs={"dtype": bfloat16}, lanes=lanes), bfloat16)
        np.testing.assert_array_equal(got, round_to_bfloat16(x))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_that_nothing_changed_are_stored_as_they_were(dtype):
    f, half = Module().kernel("kernel"), dtype_named(dtype)
    loaded_bits = V("%bits", "<16 x i16>")
    assert elementwise.to_memory(f, elementwise.from_memory(f, loaded_bits, half, 16), half, 16) is loaded_bits
    rounded = elementwise.round_to(f, V("%x", "<16 x float>"), half, 16)
    before = len(f.lines)
    elementwise.to_memory(f, rounded, half, 16)
    assert len(f.lines) == before


def test_nextafter_steps_in_the_half_type():
    bfloat16 = dtype_named("bfloat16")
    a = np.array([0x3F80, 0x3F80, 0x0000, 0x8000, 0x7F7F, 0xBF80, 0x0001, 0x3F80], np.uint16)
    b = np.array([0x4000, 0x0000, 0xBF80, 0x3F80, 0x7F80, 0x0000, 0x8000, 0x3F80], np.uint16)
    want = np.array([0x3F81, 0x3F7F, 0x8001, 0x0001, 0x7F80, 0xBF7F, 0x0000, 0x3F80], np.uint16)
    got = apply("nextafter", [a, b], bfloat16, inputs=[bfloat16, bfloat16], lanes=8)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 0.5, -0.5, -1, -2])
def test_small_constant_exponents(exponent):
    x = np.linspace(0.1, 30, 64)
    powers = np.full(64, float(exponent))
    np.testing.assert_allclose(apply("pow", [x, powers], "float64", exponent=exponent), x**exponent, rtol=4e-16)
    z = (x + 1j * x[::-1]).astype(np.complex128)
    got = apply("pow", [z, powers.astype(complex)], "complex128", exponent=complex(exponent))
    np.testing.assert_allclose(got, z**exponent, rtol=1e-14)


@pytest.mark.parametrize("exponent", [2.0, 3.0, 0.5, -0.5, -1.0, 1.0, 0.0, 2.7, -3.3])
def test_exponents_that_come_at_run_time(exponent):
    for dtype in (np.float32, np.float64):
        x = np.linspace(0.1, 30, 64).astype(dtype)
        powers = np.full(64, exponent, dtype)
        expected = x.astype(float) ** powers.astype(float)
        for lanes in (1, 16):
            got = apply("pow", [x, powers], x.dtype.name, exponent="number", lanes=lanes)
            np.testing.assert_allclose(got, expected, rtol=2e-7 if dtype == np.float32 else 4e-16)


def test_small_exponents_of_run_time_have_branches_of_their_own():
    """A cube must not pay for the root and the quotient that other exponents need."""
    module = Module()
    f = module.kernel("kernel")
    a, b = (elementwise.Expr(f, V(f"%{name}", "<8 x float>")) for name in "ab")
    elementwise.power(dtype_named("float32"), a, b, elementwise.NUMBER)
    blocks = str(module).split(":\n")
    cube = next(block for block in blocks if block.count("fmul contract") == 2)
    assert "sqrt" not in cube and "fdiv" not in cube


def test_pow_at_special_values():
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, np.inf, -np.inf, np.nan, 3.0, -3.0, 1e300, -1e-300])
    for dtype in (np.float32, np.float64):
        with np.errstate(all="ignore"):
            a, b = (g.ravel().astype(dtype) for g in np.meshgrid(values, values))
            expected = np.power(a, b)
        check(apply("pow", [a, b], np.dtype(dtype).name), expected, 1e-6 if dtype == np.float32 else 1e-14)


def test_constants_wrap_and_round():
    f = Module().kernel("kernel")
    assert elementwise.constant(f, 300, dtype_named("uint8"), 1).text == "44"
    assert elementwise.constant(f, -1, dtype_named("int64"), 1).text == "-1"
    assert elementwise.constant(f, 200, dtype_named("int8"), 1).text == "-56"
    third = elementwise.constant(f, 1 / 3, dtype_named("bfloat16"), 1)
    assert third.text == f.const(0.333984375, "float").text
    re, im = elementwise.constant(f, 1 + 2j, dtype_named("complex64"), 4)
    assert re.type == im.type == "<4 x float>"
