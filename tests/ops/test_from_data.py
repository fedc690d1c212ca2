"""Tensors from numbers, sequences, arrays and other tensors; the constructors of old."""

import numpy as np
import pytest

import rushlight as rl

from .parity import agree, table

DATA = """
T.tensor([T.tensor([1,2]),T.tensor([3,4])])
T.tensor([T.tensor(1.,dtype=T.float64),2])
T.tensor([T.tensor([1]),T.tensor([3])])
T.tensor([np.float32(1),2.])
T.tensor([np.array([1.,2]),np.array([3.,4])])
T.tensor(np.float32(1))
T.tensor(np.float64(1))
T.tensor(np.int32(1))
T.tensor([np.int32(1)])
T.tensor(None)
T.tensor([None])
T.tensor("ab")
T.tensor(["ab"])
T.tensor({})
T.tensor({1:2})
T.tensor({1,2})
T.tensor([300],dtype=T.uint8)
T.tensor([-1],dtype=T.uint8)
T.tensor(2**63)
T.tensor([2**63])
T.tensor(2**63,dtype=T.float32)
T.tensor([1.5],dtype=T.int64)
T.tensor([float('nan')],dtype=T.int64)
T.tensor([float('inf')],dtype=T.int32)
T.tensor([1+2j],dtype=T.float32)
T.tensor([1e300],dtype=T.float32)
T.tensor([[1,2],[3]])
T.tensor([[1,2],3])
T.tensor([1,[2]])
T.tensor([[],[]])
T.tensor([])
T.tensor(())
T.tensor([True,1])
T.tensor([True,1.])
T.tensor([1,1j])
T.tensor(1, requires_grad=True)
T.tensor(1., requires_grad=True)
T.tensor(b'ab')
T.tensor(range(4))
T.tensor(bytearray(b'ab'))
T.tensor(object())
T.tensor([object()])
T.tensor(T.ones(2))
T.tensor(T.ones(2),dtype=T.int32)
T.tensor(T.ones(2,requires_grad=True))
T.as_tensor(T.ones(2),dtype=T.int32)
T.tensor(1,2)
T.tensor()
T.tensor([1,2],dtype=float)
T.Tensor(2,3).shape
T.Tensor([1,2])
T.Tensor()
T.Tensor(T.ones(2))
T.Tensor(T.ones(2,dtype=T.int64))
T.Tensor(2.5)
T.Tensor((2,3))
T.Tensor(T.Size([2,3])).shape
T.Tensor([[1,2],[3,4]])
T.Tensor(np.ones(2))
T.Tensor(np.ones(2,dtype=np.float32))
T.Tensor(5).shape
T.Tensor(device='cpu')
T.Tensor(1.5,2)
T.Tensor("a")
T.LongTensor([1,2])
T.LongTensor(2,3).shape
T.LongTensor([1.5])
T.LongTensor(T.ones(2))
T.BoolTensor([0,2])
type(T.tensor([1])).__name__
T.FloatTensor.dtype
T.asarray([1,2])
T.asarray(1.5)
T.asarray(np.ones(2))
T.asarray([1,2],copy=False)
T.asarray(b'ab')
T.asarray(b'abcd',dtype=T.int16)
T.asarray(T.ones(2,requires_grad=True))
T.asarray(T.ones(2),dtype=T.float64,copy=False)
T.tensor([1.,2]).new([1,2])
T.tensor([1,2]).new(2,2).shape
T.tensor([1,2]).new_tensor([1.5])
T.tensor([1.]).new_zeros(2,3)
T.tensor([1.]).new_zeros((2,3),dtype=T.int64)
T.tensor([1.]).new_full((2,),3)
isinstance(T.ones(1), T.FloatTensor)
isinstance(T.ones(1), T.LongTensor)
"""


@table(DATA)
def test_data(expression):
    agree(expression)


def test_a_tensor_as_data_warns_and_is_copied():
    source = rl.ones(2)
    with pytest.warns(UserWarning, match="copy construct"):
        made = rl.tensor(source)
    made[0] = 5
    assert source.tolist() == [1, 1]


def test_what_shares_memory():
    array = np.zeros(3, np.float32)
    rl.as_tensor(array)[0] = 1
    rl.asarray(array)[1] = 2
    rl.tensor(array)[2] = 3
    assert array.tolist() == [1, 2, 0]
    source = rl.zeros(2)
    assert rl.as_tensor(source) is source and rl.asarray(source) is source
    assert rl.asarray(source, copy=True) is not source
    rl.Tensor(source)[0] = 4
    assert source.tolist() == [4, 0]


def test_names_of_types():
    assert rl.ones(1).type() == "rushlight.FloatTensor"
    assert rl.ones(1).type("rushlight.LongTensor").dtype is rl.int64
    assert rl.ones(1).type(rl.DoubleTensor).dtype is rl.float64
    with pytest.raises(ValueError, match="invalid type"):
        rl.ones(1).type("rushlight.NoTensor")
