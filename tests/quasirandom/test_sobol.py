"""Sobol sequences: the table, the points, scrambling, and the engine's state."""

import pickle

import pytest

import rushlight as rl
from rushlight.quasirandom import SobolEngine
from rushlight.quasirandom.directions import FIRST, MAXDIM, directions, polynomials


def test_first_points():
    """From the authors' description of the sequence (in the order of Gray codes)."""
    points = SobolEngine(4).draw(6).tolist()
    assert [row[0] for row in points] == [0, 0.5, 0.75, 0.25, 0.375, 0.875]
    assert [row[1] for row in points] == [0, 0.5, 0.25, 0.75, 0.375, 0.875]
    assert [row[2] for row in points] == [0, 0.5, 0.25, 0.75, 0.625, 0.125]


def test_every_dimension_is_a_net():
    """2^m points from the first on have one point in every interval of length 2^-m, in all dimensions."""
    points = SobolEngine(MAXDIM).draw(32)
    expected = rl.arange(32, dtype=rl.float32).unsqueeze(1) / 32
    assert (points.sort(0).values == expected).all()


def test_polynomials_are_in_order_of_degree():
    p = polynomials(MAXDIM)
    assert (p.diff() > 0).all() and (p & 1).all() and p[:8].tolist() == [1, 3, 7, 11, 13, 19, 25, 37]
    assert [int(p[first]) >> s for s, first in enumerate(FIRST[:-1])] == [1] * 19


@pytest.mark.parametrize("scramble", [False, True])
def test_parts_join(scramble):
    """However the points are drawn, they are the same."""
    whole = SobolEngine(3, scramble, seed=5).draw(1500)
    engine = SobolEngine(3, scramble, seed=5)
    parts = [engine.draw(n) for n in (1, 7, 600, 0, 255)]
    assert (rl.cat(parts) == whole[:863]).all() and engine.num_generated == 863
    assert (engine.quasi.float() / 2**30 == whole[862]).all()
    engine.fast_forward(137)
    assert (pickle.loads(pickle.dumps(engine)).draw(500) == whole[1000:]).all()
    assert (engine.reset().draw(3) == whole[:3]).all()


def test_scrambled_points_stay_a_net():
    points = SobolEngine(50, scramble=True, seed=3).draw_base2(6)
    assert ((points * 64).floor().sort(0).values == rl.arange(64).unsqueeze(1)).all()
    assert not (points == SobolEngine(50, scramble=True, seed=4).draw(64)).all()


def test_out_and_dtype():
    out = rl.empty(0, dtype=rl.float64)
    assert SobolEngine(2).draw(4, out=out, dtype=rl.float64) is out and out.shape == (4, 2)
    assert SobolEngine(2).draw_base2(2, dtype=rl.float64).dtype is rl.float64
    assert repr(SobolEngine(2, True, 7)) == "SobolEngine(dimension=2, scramble=True, seed=7)"


def test_errors():
    for dimension in (0, MAXDIM + 1):
        with pytest.raises(ValueError, match="dimensionality"):
            SobolEngine(dimension)
    engine = SobolEngine(1)
    engine.draw(3)
    with pytest.raises(ValueError, match="balance"):
        engine.draw_base2(1)
    with pytest.raises(ValueError, match="points"):
        engine.fast_forward(2**30 - 2)
    with pytest.raises(ValueError, match="points"):
        engine.draw(-1)
    with pytest.raises(NotImplementedError, match="Long"):
        engine.draw(1, dtype=rl.int64)


def test_against_pytorch():
    torch = pytest.importorskip("torch")
    theirs = torch.quasirandom.SobolEngine(MAXDIM)
    assert directions(MAXDIM).tolist() == theirs.sobolstate.tolist()
    for scramble in (False, True):
        ours = SobolEngine(9, scramble, seed=2)
        theirs = torch.quasirandom.SobolEngine(9, scramble, seed=2)
        assert ours.draw(700).tolist() == theirs.draw(700).tolist()
        assert ours.quasi.tolist() == theirs.quasi.tolist()
