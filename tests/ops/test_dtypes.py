"""Element types: limits, promotion, conversion, defaults."""

import io
import pickle

import numpy as np
import pytest

import rushlight as rl

from .parity import agree, table

QUERIES = """
T.finfo(T.float32)
T.finfo(T.complex64)
T.finfo()
T.iinfo(T.int8)
T.iinfo(T.float32)
T.finfo(T.int8)
T.finfo(T.bfloat16).smallest_normal
T.result_type(T.ones(2),1j)
T.result_type(1,2.)
T.result_type(T.tensor(1.,dtype=T.float64),T.ones(1,dtype=T.int32))
T.is_nonzero(T.tensor([2]))
T.is_nonzero(T.ones(2))
T.is_storage(T.ones(2).untyped_storage())
T.is_floating_point(T.ones(1)),T.is_complex(T.ones(1)),T.numel(T.ones(3)),T.is_tensor(3)
T.ones(2).to(T.float64,copy=True)
T.ones(2).to('cpu',T.int64)
T.ones(2).to(T.ones(2,dtype=T.int64))
T.ones(2).to(T.device('cpu'),non_blocking=True)
T.ones(2).to(dtype=T.int8)
T.ones(2).to()
T.ones(2).to(float)
T.ones(2).to(other=T.ones(1,dtype=T.int8))
T.ones(1,2,3,4).to(memory_format=T.channels_last).stride()
T.ones(2).to(T.float32,False,True)
T.ones(2).to('cpu',T.int64,False,True)
T.ones(2).to(T.int64,memory_format=T.preserve_format)
T.set_default_dtype(T.int64)
"""


KINDS = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", ["promote_types", "can_cast"])
def test_pairs(function, kind):
    agree(f"[T.{function}(T.{kind}, getattr(T, other)) for other in {KINDS}]")


@table(QUERIES)
def test_queries(expression):
    agree(expression)


def test_conversion_to_itself_is_the_tensor():
    x = rl.ones(2)
    assert x.to(rl.float32) is x and x.to("cpu") is x and x.to(x) is x
    for copy in (x.to(rl.float32, copy=True), x.to("cpu", rl.float32, False, True), x.to(x, False, True)):
        assert copy is not x and copy.data_ptr() != x.data_ptr()


def test_default_dtype():
    rl.set_default_dtype(rl.float64)
    assert rl.tensor(1.5).dtype is rl.float64 and (rl.arange(3) / 2).dtype is rl.float64
    rl.set_default_tensor_type(rl.FloatTensor)
    assert rl.get_default_dtype() is rl.float32 and (rl.arange(3) / 2).dtype is rl.float32
    rl.set_default_tensor_type("rushlight.DoubleTensor")
    assert rl.tensor(1j).dtype is rl.complex128
    with pytest.raises(TypeError, match="floating-point"):
        rl.set_default_dtype(rl.int32)


# -- wide unsigned integers, and types that exist by name alone -----------------------------------------
UNSIGNED = """
T.tensor([1, 2**64 - 1], dtype=T.uint64), str(T.tensor([1, 2**64 - 1], dtype=T.uint64)), T.tensor(2**64 - 1, dtype=T.uint64).item()
T.tensor([1, 2, 65535], dtype=T.uint16) * 2.5, T.tensor([1, 65535], dtype=T.uint16) + T.ones(2)
T.tensor(70000, dtype=T.uint16)
T.tensor(-1, dtype=T.uint16), T.tensor([-1]).to(T.uint64), T.tensor([-1.0]).to(T.uint16), T.tensor([3e9]).to(T.uint32)
T.tensor([1e19, 5.5, -1], dtype=T.float64).to(T.uint64), T.tensor([1, 2**64 - 1], dtype=T.uint64).double()
T.tensor([1, 2**64 - 1], dtype=T.uint64) == 2**64 - 1, T.tensor([1, 2**64 - 1], dtype=T.uint64) == T.tensor(1, dtype=T.uint64)
T.tensor([1, 65535], dtype=T.uint16).sum(), T.tensor([2, 65535], dtype=T.uint16).prod(), T.tensor([65535, 1], dtype=T.uint16).cumsum(0)
T.tensor([1, 65535], dtype=T.uint16) / 2, T.tensor([4, 9], dtype=T.uint32).sqrt(), T.tensor([0, 9], dtype=T.uint32).bool()
T.tensor([1, 65535], dtype=T.uint16).to(T.int16), T.tensor([1, 65535], dtype=T.uint16).view(T.int16)
T.zeros(2, dtype=T.uint16), T.ones(2, dtype=T.uint32), T.full((2,), 2**63, dtype=T.uint64), T.empty(2, dtype=T.uint32).fill_(2**32 - 1)
T.cat([T.ones(2, dtype=T.uint16), T.zeros(1, dtype=T.uint16)]), T.ones(2, dtype=T.uint64).clone(), T.ones(2, dtype=T.uint64)[0]
T.tensor([1, 2**64 - 1], dtype=T.uint64).numpy().tolist(), T.from_numpy(np.arange(3, dtype="uint16"))
T.ones(2, dtype=T.uint16) + T.ones(2, dtype=T.int32)
T.ones(2, dtype=T.uint16) + T.ones(2, dtype=T.bool)
T.result_type(T.ones(1, dtype=T.uint16), 1), T.result_type(T.ones(1, dtype=T.uint16), 1.0)
T.iinfo(T.uint16).max, T.iinfo(T.uint64).max, T.iinfo(T.uint32).bits, T.uint32.is_signed, T.uint64.itemsize
T.ones(1, dtype=T.uint16).type()
T.ones(1, dtype=T.uint16).mean()
T.uint16.to_complex()
T.tensor([1, 2], dtype=T.uint16).unique(), T.tensor([3, 1], dtype=T.uint64).tolist()
"""
NAMES = """
T.float8_e4m3fn.itemsize, T.complex32.is_complex, T.chalf, T.uint1, T.int7.is_signed, T.bits16.itemsize, T.quint4x2, T.float4_e2m1fn_x2
[T.finfo(d).max for d in (T.float8_e4m3fn, T.float8_e5m2, T.float8_e4m3fnuz, T.float8_e5m2fnuz, T.float8_e8m0fnu, T.complex32)]
[T.finfo(d).tiny for d in (T.float8_e4m3fn, T.float8_e5m2, T.float8_e4m3fnuz, T.float8_e5m2fnuz, T.float8_e8m0fnu, T.complex32)]
[T.finfo(d).eps for d in (T.float8_e4m3fn, T.float8_e5m2, T.float8_e4m3fnuz, T.float8_e5m2fnuz, T.float8_e8m0fnu, T.complex32)]
[T.finfo(d).min for d in (T.float8_e4m3fn, T.float8_e5m2, T.float8_e4m3fnuz, T.float8_e5m2fnuz, T.float8_e8m0fnu, T.complex32)]
T.iinfo(T.bits8)
T.bits8.is_signed
T.promote_types(T.complex32, T.float32), T.promote_types(T.complex32, T.float16), T.promote_types(T.float64, T.complex32)
T.promote_types(T.complex32, T.bfloat16), T.promote_types(T.complex32, T.complex64), T.complex32.to_real()
T.promote_types(T.float8_e4m3fn, T.float8_e4m3fn), T.can_cast(T.float8_e4m3fn, T.float32)
T.promote_types(T.float8_e4m3fn, T.float32)
T.promote_types(T.bits8, T.float32)
T.promote_types(T.qint8, T.float32)
"""


@table(UNSIGNED + NAMES)
def test_wide_unsigned_integers_and_names(expression):
    agree(expression)


@pytest.mark.parametrize("kind", ["uint16", "uint32", "uint64"])
def test_arithmetic_of_unsigned_integers(kind):
    top = rl.iinfo(getattr(rl, kind)).max
    a, b = np.array([[1, top, 7], [top - 3, 2, top // 2]], kind), np.array([[3, 2, 7], [top, 5, top // 2 + 1]], kind)
    x, y = rl.from_numpy(a), rl.from_numpy(b)
    for name in ("add", "subtract", "multiply", "maximum", "minimum", "bitwise_xor", "less", "greater_equal", "gcd"):
        assert np.array_equal(getattr(rl, name)(x, y).numpy(), getattr(np, name)(a, b)), name
    assert np.array_equal((x // y).numpy(), a // b) and np.array_equal((x % y).numpy(), a % b)
    assert np.array_equal((x >> 3).numpy(), a >> np.array(3, kind)) and np.array_equal((-x).numpy(), -a)
    assert np.array_equal(x.sort().values.numpy(), np.sort(a)) and int(x.max()) == a.max() and int(x.argmin()) == 0
    assert np.array_equal(x.clamp(2, 1000).numpy(), a.clip(2, 1000)) and np.array_equal(x[x > 5].numpy(), a[a > 5])
    assert np.array_equal(x.cummax(1).values.numpy(), np.maximum.accumulate(a, 1))
    assert np.array_equal(x.index_select(1, rl.tensor([2, 0])).numpy(), a[:, [2, 0]])
    assert np.array_equal((x + 0.5).numpy(), (a.astype("float64") + 0.5).astype("float32"))


def test_values_of_unsigned_integers_travel():
    x = rl.tensor([1, 2**64 - 1], dtype=rl.uint64)
    assert pickle.loads(pickle.dumps(x)).tolist() == rl.from_dlpack(x).tolist() == x.tolist()
    assert pickle.loads(pickle.dumps(rl.float8_e5m2)) is rl.float8_e5m2
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    torch.save(torch.tensor([1, 2**64 - 1], dtype=torch.uint64), file)
    file.seek(0)
    assert rl.load(file).tolist() == x.tolist()


@pytest.mark.parametrize("name", ["float8_e4m3fn", "complex32", "bits8", "qint8", "uint3"])
def test_types_that_are_names_say_what_to_use(name):
    dtype = getattr(rl, name)
    for use in (lambda: rl.zeros(2, dtype=dtype), lambda: rl.ones(2).to(dtype), lambda: rl.ones(2).sum(dtype=dtype)):
        with pytest.raises(NotImplementedError, match=f"tensors of type {name} .*: use"):
            use()
