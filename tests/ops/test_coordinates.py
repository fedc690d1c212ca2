"""Flat indices and coordinates."""

import pytest

import rushlight as rl


def test_round_trip():
    shape, flat = (3, 4, 5), rl.arange(60).reshape(6, 10)
    i, j, k = rl.unravel_index(flat, shape)
    assert (i * 20 + j * 5 + k == flat).all() and i.shape == (6, 10) and int(j.max()) == 3
    (same,) = rl.unravel_index(rl.tensor(3, dtype=rl.int32), 4)
    assert same.item() == 3 and same.dtype is rl.int64
    assert rl.unravel_index(rl.tensor([0]), ()) == ()
    assert [p.shape for p in rl.unravel_index(rl.zeros(0, dtype=rl.int64), (0, 3))] == [(0,), (0,)]


@pytest.mark.parametrize(
    "indices, shape, error, message",
    [
        (rl.ones(1), (2,), TypeError, "integer dtype"),
        (rl.tensor([True]), (2,), TypeError, "integer dtype"),
        (rl.tensor([0]), (-1, 2), ValueError, "negative"),
        (rl.tensor([0]), (2.0, 2), TypeError, "only contain ints"),
        (rl.tensor([0]), rl.tensor([2]), TypeError, "int or sequence"),
        (rl.tensor([0]), (0, 2), IndexError, "no elements"),
    ],
)
def test_errors(indices, shape, error, message):
    with pytest.raises(error, match=message):
        rl.unravel_index(indices, shape)
