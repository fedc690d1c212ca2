"""Tensors from sizes and values: results, strides and errors as PyTorch has them."""

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
