"""Numerical derivatives."""

import pytest

import rushlight as rl
from rushlight.autograd.gradcheck import gradcheck, gradgradcheck


def test_parabola():
    """Differences of second order are exact for parabolas, inside and (with edge_order 2) at the ends."""
    x = rl.tensor([0.0, 0.5, 2.0, 2.25, 4.0], dtype=rl.float64)
    f = 3 * x * x - x + 2
    (uneven,) = rl.gradient(f, spacing=(x,), edge_order=2)
    assert (uneven - (6 * x - 1)).abs().max() < 1e-12
    even = rl.arange(6, dtype=rl.float64) * 0.5
    (found,) = rl.gradient(3 * even * even, spacing=0.5, edge_order=2)
    assert (found - 6 * even).abs().max() < 1e-12
    (rough,) = rl.gradient(3 * even * even, spacing=0.5)
    assert rough.tolist() == [1.5, 3, 6, 9, 12, 13.5]


def test_dims_and_dtypes():
    x = rl.arange(12).reshape(3, 4)
    down, across = rl.gradient(x)
    assert down.dtype is rl.float32 and (down == 4).all() and (across == 1).all()
    assert (rl.gradient(x, dim=-1, spacing=[2.0])[0] == 0.5).all()
    assert (rl.gradient(x, spacing=rl.tensor(2.0), dim=0)[0] == 2).all()
    assert rl.gradient(rl.tensor(1.0)) == ()
    assert rl.gradient(rl.tensor([1j, 3j]))[0].tolist() == [2j, 2j]


@pytest.mark.parametrize("edge_order", [1, 2])
def test_derivatives(edge_order):
    x = rl.rand(3, 4, dtype=rl.float64).requires_grad_()
    places = [rl.tensor([0.0, 1, 3]), rl.tensor([0.0, 1, 3, 4])]
    for spacing in (1.5, places):
        assert gradcheck(lambda v, s=spacing: rl.gradient(v, spacing=s, edge_order=edge_order), (x,))
        assert gradgradcheck(lambda v, s=spacing: rl.gradient(v.exp(), spacing=s, edge_order=edge_order), (x,))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"edge_order": 3}, "edge_order=1 and edge_order=2"),
        ({"edge_order": 2, "dim": 0}, r"at least edge_order\+1"),
        ({"spacing": [1.0, 2.0, 3.0]}, "got a list of length 3"),
        ({"spacing": [1.0, 2.0], "dim": 0}, "spacing argument of length 2"),
        ({"spacing": [rl.ones(3)], "dim": 0}, "expected 2 coordinates"),
        ({"dim": (0, 0)}, "multiple times"),
    ],
)
def test_errors(options, message):
    with pytest.raises(RuntimeError, match=message):
        rl.gradient(rl.rand(2, 4), **options)
    with pytest.raises(RuntimeError, match="uint8"):
        rl.gradient(rl.ones(3, dtype=rl.uint8))
