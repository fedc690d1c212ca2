"""Layers as the torch namespace has them."""

import pytest

import rushlight as rl
from rushlight.nn import functional as F

X = rl.rand(2, 6, 4) * 3 + 1


def check_statistics(found, rows, eps=1e-5):
    """`rows` has the normalised elements along its last dim."""
    result, mean, inverse = found
    assert rl.allclose(mean.reshape(rows.shape[:-1]), rows.mean(-1))
    assert rl.allclose(inverse.reshape(rows.shape[:-1]), (rows.var(-1, correction=0) + eps).rsqrt())
    return result


def test_normalisation():
    found = rl.native_layer_norm(X, (6, 4), None, None, 1e-5)
    assert (check_statistics(found, X.reshape(2, 24)) == F.layer_norm(X, (6, 4))).all()
    assert found[1].shape == (2, 1, 1)
    found = rl.native_group_norm(X, None, None, 2, 6, 4, 3, 1e-5)
    assert (check_statistics(found, X.reshape(2, 3, 8)) == F.group_norm(X, 3)).all()
    mean, var = rl.zeros(6), rl.ones(6)
    found = rl.native_batch_norm(X, None, None, mean, var, True, 0.1, 1e-5)
    rows = X.transpose(0, 1).reshape(6, 8)
    assert (check_statistics(found, rows) == F.batch_norm(X, None, None, training=True)).all()
    assert rl.allclose(mean, 0.1 * rows.mean(1))
    _, nothing, _ = rl.native_batch_norm(X, None, None, mean, var, False, 0.1, 1e-5)
    assert nothing.shape == (0,)


def test_norms():
    assert rl.allclose(rl.norm_except_dim(X, 2, 1), X.norm(2, (0, 2), keepdim=True))
    assert rl.allclose(rl.norm_except_dim(X, 2, -1), X.norm())
    assert rl.allclose(rl.native_norm(X, 3), X.norm(3))


def test_convolution():
    weight, bias = rl.rand(5, 6, 3), rl.rand(5)
    found = rl.convolution(X, weight, bias, [1], [1], [1], False, [0], 1)
    assert (found == F.conv1d(X, weight, bias, padding=1)).all()
    weight = rl.rand(6, 5, 3)
    found = rl.convolution(X, weight, None, [2], [1], [1], True, [1], 1)
    assert (found == F.conv_transpose1d(X, weight, None, 2, 1, 1)).all()
    with pytest.raises(RuntimeError, match="3 to 5 dims"):
        rl.convolution(X, rl.ones(2, 2), None, [1], [0], [1], False, [0], 1)


def test_bags():
    table, indices, offsets = rl.arange(12.0).reshape(4, 3), rl.tensor([0, 1, 3, 3, 2]), rl.tensor([0, 2, 2])
    for mode, name in enumerate(("sum", "mean", "max")):
        result, bag, sizes, sources = rl.embedding_bag(table, indices, offsets, mode=mode)
        assert (result == F.embedding_bag(indices, table, offsets, mode=name)).all()
        assert bag.tolist() == [0, 0, 2, 2, 2] and sizes.tolist() == [2, 0, 3]
        assert sources.tolist() == ([[1] * 3, [0] * 3, [3] * 3] if mode == 2 else [2, 0, 3])
    *_, sizes, sources = rl.embedding_bag(table, indices, offsets, mode=2, padding_idx=3)
    assert sizes.tolist() == [2, 0, 1] and sources.tolist() == [[1] * 3, [0] * 3, [2] * 3]
    with pytest.raises(RuntimeError, match="mode"):
        rl.embedding_bag(table, indices, offsets, mode=3)


def test_rows_are_limited_in_place():
    table = rl.full((3, 4), 2.0)
    assert rl.embedding_renorm_(table, rl.tensor([0, 2]), 1.0, 2.0) is table
    assert rl.allclose(table, rl.tensor([[0.5] * 4, [2.0] * 4, [0.5] * 4]))


def test_rearrangements():
    assert (rl.native_channel_shuffle(X, 3) == rl.channel_shuffle(X, 3)).all()
    theta = rl.rand(1, 2, 3)
    assert (rl.affine_grid_generator(theta, (1, 1, 2, 2), True) == F.affine_grid(theta, (1, 1, 2, 2), True)).all()
