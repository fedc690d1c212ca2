"""Lazy layers: shapes and values from the first input, or from a loaded state."""

import pytest

import rushlight
from rushlight import nn

CASES = [
    ("Linear", (3,), {}, (2, 5)),
    ("Linear", (3,), {"bias": False}, (5,)),
    *((f"Conv{d}d", (4, 3), {"padding": 1, "groups": 2}, (2, 6) + (5,) * d) for d in (1, 2, 3)),
    *((f"ConvTranspose{d}d", (4, 3), {"stride": 2}, (2, 6) + (5,) * d) for d in (1, 2, 3)),
    *((f"BatchNorm{d}d", (), {}, (2, 6) + (5,) * d) for d in (1, 2, 3)),
    *((f"InstanceNorm{d}d", (), {"affine": True}, (2, 6) + (5,) * d) for d in (1, 2, 3)),
]


@pytest.mark.parametrize(("name", "args", "kwargs", "shape"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_first_input_decides(name, args, kwargs, shape):
    features = shape[-1] if name == "Linear" else shape[1]
    rushlight.manual_seed(0)
    lazy = getattr(nn, "Lazy" + name)(*args, **kwargs)
    assert lazy.has_uninitialized_params()
    x = rushlight.ones(shape)
    first = lazy(x)
    rushlight.manual_seed(0)
    plain = getattr(nn, name)(features, *args, **kwargs)
    assert type(lazy) is type(plain) and repr(lazy) == repr(plain)
    assert {k: v.tolist() for k, v in lazy.named_parameters()} == {k: v.tolist() for k, v in plain.named_parameters()}
    assert first.tolist() == plain(x).tolist() and len(lazy._forward_pre_hooks) == 0


@pytest.mark.parametrize(("name", "args", "kwargs", "shape"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_loading_decides(name, args, kwargs, shape):
    plain = getattr(nn, name)(shape[-1] if name == "Linear" else shape[1], *args, **kwargs).eval()
    lazy = nn.Sequential(getattr(nn, "Lazy" + name)(*args, **kwargs)).eval()
    assert lazy.load_state_dict({f"0.{k}": v for k, v in plain.state_dict().items()}) == ([], [])
    x = rushlight.randn(shape)
    assert lazy(x).tolist() == plain(x).tolist() and repr(lazy[0]) == repr(plain)


def test_uninitialized_state():
    lazy, other = nn.LazyLinear(2), nn.LazyLinear(2)
    state = lazy.state_dict()
    assert nn.parameter.is_lazy(state["weight"])
    other.load_state_dict(state)
    assert other.has_uninitialized_params()


def test_conversion_before_the_first_input():
    lazy = nn.LazyLinear(2).double()
    assert lazy(rushlight.ones(1, 3, dtype=rushlight.float64)).dtype is rushlight.float64


def test_gradients():
    net = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(1))
    net(rushlight.ones(2, 3)).sum().backward()
    assert [p.grad.shape for p in net.parameters()] == [(4, 3), (4,), (1, 4), (1,)]


def test_wrong_inputs():
    with pytest.raises(RuntimeError, match="LazyConv2d"):
        nn.LazyConv2d(1, 1)(rushlight.ones(2, 2))
    with pytest.raises(ValueError, match="divisible by groups"):
        nn.LazyConv1d(2, 1, groups=2)(rushlight.ones(1, 3, 4))
