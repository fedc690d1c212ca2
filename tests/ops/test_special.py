"""Special functions: against PyTorch where it is right, and known values where it is not."""

import math

import pytest

import rushlight as rl

from .parity import agree, numbers, table

P = "T.linspace(0.05,0.95,7,dtype=T.float64)"
R = "T.linspace(-9,9,13,dtype=T.float64)"
VALUES = f"""
[getattr(T.special,f)({R}) for f in ('i0','i0e','i1','i1e','erfcx','ndtr','log_ndtr','spherical_bessel_j0','entr','expit')]
[getattr(T.special,f)({P}) for f in ('ndtri','entr','gammaln','psi','erfinv','logit','modified_bessel_k0','modified_bessel_k1')]
[getattr(T.special,f)({P}*30) for f in ('i0','i1e','scaled_modified_bessel_k0','scaled_modified_bessel_k1','erfcx')]
[getattr(T.special,f)(L([0.0,math.inf,-math.inf,math.nan,-1.0])) for f in ('ndtri','entr','log_ndtr','erfcx','i0e','modified_bessel_k0')]
[getattr(T.special,f)(L([1,2])) for f in ('i0','erfcx','ndtr','bessel_j0','airy_ai')]
T.special.i0(L([1j]))
T.special.xlog1py(L([0.0,1.0,0.0]),L([-1.0,2.0,math.nan]))
T.special.xlog1py(2,Y)
T.special.xlog1py(2,3)
T.special.zeta(L([2.0,1.5,1.0,0.5,3.0]),L([1.0,0.3,1.0,1.0,-0.5]))
T.special.zeta(2.0,Y)
[T.polygamma(n,Y) for n in range(5)]
[T.special.polygamma(n,L([-0.5,-1.5,0.0])) for n in (1,2)]
T.polygamma(-1,Y)
Y.polygamma(1)
T.special.multigammaln(Y+3,2)
T.igamma(L([0.5,3.0,40.0,0.0,2.0,-1.0]),L([0.2,4.0,38.0,1.0,0.0,1.0]))
T.igammac(L([0.5,3.0,40.0,0.0,2.0,math.inf]),L([0.2,4.0,48.0,1.0,0.0,1.0]))
T.special.chebyshev_polynomial_t({R}/9,L([3]))
T.special.chebyshev_polynomial_u({R}/9,4)
T.special.shifted_chebyshev_polynomial_v({P},L([0,1,2,3,4,-1,6]))
T.special.hermite_polynomial_h({R}/3,3)
T.special.hermite_polynomial_he(0.5,L([0,1,2,5]))
T.special.laguerre_polynomial_l({P},3)
T.special.legendre_polynomial_p({P},5.7)
T.special.legendre_polynomial_p(0.5,2)
gradients(lambda x,y,s: T.special.i0(x/4)+T.special.i1e(x)+T.special.i1(x/4)+T.special.i0e(x))
gradients(lambda x,y,s: T.special.log_ndtr(x)+T.special.ndtr(x)+T.special.erfcx(x/4))
gradients(lambda x,y,s: T.special.ndtri(y/9)+T.special.entr(y)+T.special.xlog1py(y,s)+T.polygamma(2,y))
"""


@table(VALUES)
def test_values(expression):
    agree(expression, numbers)


# Abramowitz & Stegun, tables 9.1 and 10.11 (PyTorch is off in the seventh digit)
KNOWN = {
    ("bessel_j0", 10.0): -0.2459357644513483,
    ("bessel_j1", 10.0): 0.04347274616886144,
    ("bessel_y0", 10.0): 0.05567116728359939,
    ("bessel_y1", 10.0): 0.24901542420695388,
    ("bessel_j0", 2.0): 0.22389077914123567,
    ("bessel_y1", 2.0): -0.10703243154093755,
    ("airy_ai", -5.0): 0.3507610090241142,
    ("airy_ai", 1.0): 0.1352924163128814,
    ("airy_ai", 5.0): 0.00010834442813607442,
}


@pytest.mark.parametrize("name, x", KNOWN)
def test_waves(name, x):
    found = getattr(rl.special, name)(rl.tensor(x, dtype=rl.float64)).item()
    assert math.isclose(found, KNOWN[name, x], rel_tol=2e-14)


def test_no_slope_is_claimed_where_there_is_none():
    a, x = (rl.tensor([2.0], requires_grad=True) for _ in range(2))
    rl.igamma(a, x).backward()
    assert a.grad is None and math.isclose(x.grad.item(), 2 * math.exp(-2), rel_tol=1e-6)


def test_shifted_polynomials_of_unsigned_numbers():
    x, n = rl.tensor([0, 1, 2], dtype=rl.uint8), rl.tensor([3, 3, 3], dtype=rl.uint8)
    for kind, expected in (("t", [-1, 1, 99]), ("u", [-4, 4, 204]), ("v", [-7, 1, 169]), ("w", [-1, 7, 239])):
        made = getattr(rl.special, f"shifted_chebyshev_polynomial_{kind}")(x, n)
        assert made.dtype is rl.float32 and made.tolist() == expected


def test_polynomials_refuse_complex_numbers():
    with pytest.raises(NotImplementedError, match="ComplexFloat"):
        rl.special.legendre_polynomial_p(rl.tensor([1j]), 2)


def test_slopes_of_log_ndtr_far_out():
    """Of -x for large x: erfcx overflows there, the density does not."""
    for dtype, x in ((rl.float32, 12.0), (rl.float64, 30.0), (rl.float32, 60.0), (rl.float64, math.inf)):
        t = rl.tensor([x], dtype=dtype, requires_grad=True)
        (slope,) = rl.autograd.grad(rl.special.log_ndtr(t).sum(), t, create_graph=True)
        (curvature,) = rl.autograd.grad(slope.sum(), t)
        density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        assert math.isclose(slope.item(), density, rel_tol=1e-4, abs_tol=0)
        assert math.isclose(curvature.item(), -x * density if density else 0.0, rel_tol=1e-4, abs_tol=0)
