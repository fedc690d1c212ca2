"""Short-time transforms against PyTorch, their derivatives, and what they refuse."""

import warnings

import pytest
from ops.parity import agree, table

import rushlight as rl
from rushlight.autograd.gradcheck import gradcheck, gradgradcheck


def names(T):
    x = ((T.arange(128.0) * 37) % 11).reshape(2, 64)
    c = T.complex(x, x.flip(1))
    w = T.hann_window(16) + 0.1
    return {
        "x": x,
        "c": c,
        "w": w,
        "v": T.complex(w, w * 0.5),
        "S": T.stft(x, 16, window=w, return_complex=True),
        "C": T.stft(c, 16, window=w, onesided=False),
    }


@table("""
T.stft(x,16)
T.stft(x,16,return_complex=False)
T.stft(x,16,return_complex=True).stride()
x.stft(16,5,12,w[:12],normalized=True,return_complex=True)
T.stft(c,16)
T.stft(c,16,onesided=True)
T.stft(c,16,return_complex=False)
T.stft(x,16,window=v)
T.stft(x,16,window=v,onesided=True)
T.stft(x,0,return_complex=True)
T.stft(x,100,center=False,return_complex=True)
T.stft(x,16,hop_length=0,return_complex=True)
T.stft(x,16,win_length=0,return_complex=True)
T.stft(x,16,win_length=17,return_complex=True)
T.stft(x,16,win_length=10,window=w,return_complex=True)
T.stft(x,16,win_length=9,return_complex=True)
T.stft(x,16,window=T.ones(2,16),return_complex=True)
T.stft(x[None],16,return_complex=True)
T.stft(T.tensor(1.),16,return_complex=True)
T.stft(T.arange(64),16,return_complex=True)
T.stft(x.half(),16,return_complex=True)
T.stft(x,16,pad_mode='foo',return_complex=True)
[T.stft(x,16,pad_mode=m,return_complex=True) for m in ('constant','replicate','circular')]
T.stft(x[0],16,return_complex=True)
T.stft(x[:,:8],16,return_complex=True)
T.stft(x,17,3,normalized=True,return_complex=True,onesided=False)
T.stft(x,16,align_to_window=True,return_complex=True)
[T.stft(x,16,4,9,w[:9],center=False,return_complex=True,align_to_window=a) for a in (True,False,None)]
T.stft(x,16,window=w.double(),return_complex=True)
T.istft(S,16)
S.istft(16,window=w)
T.istft(S,16,window=w,center=False)
T.istft(S,16,window=w-0.1,center=False)
[T.istft(S,16,window=w,length=n) for n in (5,50,100)]
T.istft(S,16,window=w,length=0)
T.istft(S,16,window=w,return_complex=True)
T.istft(C,16,window=w,return_complex=True,onesided=False)
T.istft(C,16,window=w,onesided=False)
T.istft(C,16,window=v,return_complex=True)
T.istft(S,16,window=v)
T.istft(S,18,window=w)
T.istft(S,16,window=w[:10])
T.istft(S,16,win_length=10,window=w[:10])
T.istft(S,16,hop_length=20,window=w)
T.istft(S,16,hop_length=0,window=w)
T.istft(S,16,win_length=20)
T.istft(S,16,window=T.zeros(16))
T.istft(T.view_as_real(S),16)
T.istft(S[0],16,window=w)
T.istft(S[None],16,window=w)
T.istft(S[:0],16,window=w)
T.istft(S,16,normalized=True)
T.istft(T.stft(x,16,1,return_complex=True),16,1)
""")
def test_agrees(expression):
    agree(expression, names)


def test_a_signal_comes_back():
    x, w = rl.randn(2, 1000), rl.hamming_window(64)
    spectrum = rl.stft(x, 64, 20, window=w, return_complex=True)
    assert rl.allclose(rl.istft(spectrum, 64, 20, window=w, length=1000), x, atol=1e-5)


def test_padding_of_a_short_signal_warns():
    spectrum = rl.stft(rl.ones(64), 16, return_complex=True)
    with pytest.warns(UserWarning, match="padded with zeros"):
        assert rl.istft(spectrum, 16, length=100)[90:].eq(0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rl.istft(spectrum, 16, length=70)


@pytest.mark.parametrize("kind", [rl.float64, rl.complex128])
def test_derivatives(kind):
    x = rl.randn(2, 24, dtype=kind).requires_grad_()
    w = (rl.rand(6, dtype=rl.float64) + 0.5).requires_grad_()

    def forward(x, w):
        return rl.stft(x, 8, 3, 6, w, return_complex=True)

    def back(x, w):
        return rl.istft(forward(x, w), 8, 3, 6, w * w, return_complex=kind.is_complex)

    for function in (forward, back):
        gradcheck(function, (x, w), fast_mode=True)
        gradgradcheck(function, (x, w), fast_mode=True)
