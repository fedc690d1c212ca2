"""Evenly spaced numbers, the identity, powers and windows."""

import pytest

import rushlight as rl

from .parity import agree, table

RANGES = """
T.arange(5,dtype=T.bool)
T.arange(1,5,-1)
T.arange(1,5,0)
T.arange(5.)
T.arange(0,1,0.1)
T.arange(10,0,-3)
T.arange(10,0,-0.7)
T.arange(5,dtype=T.complex64)
T.arange(0.5,5,dtype=T.int64)
T.arange(0.5,5,dtype=T.int32)
T.arange(5,dtype=T.bfloat16)
T.arange(5,dtype=T.float64)
T.arange(5,dtype=T.uint8)
T.arange(float('nan'))
T.arange(0,float('inf'))
T.arange(start=1,end=4)
T.arange(1,end=4)
T.arange(1,4,step=2)
T.arange(end=4)
T.arange(T.tensor(3))
T.arange(5,out=T.zeros(5))
T.arange(5,requires_grad=True)
T.arange(5.,requires_grad=True)
T.arange(True)
T.arange(1j)
T.arange(0)
T.arange(2,2)
T.arange(3,dtype=float)
T.linspace(0,1,-1)
T.linspace(0,1,1)
T.linspace(0,1,0)
T.linspace(0,1,37)
T.linspace(-3,100,7,dtype=T.float64)
T.linspace(0,10,4,dtype=T.int64)
T.linspace(-10,10,15,dtype=T.int32)
T.linspace(0,1,5.0)
T.linspace(0,1)
T.linspace(T.tensor(0.),1,3)
T.linspace(1j,1,3)
T.linspace(1j,1,3,dtype=T.float32)
T.linspace(0,5,11,dtype=T.bool)
T.linspace(start=0,end=5,steps=11)
T.linspace(0,5,11,requires_grad=True)
T.logspace(0,2,3)
T.logspace(0,2,3,base=2)
T.logspace(-1,2,30,base=2)
T.logspace(0,2,3,dtype=T.int32)
T.logspace(0,2,1)
T.logspace(0,2,4,dtype=T.complex64)
T.range(1,4)
T.range(1,4,0.5)
T.range(1,4,dtype=T.int64)
T.range(4,1)
T.eye(3)
T.eye(2,3,dtype=T.bool)
T.eye(3,2,dtype=T.complex64)
T.eye(0)
T.eye(-1)
T.eye(2.)
T.vander(T.tensor([1,2,3]))
T.vander(T.tensor([1.,2,3]),2,increasing=True)
T.vander(T.tensor([1.,2,3]),5)
T.vander(T.tensor([1.,2,3]),0)
T.vander(T.tensor([1.,2,3]),1)
T.vander(T.ones(2,2))
"""
WINDOWS = """
T.hann_window(5)
T.hann_window(5,False)
T.hamming_window(5,True,0.5,0.4)
T.hamming_window(20)
T.hamming_window(1)
T.hann_window(0)
T.hann_window(-1)
T.hann_window(3,dtype=T.int64)
T.bartlett_window(6)
T.bartlett_window(5,False)
T.blackman_window(5)
T.blackman_window(5,dtype=T.float64)
T.kaiser_window(5)
T.kaiser_window(5, False, beta=8.0)
T.kaiser_window(40, True, 3.0, dtype=T.float64)
T.kaiser_window(1)
T.kaiser_window(0)
"""


@table(RANGES)
def test_ranges(expression):
    agree(expression)


@table(WINDOWS)
def test_windows(expression):
    agree(expression)


@pytest.mark.parametrize("count", [1, 2, 17, 100_003])
def test_sizes_of_one_structure(count):
    made = rl.arange(count)
    assert made[-1].item() == count - 1 and made.sum().item() == count * (count - 1) // 2
    ends = rl.linspace(-1, 1, count, dtype=rl.float64)
    assert ends[0].item() == -1 and (count == 1 or ends[-1].item() == 1)


def test_powers_of_a_vector_have_a_gradient():
    x = rl.tensor([0.0, 2.0], requires_grad=True)
    rl.vander(x, 4).sum().backward()
    assert x.grad.tolist() == [1, 17]


def test_vander_of_narrow_integers_is_int64():
    assert rl.vander(rl.tensor([200, 2], dtype=rl.uint8), 3).tolist() == [[40000, 200, 1], [4, 2, 1]]
