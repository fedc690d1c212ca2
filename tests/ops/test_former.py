"""Argument orders of old."""

import pytest

import rushlight as rl

X, S, B = rl.rand(2, 3), rl.rand(3, 3), rl.rand(2, 3, 3)
V = S[0]
CASES = [
    (lambda: rl.add(X, 2, X), lambda: X + 2 * X),
    (lambda: X.sub(2, X), lambda: X - 2 * X),
    (lambda: rl.addcmul(X, 2, X, X), lambda: X + 2 * X * X),
    (lambda: X.addcdiv(2, X, X), lambda: X + 2 * X / X),
    (lambda: rl.addmm(0.5, S, 2, S, S), lambda: 0.5 * S + 2 * (S @ S)),
    (lambda: S.addmm(0.5, S, S), lambda: 0.5 * S + S @ S),
    (lambda: V.addmv(0.5, 2, S, V), lambda: 0.5 * V + 2 * (S @ V)),
    (lambda: rl.addr(0.5, S, V, V), lambda: 0.5 * S + V.outer(V)),
    (lambda: S.addbmm(0.5, 2, B, B), lambda: 0.5 * S + 2 * (B @ B).sum(0)),
    (lambda: rl.baddbmm(0.5, B, B, B), lambda: 0.5 * B + B @ B),
]


@pytest.mark.parametrize("former, today", CASES)
def test_numbers_before_tensors(former, today):
    with pytest.warns(UserWarning, match="deprecated"):
        found = former()
    assert rl.allclose(found, today())


def test_in_place():
    x = rl.ones(2)
    with pytest.warns(UserWarning, match=r"add_\(other, \*, alpha\)"):
        assert x.add_(2, x) is x
    assert x.tolist() == [3, 3]
    with pytest.warns(UserWarning):
        x.addcmul_(2, x, x)
    assert x.tolist() == [21, 21]


def test_other_calls_are_refused():
    for call in (
        lambda: rl.add(X, X, X),
        lambda: rl.add(X, 2, 3),
        lambda: rl.mul(X, 2, X),
        lambda: S.addmm(1, 2, 3, S, S),
    ):
        with pytest.raises(TypeError):
            call()
