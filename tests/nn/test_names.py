"""Modules and helpers of old, by their names."""

import pytest

import rushlight as rl
from rushlight import nn
from rushlight.nn import functional as F


@pytest.mark.parametrize("size", [1, 3, 4, 5])
def test_normalisation_across_maps(size):
    x = rl.rand(2, 9, 3, 4)
    reach = (size - 1) // 2
    squares = rl.stack([(x[:, max(0, c - reach) : c + reach + 1] ** 2).sum(1) for c in range(9)], 1)
    expected = x / (2 + 0.1 / size * squares) ** 0.75
    assert rl.allclose(nn.CrossMapLRN2d(size, 0.1, 0.75, 2)(x), expected)
    assert repr(nn.CrossMapLRN2d(3)) == "CrossMapLRN2d(3, alpha=0.0001, beta=0.75, k=1)"
    with pytest.raises(ValueError, match="4D"):
        nn.CrossMapLRN2d(3)(rl.ones(3, 3))


def test_deprecated():
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        loss = nn.NLLLoss2d(ignore_index=3)
    assert loss.ignore_index == 3
    with pytest.warns(FutureWarning, match="Container"):
        held = nn.Container(a=nn.Linear(1, 2))
    assert [name for name, _ in held.named_children()] == ["a"]


def test_factory_kwargs():
    assert nn.factory_kwargs(None) == {}
    assert nn.factory_kwargs({"device": 1, "factory_kwargs": {"dtype": 2}}) == {"device": 1, "dtype": 2}
    for wrong in ({"x": 1}, {"factory_kwargs": {"x": 1}}, {"dtype": 1, "factory_kwargs": {"dtype": 2}}):
        with pytest.raises(TypeError):
            nn.factory_kwargs(wrong)


def test_pairs():
    F.assert_int_or_pair(3, "a", "{}")
    F.assert_int_or_pair((1, 2), "a", "{}")
    with pytest.raises(AssertionError, match="a is wrong"):
        F.assert_int_or_pair((1, 2, 3), "a", "{} is wrong")
    assert nn.common_types._size_2_t == int | tuple[int, int]


def test_arguments_by_place_and_former_names():
    assert nn.LazyConv2d(8, 3, 2, 1, 1, 1, False, "reflect").bias is None
    lazy = nn.LazyConvTranspose1d(8, 3, 2, 1, 1, 2, True, 2)
    assert lazy(rl.ones(1, 4, 5)).shape == nn.ConvTranspose1d(4, 8, 3, 2, 1, 1, 2, True, 2)(rl.ones(1, 4, 5)).shape
    assert lazy.bias.shape == (8,) and lazy.dilation == (2,)
    with pytest.warns(FutureWarning, match="min_value"):
        limited = nn.Hardtanh(min_value=-3.0)
    assert (limited.min_val, limited.max_val) == (-3.0, 1.0)
