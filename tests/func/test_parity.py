"""`vmap` and `func` against PyTorch: values, structures and kinds of errors of one expression under both modules."""

import math

import pytest

import rushlight

torch = pytest.importorskip("torch")

EXPRESSIONS = [
    "T.vmap(lambda a: a, in_dims=[0])(X)",
    "T.vmap(lambda a: a[0], in_dims=((0, 0),))(X)",
    "T.vmap(lambda a: a)(T.tensor(1.0))",
    "T.vmap(lambda a: a, in_dims=None)(X)",
    "T.vmap(lambda a: 3, out_dims=None)(X)",
    "T.vmap(lambda a: a, out_dims=(0,))(X)",
    "T.vmap(lambda a: [a, a + 1], out_dims=[0, 1])(X)",
    "T.vmap(lambda a, *, k: a * k)(X, k=W)",
    "T.vmap(lambda a: a.unflatten(0, (2, 2)).t(), -2, -1)(X)",
    "T.vmap(T.nn.functional.cross_entropy)(X, T.tensor([0, 1, 2]))",
    "T.vmap(lambda w: T.nn.functional.conv1d(X[None], w))(T.ones(2, 1, 3, 2))",
    "T.vmap(lambda x, w: T.nn.functional.conv1d(x, w, padding=1))(X.reshape(3, 1, 2, 2), T.ones(3, 4, 2, 3))",
    "T.vmap(lambda a: a.sort(descending=True))(X.sin())",
    "T.vmap(lambda a: T.einsum('i,j->ij', a, W))(X)",
    "T.vmap(lambda a, i: T.nn.functional.embedding(i, a), (None, 0))(X, T.tensor([[0, 1], [2, 2]]))",
    "T.vmap(lambda a: T.nn.functional.batch_norm(a, W, W + 3))(X.reshape(3, 1, 4))",
    "T.vmap(lambda a: T.nn.functional.batch_norm(a, W.clone(), W + 3, training=True))(T.stack([X, X + 1]))",
    "T.vmap(lambda a: T.cat([a, W, a[:1]]))(X)",
    "T.vmap(lambda a: T.where(a > 3, a, 0.0))(X)",
    "T.vmap(lambda a: a.masked_fill(a > 3, 0.5))(X)",
    "T.vmap(lambda a: T.zeros(4).copy_(a))(X)",
    "T.vmap(lambda a: a.expand(2, 4).contiguous().view(-1))(X)",
    "T.vmap(lambda a: T.linalg.norm(a))(X)",
    "F.grad(lambda a, b: (a * b).sum(), argnums='0')(W, W)",
    "F.grad_and_value(lambda a: ((a * a).sum(), a), has_aux=True)(W)",
    "F.grad(lambda d: (d['a'] * d['b']).sum())({'a': W, 'b': 3 * W})",
    "F.vjp(lambda a, b: (a * b, a.sum()), W, 2 * W)[1]((W, T.tensor(1.0)))",
    "F.vjp(lambda a: (a, a), W)[1](W)",
    "F.jvp(lambda a, b: {'y': a * b}, (W, W), (W, 2 * W))",
    "F.jacrev(lambda a, b: (a * b, b.sum()), argnums=(0, 1))(W, 2 * W)",
    "F.jacrev(lambda d: {'o': d['a'] * 2})({'a': W})",
    "F.jacfwd(lambda a: a @ a.T)(X)",
    "F.jacfwd(lambda a, b: a * b, argnums=(1,))(W, 2 * W)",
    "F.hessian(lambda a, b: (a**3 * b).sum(), argnums=(0, 1))(W, 2 * W)",
    "F.linearize(lambda a: (a * a, a.sum()), W)[1](W)",
    "(lambda a: T.autograd.grad(a * a, a, T.eye(4), is_grads_batched=True))(W.clone().requires_grad_())",
    "(lambda a: T.autograd.grad(a * a, a, T.ones(4), is_grads_batched=True))(W.clone().requires_grad_())",
    "T.autograd.functional.jacobian(lambda a: (a * a, a.sum()), W, vectorize=True)",
    "list(T.autograd.functional.jacobian(lambda a: (a * a,), W, vectorize=True, strategy='forward-mode'))",
    "T.autograd.functional.hessian(lambda a: (a**3).sum(), W, vectorize=True)",
    "T.autograd.functional.jacobian(lambda a: a * a, W, vectorize=True, strict=True)",
]


def outcome(module, expression):
    names = {"T": module, "F": module.func, "X": module.arange(12.0).reshape(3, 4), "W": module.ones(4).cumsum(0)}
    try:
        return plain(eval(expression, names))
    except Exception as error:
        return type(error).__name__


def plain(value):
    if isinstance(value, (torch.Tensor, rushlight.Tensor)):
        return tuple(value.shape), str(value.dtype).rpartition(".")[2], value.detach().reshape(-1).tolist()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, (tuple, list)) else value


def close(a, b):
    if isinstance(a, float):
        return math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-5)
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(close(a[key], b[key]) for key in a)
    return a == b


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.filterwarnings("ignore")
def test_parity(expression):
    expected, found = outcome(torch, expression), outcome(rushlight, expression)
    assert close(expected, found), (expected, found)
