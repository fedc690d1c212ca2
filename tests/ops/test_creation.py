"""Tensors from sizes and values: results, strides and errors as PyTorch has them."""

import math

import pytest

import rushlight as rl

from .parity import agree, table

MADE = """
T.ones(2).type(T.int64)
T.ones(2).type(T.DoubleTensor)
T.full((2,),1.5,dtype=T.int64)
T.full((2,),True)
T.full((2,),1j)
T.full((2,),-0.0).sign().tolist()
T.full((2,),T.tensor(3))
T.full(2,3)
T.full((2,2),T.tensor([3]))
T.zeros(2,out=T.zeros(1,dtype=T.int64))
T.zeros(2,dtype=T.float32,out=T.zeros(2,dtype=T.int64))
T.zeros(size=(2,))
T.zeros()
T.zeros(())
T.zeros(2.)
T.zeros((2,),3)
T.zeros(-1)
T.zeros([True])
T.zeros(2,dtype=int)
T.zeros(2,dtype=bool)
T.ones(2,requires_grad=True,dtype=T.int64)
T.empty_strided((2,3),(1,))
T.empty_strided((2,3),(-1,1))
T.scalar_tensor(3)
T.scalar_tensor(3,dtype=T.int64)
T.scalar_tensor(True)
T.zeros_like(T.ones(2,3).t())
T.full_like(T.ones(2,3),2,dtype=T.int64)
T.ones_like(T.ones(2,3),dtype=float)
"""
STRIDES = """
T.empty_strided((2,3),(1,2)).stride()
T.empty_permuted((2,3,4),(1,0,2)).stride()
T.empty_permuted((2,3,4),(1,0,0)).stride()
T.tensor([1.]).new_empty_strided((2,3),(1,2)).stride()
T.empty_like(T.ones(2,3,4,5,dtype=T.int8).permute(0,2,3,1)).stride()
T.empty(2,3,4,5,memory_format=T.channels_last).stride()
T.empty_like(T.ones(1,3).expand(2,3)).stride()
"""


@table(MADE)
def test_made(expression):
    agree(expression)


@table(STRIDES)
def test_strides(expression):
    agree(expression)


def test_a_zero_keeps_its_sign():
    assert str(rl.full((2,), -0.0).tolist()) == "[-0.0, -0.0]"
    assert str(rl.tensor(complex(-0.0, -0.0)).item()) == "(-0-0j)"


def test_large_tensors_are_filled_by_all_threads():
    assert rl.full((1 << 20,), 3).sum().item() == 3 << 20
    assert rl.zeros(1 << 20).sum().item() == 0


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("value", [0, 1, 127, 128, -1, True, 0.0, 1.5, -2.5, 3e38, 1e39, math.inf, math.nan, 2j])
def test_small_tensors_are_filled_like_large_ones(dtype, value):
    """Small ones are filled by the core, at once; large ones by a kernel."""
    dtype = getattr(rl, dtype)

    def filled(count):
        try:
            return repr(rl.full((count,), value, dtype=dtype)[-1].item())
        except RuntimeError as error:
            return str(error)

    for count in (3, 3):  # the second time the layout is known
        assert filled(count) == filled(1 << 17)


def test_sizes_are_looked_at_though_the_shape_is_known():
    for _ in range(2):
        assert rl.ones(2, 3).shape == rl.ones((2, 3)).shape == rl.ones([2, 3]).shape == rl.ones(rl.Size([2, 3])).shape
        for sizes in ((2.0, 3.0), (True, 3), ("2", 3), ({2: 3},), (None,)):
            with pytest.raises(TypeError):
                rl.ones(*sizes)
        with pytest.raises(TypeError):
            rl.ones(2, 3, dtype=[])
        assert rl.ones(2, 3, dtype=float).dtype is rl.float64
        assert rl.zeros(()).ndim == rl.zeros([]).ndim == 0
        with rl.inference_mode():
            assert rl.zeros(2, 3).is_inference()
    assert rl.zeros(2, 3, requires_grad=True).requires_grad and not rl.zeros(2, 3).requires_grad


@pytest.mark.parametrize("dims", [(0, 1), (1, 0)])
def test_dims_of_size_1_keep_their_strides(dims):
    x = rl.ones(1, 3).permute(dims)
    for like in (rl.zeros_like, rl.empty_like, rl.rand_like, lambda t: rl.full_like(t, 2, dtype=rl.int8)):
        assert like(x).stride() == x.stride()


@pytest.mark.parametrize("fill", [lambda: rl.full((2,), None), lambda: rl.full_like(rl.ones(2), None)])
def test_none_is_no_number(fill):
    with pytest.raises(TypeError, match="must be Number, not NoneType"):
        fill()


def test_a_numpy_integer_fills_with_integers():
    np = pytest.importorskip("numpy")
    assert rl.full((2,), np.int64(3)).dtype is rl.int64
