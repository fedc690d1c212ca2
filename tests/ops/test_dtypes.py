"""Element types: limits, promotion, conversion, defaults."""

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
