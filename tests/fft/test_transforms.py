"""The names of `rushlight.fft` against PyTorch: values, dtypes, strides, errors; lengths without a fast form."""

import numpy as np
import pytest
from ops.parity import agree, table

import rushlight as rl
from rushlight.autograd.gradcheck import gradcheck, gradgradcheck

ONE, SEVERAL = (
    ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"),
    ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"),
)
RANDOM = np.random.default_rng(11)


def signal(kind, shape, real="float32"):
    x = RANDOM.standard_normal(shape)
    if kind.startswith(("rfft", "ihfft")):
        return x.astype(real)
    return (x + 1j * RANDOM.standard_normal(shape)).astype("complex64" if real == "float32" else "complex128")


def same(kind, x, *arguments):
    """Equal numbers in equal strides."""
    torch = pytest.importorskip("torch")
    found = getattr(rl.fft, kind)(rl.from_numpy(x), *arguments)
    expected = getattr(torch.fft, kind)(torch.from_numpy(x), *arguments).resolve_conj()
    assert str(found.dtype)[10:] == str(expected.dtype)[6:] and tuple(found.shape) == tuple(expected.shape)
    assert found.stride() == expected.stride()
    epsilon = 1e-6 if found.dtype in (rl.complex64, rl.float32) else 2e-15
    assert np.abs(found.numpy() - expected.numpy()).max() <= epsilon * np.abs(expected.numpy()).max()


@pytest.mark.parametrize("kind", ONE)
def test_along_one_dim(kind):
    for dim in range(3):
        same(kind, signal(kind, (3, 4, 6)), None, dim)
        same(kind, signal(kind, (2, 37, 11)), (7, 40, 16)[dim], dim, ("ortho", "forward", "backward")[dim])
    same(kind, signal(kind, (4, 3, 6)).transpose(1, 2, 0), None, 1)
    same(kind, signal(kind, (3, 30), "float64"))


@pytest.mark.parametrize("kind", SEVERAL)
def test_along_several_dims(kind):
    for dim in (None, (0, 1), (1, 0), (-1, 0), (1,), 2):
        same(kind, signal(kind, (3, 4, 6)), None, dim)
    same(kind, signal(kind, (3, 4, 6)), (5, -1), None, "ortho")
    same(kind, signal(kind, (5, 4, 6)), (7, 3), (2, 0), "forward")
    same(kind[:-1] + "2", signal(kind, (3, 4, 6)))


@pytest.mark.parametrize("n", [37, 101, 2 * 41, 1009, 17 * 17])
def test_lengths_with_large_primes(n):
    for kind in ("fft", "ifft", "rfft"):
        same(kind, signal(kind, (3, n)))
    same("irfft", signal("irfft", (3, n // 2 + 1)), n)
    same("fft", signal("fft", (n, 5), "float64"), None, 0)


def test_round_trips():
    x = rl.randn(3, 50)
    assert rl.allclose(rl.fft.irfft(rl.fft.rfft(x), 50), x, atol=1e-6)
    assert rl.allclose(rl.fft.ifftn(rl.fft.fftn(x, norm="ortho"), norm="ortho").real, x, atol=1e-6)
    assert rl.allclose(rl.fft.hfft(rl.fft.ihfft(x), 50), x, atol=1e-6)


@pytest.mark.parametrize("kind", ["fft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("n", [6, 7, 37])
def test_derivatives(kind, n):
    x = rl.from_numpy(signal(kind, (2, 5), "float64")).requires_grad_()
    function = getattr(rl.fft, kind)
    gradcheck(lambda x: function(x, n), (x,), check_forward_ad=True)
    gradgradcheck(lambda x: function(x, n) ** 2, (x,), fast_mode=True)


def test_out():
    x = rl.randn(4, 6)
    for target in (
        rl.empty(4, 6, dtype=rl.complex64),
        rl.empty(4, 6, dtype=rl.complex128),
        rl.empty(0, dtype=rl.complex64),
    ):
        assert rl.fft.fft(x, out=target) is target and rl.allclose(target.to(rl.complex64), rl.fft.fft(x))
    z = rl.fft.fft(x)
    expected = rl.fft.fft(z)
    assert rl.allclose(rl.fft.fft(z, out=z), expected)


def names(T):
    x = T.arange(24.0).reshape(4, 6)
    return {"F": T.fft, "x": x, "c": x.to(T.complex64), "z": T.tensor(1.0), "i": T.arange(24).reshape(4, 6)}


@table("""
F.fft(z)
F.fft(x,0)
F.fft(x,-1)
F.fft(x,norm='none')
F.fft(x,dim=2)
F.fft(x,dim=(0,))
F.fft(x,norm=1)
F.fft(x,n=True)
F.fft(x.half())
F.rfft(x.bfloat16())
F.rfft(c)
F.ihfft(c)
F.ihfftn(c)
F.rfftn(c)
F.irfft(c,1)
F.irfft(c[:,:1])
F.irfft(x)
F.hfft(i)
F.fft(i)
F.rfft(i>3)
F.fft(x[:,:0])
F.fft(x[:,:0],n=3)
F.irfft(c[:,:0])
F.fftn(z)
F.fft2(z)
F.fft2(x[0])
F.fftn(x,dim=(0,-2))
F.fftn(x,s=(1,2,3))
F.fftn(x,s=(2,),dim=(0,1))
F.fftn(x,s=(-2,3))
F.fftn(x,s=3)
F.fftn(c,dim=())
F.rfftn(x,dim=())
F.irfftn(z)
F.irfft2(c,s=(3,0))
F.irfftn(c,s=(3,5),norm='bad')
F.fft(x,out=T.empty(4,6))
F.irfft(c,out=T.empty(4,10,dtype=T.int64))
F.rfft(x.requires_grad_(),out=T.empty(4,4,dtype=T.complex64))
F.fft([1,2])
""")
def test_arguments(expression):
    agree(expression, names)


@pytest.mark.parametrize("n", [1 << 40, (1 << 61) - 1, 1 << 70])
def test_lengths_beyond_memory_are_refused(n):
    with pytest.raises(RuntimeError, match="at most 2..36 points"):
        rl.fft.fft(rl.zeros(4), n)
