"""Sorted, largest and k-th elements against PyTorch."""

import numpy as np
import pytest

import rushlight as rl

from .parity import agree, numbers, table

U = "L([[3.0, 1.0, 2.0, 1.5], [0.5, math.nan, -1.0, 0.0], [7.0, 5.0, 6.0, 4.0]])"


@table(
    f"""
    {U}.sort()
    {U}.sort(0, True)
    {U}.sort(dim=0, descending=True, stable=True)
    {U}.argsort(descending=True)
    {U}.msort()
    {U}.t().sort(1)
    L([2, 1, 2, 1]).sort(stable=True)
    L([True, False, True]).sort()
    {U}.half().sort()
    {U}.to(T.uint8).sort(1).values
    S.sort()
    E.sort()
    {U}.sort(5)
    {U}.to(T.complex64).sort()
    {U}.topk(2)
    {U}.topk(2, 0, False)
    {U}.topk(5)
    {U}.topk(-1)
    S.topk(1)
    {U}.kthvalue(2)
    {U}.kthvalue(3, 0, True)
    {U}.kthvalue(0)
    {U}.kthvalue(5)
    E.kthvalue(1)
    S.kthvalue(1)
    T.zeros(0, 3).kthvalue(1, 1)
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)


@table(
    """
    x.sin().sort(1).values * y
    x.sin().sort(0, True).values * y
    x.sin().topk(2)[0] * s
    x.sin().kthvalue(2)[0] * s
    x.sin().msort() * y
    """
)
def test_gradients(expression):
    agree(f"gradients(lambda x, y, s: {expression})", numbers)


def test_results_have_names():
    found = rl.tensor([3.0, 1.0]).sort()
    assert (
        found.values.tolist() == [1, 3] and found.indices.tolist() == [1, 0] and found._fields == ("values", "indices")
    )
    out = rl.empty(0), rl.empty(0, dtype=rl.int64)
    assert rl.sort(rl.tensor([3.0, 1.0]), out=out)[0] is out[0] and out[1].tolist() == [1, 0]


@pytest.mark.parametrize("shape, dim", [((5000,), 0), ((300, 40), 0), ((3, 2000), 1)])
def test_stable_like_numpy(shape, dim):
    a = np.random.default_rng(0).integers(0, 50, shape)
    found = rl.tensor(a).sort(dim)
    assert np.array_equal(found.indices.numpy(), np.argsort(a, dim, kind="stable"))
    assert np.array_equal(found.values.numpy(), np.sort(a, dim))
