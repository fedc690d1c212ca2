"""Norms, condition numbers and ranks against PyTorch."""

import pytest
from ops.parity import agree, numbers, table

import rushlight as rl


@table(
    """
    T.linalg.vector_norm(L([1, 2]))
    T.linalg.vector_norm(X, 1 + 2j)
    T.linalg.vector_norm(X, 'fro')
    T.linalg.vector_norm(E, -1)
    T.linalg.vector_norm(E, math.inf)
    T.linalg.vector_norm(T.zeros(0, 3), math.inf, 0)
    T.linalg.vector_norm(T.zeros(0, 3), math.inf, 1)
    T.linalg.vector_norm(T.zeros(0, 3))
    [T.linalg.vector_norm(X, p) for p in (0, 0.5, 1, 1.5, 2, 3, -1, -2.5, math.inf, -math.inf, True)]
    [T.linalg.vector_norm(X * (1 + 2j), p, 1) for p in (0, 0.5, 1, 2, 3, math.inf, -math.inf)]
    T.linalg.vector_norm(X.bfloat16(), 3)
    T.linalg.vector_norm(X, 2, (0, 0))
    T.linalg.vector_norm(X, 2, 5)
    T.linalg.vector_norm(X, 2, ())
    T.linalg.vector_norm(X, 2, None, True)
    T.linalg.vector_norm(X, S)
    T.linalg.vector_norm(X, dtype=T.complex64)
    T.linalg.vector_norm(X * 1j, dtype=T.float32)
    T.linalg.vector_norm(X.float() * 1j, dtype=T.complex128)
    T.linalg.vector_norm(X, dtype=T.float32)
    T.linalg.vector_norm(X, dtype=T.int64)
    T.linalg.vector_norm(X.float(), out=T.empty(0, dtype=T.float64))
    T.linalg.vector_norm(X.float(), dtype=T.float64, out=T.empty(0, dtype=T.float64))
    T.linalg.matrix_norm(Y)
    T.linalg.matrix_norm(X, 'bad')
    T.linalg.matrix_norm(X, 3)
    T.linalg.matrix_norm(X, None)
    T.linalg.matrix_norm(X, 'fro', (0, 0))
    T.linalg.matrix_norm(X, 'fro', 0)
    T.linalg.matrix_norm(X, 'fro', (0,))
    [T.linalg.matrix_norm(X, p) for p in ('fro', 'nuc', 1, -1, 2, math.inf, -math.inf, 1.0)]
    [T.linalg.matrix_norm(X.reshape(2, 3, 2), p, (2, 0), True) for p in ('fro', 'nuc', 1, -1, 2, -2, math.inf)]
    [T.linalg.matrix_norm(X * 1j, p) for p in ('fro', 'nuc', 1, -1, 2, math.inf, -math.inf)]
    [T.linalg.matrix_norm(T.zeros(3, 0), p) for p in ('fro', 'nuc', 1, 2)]
    T.linalg.matrix_norm(T.zeros(0, 3), math.inf)
    T.linalg.matrix_norm(T.zeros(3, 0), -1)
    T.linalg.matrix_norm(X.bfloat16(), 1)
    T.linalg.matrix_norm(X.bfloat16(), 2)
    T.linalg.matrix_norm(X.float(), 1, dtype=T.float64)
    T.linalg.matrix_norm(X, 'nuc', out=T.empty(0))
    T.linalg.norm(X)
    T.linalg.norm(X, 3)
    T.linalg.norm(Y, 3)
    T.linalg.norm(Y, 'nuc')
    T.linalg.norm(X, 'nuc', 0)
    T.linalg.norm(X, 2, 0)
    T.linalg.norm(X, 1, (0, 1))
    T.linalg.norm(X.reshape(3, 2, 2), 1)
    T.linalg.norm(X.reshape(3, 2, 2))
    T.linalg.norm(X, 0, (0, 1))
    T.linalg.norm(X, 'fro', [])
    T.linalg.norm(X.float(), ord=1, dim=0, keepdim=True, dtype=T.float64)
    T.norm(X, 'nuc')
    T.norm(X, 'nuc', 0)
    T.norm(X.reshape(3, 2, 2), 'nuc')
    T.norm(X.reshape(3, 2, 2), 'nuc', (0, 1), True)
    T.norm(X.reshape(3, 2, 2), 'fro')
    T.norm(X.reshape(3, 2, 2), 'fro', (0, 1, 2))
    T.norm(X, 'bad')
    T.norm(X.float(), 1, 0, True, out=T.empty(0))
    X.norm(None, 0)
    X.norm('nuc')
    T.frobenius_norm(X)
    T.frobenius_norm(X, (0, 1), True)
    T.frobenius_norm(X.reshape(3, 2, 2), (0, 1, 2))
    T.nuclear_norm(X)
    T.nuclear_norm(X, True)
    T.nuclear_norm(X.reshape(3, 2, 2), dim=(0, 1))
    T.nuclear_norm(Y)
    gradients(lambda x, y, s: [T.linalg.vector_norm(x, p, 1) for p in (0, 0.5, 1, 1.5, 2, 3, math.inf)])
    gradients(lambda x, y, s: [T.linalg.matrix_norm(x.square().sin() + y.sin(), p) for p in ('fro', 'nuc', 1, -1)])
    gradients(lambda x, y, s: [T.linalg.matrix_norm(x.square().sin() + y.sin(), p) for p in (2, -2, math.inf)])
    gradients(lambda x, y, s: [T.linalg.vector_norm(x * 0, p) for p in (0, 1, 2, 3, math.inf)])
    """
)
def test_norms(expression):
    agree(expression, numbers)


def square(module):
    x = module.arange(9.0, dtype=module.float64).reshape(3, 3)
    return {**numbers(module), "A": (x * 1.3).sin() * 2 + x}


@table(
    """
    [T.linalg.cond(A, p) for p in (None, 2, -2, 1, -1, 'fro', 'nuc', math.inf, -math.inf)]
    T.linalg.cond(X.square().sin())
    T.linalg.cond(X, 'fro')
    T.linalg.cond(Y)
    T.linalg.cond(A, 3)
    [T.linalg.cond(T.ones(2, 2), p) for p in (1, 'fro', 'nuc')]
    T.linalg.cond(T.stack([T.eye(2), T.ones(2, 2)]), 1)
    T.linalg.cond(T.zeros(2, 0, 3))
    T.linalg.cond(T.zeros(2, 0, 0), 1)
    T.linalg.cond(A * 1j, 1)
    T.linalg.cond(A.long(), 1)
    T.linalg.cond(A.float(), out=T.empty(0, dtype=T.float64))
    gradients(lambda x, y, s: [T.linalg.cond(x[:, :3].mul(0.7).square().sin(), p) for p in (None, 2, -2)])
    T.linalg.matrix_rank(X)
    T.linalg.matrix_rank(X, 20.0)
    T.linalg.matrix_rank(X, tol=L([1.0, 20.0]))
    T.linalg.matrix_rank(X, atol=2.0, rtol=0.9)
    T.linalg.matrix_rank(X, atol=L([0.0, 20.0]))
    T.linalg.matrix_rank(X.T @ X, hermitian=True)
    T.linalg.matrix_rank(X, hermitian=True)
    T.linalg.matrix_rank(T.stack([X, X.square().sin()]))
    T.linalg.matrix_rank(Y)
    T.linalg.matrix_rank(T.zeros(3, 0, 2))
    T.linalg.matrix_rank(X.long())
    T.linalg.matrix_rank(X, atol=L(1j))
    T.linalg.matrix_rank(X, out=T.empty(0, dtype=T.bool))
    T.linalg.matrix_rank(X, out=T.empty(0, dtype=T.int32))
    T.matrix_rank(X)
    """
)
def test_condition_and_rank(expression):
    agree(expression, square)


@pytest.mark.parametrize("p", [1, "fro"])
def test_gradient_of_a_condition_number(p):
    a = rl.tensor([[2.0, 0.3, 0.1], [0.2, -1.0, 0.5], [0.4, 0.6, 3.0]], dtype=rl.float64, requires_grad=True)
    assert rl.autograd.gradcheck(lambda x: rl.linalg.cond(x, p), (a,))


@pytest.mark.parametrize("p", ["fro", 2.0])
def test_a_norm_is_one_kernel(p, monkeypatch):
    """Where only sums are needed nothing goes through memory."""
    from rushlight.compiler import lower

    x = rl.ones(3, 5, 7, dtype=rl.float64)
    launches, plain = [], lower.lower
    monkeypatch.setattr(lower, "lower", lambda graph: (launches.append(found := plain(graph)), found)[1])
    made = rl.linalg.matrix_norm(x, p) if p == "fro" else rl.linalg.vector_norm(x, p, 2)
    assert made.shape == ((3,) if p == "fro" else (3, 5))
    assert [len(found.launches) for found in launches] == [1] and not launches[0].temps
