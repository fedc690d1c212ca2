"""Histograms in several dimensions."""

import numpy as np
import pytest

import rushlight as rl


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_numpy(density, weighted):
    generator = np.random.default_rng(1)
    points, weights = generator.standard_normal((200, 3)), generator.random(200) if weighted else None
    weight = None if weights is None else rl.from_numpy(weights)
    x = rl.from_numpy(points)
    edges = [np.array([-1.0, 0, 0.5, 2]), np.array([0.0, 1]), np.array([-3.0, -1, 3])]
    for bins in ([3, 4, 2], edges):
        ours = [rl.from_numpy(e) for e in bins] if bins is edges else bins
        found = rl.histogramdd(x, ours, weight=weight, density=density)
        expected, marks = np.histogramdd(points, bins, weights=weights, density=density)
        np.testing.assert_allclose(found.hist.numpy(), expected, rtol=1e-12)
        for a, b in zip(found.bin_edges, marks, strict=True):
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-12)
    found = rl.histogramdd(x, 5, range=[-1.0, 1, 0, 1, -2, 0.5])
    expected, _ = np.histogramdd(points, 5, range=[(-1, 1), (0, 1), (-2, 0.5)])
    assert (found.hist.numpy() == expected).all()


def test_shapes():
    assert rl.histogramdd(rl.rand(2, 3, 2), 4).hist.sum() == 6
    empty = rl.histogramdd(rl.rand(0, 2), [2, 1])
    assert empty.hist.tolist() == [[0], [0]] and empty.bin_edges[0].tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(
    "arguments, options, message",
    [
        ((rl.rand(4), 2), {}, "at least 2 dimensions"),
        ((rl.rand(4, 2), [2]), {}, "equal to the innermost"),
        ((rl.rand(4, 2), [2, 0]), {}, "bins must be > 0, but got 0 for dimension 1"),
        ((rl.rand(4, 2), 2), {"range": [0, 1.0]}, "4 elements"),
        ((rl.rand(4, 2), 2), {"range": [0, 1.0, 1, 0]}, "max must be larger"),
        ((rl.rand(4, 2), 2), {"weight": rl.rand(3)}, "same shape"),
        ((rl.rand(4, 2), 2), {"weight": rl.rand(4).double()}, "same dtype"),
        ((rl.rand(4, 2), [rl.rand(3), rl.rand(2).double()]), {}, "for dimension 1"),
        ((rl.rand(4, 2), [rl.rand(3), rl.rand(2, 2)]), {}, "one dimension"),
    ],
)
def test_errors(arguments, options, message):
    with pytest.raises(RuntimeError, match=message):
        rl.histogramdd(*arguments, **options)
    with pytest.raises(NotImplementedError, match="Long"):
        rl.histogramdd(rl.ones(2, 2, dtype=rl.int64), 2)
    with pytest.raises(TypeError, match="element 1"):
        rl.histogramdd(rl.rand(4, 2), [rl.rand(2), 2])
