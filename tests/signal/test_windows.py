"""Windows against PyTorch, and what they refuse."""

import pytest
from ops.parity import agree, table

import rushlight as rl

ALL = "bartlett blackman cosine exponential gaussian general_hamming hamming hann kaiser nuttall"


@table("""
[getattr(T.signal.windows,n)(M,sym=s) for n in names for M in (0,1,2,5,18) for s in (True,False)]
[getattr(T.signal.windows,n)(7,dtype=T.float64) for n in names]
W.general_cosine(5,a=[0.5,0.3,0.2])
W.general_cosine(6,a=(0.5,0.2),sym=False)
W.general_cosine(5,a=0.5)
W.general_cosine(5,a=[])
W.general_hamming(5,alpha=0.3)
W.exponential(5,center=1,sym=False,tau=2.0)
W.exponential(5,center=1)
W.exponential(5,tau=0)
W.gaussian(5,std=2.0)
W.gaussian(5,std=-1)
W.kaiser(9,beta=0)
W.kaiser(9,beta=30.0)
W.kaiser(9,beta=-1)
W.hann(-1)
W.hann(1.5)
W.hann(5,0.5)
W.hann(5,dtype=T.int64)
W.hann(5,dtype=T.float16)
W.hann(5,requires_grad=True)
sorted(W.__all__)
""")
def test_agrees(expression):
    agree(expression, lambda T: {"W": T.signal.windows, "names": ALL.split()})


def test_steepness_of_the_kaiser_window():
    assert rl.kaiser_window(5, False, -3.0).tolist() == rl.kaiser_window(5, False, 3.0).tolist()
    assert rl.signal.windows.kaiser(3, beta=1e6).tolist() == [0, 1, 0]
    for window in (rl.kaiser_window, rl.signal.windows.kaiser):
        with pytest.raises(RuntimeError, match="beta must be at most"):
            window(8, beta=float("inf"))
