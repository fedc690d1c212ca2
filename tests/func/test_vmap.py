"""`vmap`: nesting, random numbers, writes, what it refuses, and what lies behind it."""

import re
from collections import namedtuple

import pytest

import rushlight as rl
from rushlight.core import engine
from rushlight.func import grad, jacrev, jvp, vmap

X, W = rl.arange(12.0).reshape(3, 4), rl.tensor([1.0, -2.0, 3.0, 0.5])
Pair = namedtuple("Pair", ["first", "second"])


def test_inside_a_sample_is_seen():
    seen = []
    vmap(lambda x: seen.append((tuple(x.shape), x.ndim, x.numel(), x.stride(), len(x))) or x, in_dims=1)(X)
    assert seen == [((3,), 1, 3, (4,), 3)]
    assert repr(vmap(lambda x: (seen.append(repr(x)), x)[1])(rl.zeros(2, 1))) == "tensor([[0.],\n        [0.]])"
    assert re.match(r"BatchedTensor\(lvl=\d+, bdim=0, value=\n    tensor\(\[\[0.\],", seen[1])


@pytest.mark.parametrize("dims", [0, 1, -1, -2])
def test_dims_in_and_out(dims):
    for out in (0, 1, -1):
        found = vmap(lambda x: x * 2, in_dims=dims, out_dims=out)(X)
        expected = 2 * (X if dims in (0, -2) else X.T)
        assert rl.equal(found, expected.movedim(0, out))


def test_trees():
    def function(tree, pair):
        return {"a": tree["x"] + pair.first, "b": [tree["y"][0] * 2, pair.second]}

    given = {"x": X, "y": [X.T, 7]}, Pair(W, X)
    dims = {"x": 0, "y": [1, None]}, Pair(None, 0)
    found = vmap(function, in_dims=dims, out_dims={"a": 1, "b": [0, 0]})(*given)
    assert rl.equal(found["a"], (X + W).T) and rl.equal(found["b"][0], 2 * X) and rl.equal(found["b"][1], X)


def test_nests_and_composes_with_derivatives():
    table = vmap(vmap(lambda a, b: a * b, (None, 0)), (0, None))(W, X[1])
    assert rl.equal(table, W[:, None] * X[1])

    def energy(w, x):
        return ((w * x).sum() ** 2).sin()

    expected = rl.stack([grad(energy)(W / 9, x) for x in X])
    rl.testing.assert_close(vmap(grad(energy), (None, 0))(W / 9, X), expected)
    rl.testing.assert_close(grad(lambda w: vmap(energy, (None, 0))(w, X).sum())(W / 9), expected.sum(0))
    second = vmap(jacrev(grad(energy)), (None, 0))(W / 9, X)
    rl.testing.assert_close(second, rl.stack([jacrev(grad(energy))(W / 9, x) for x in X]))
    moved = jvp(lambda w: vmap(energy, (None, 0))(w, X), (W / 9,), (W,))[1]
    rl.testing.assert_close(moved, expected @ W)
    pushed = vmap(lambda t: jvp(lambda w: energy(w, X[1]), (W / 9,), (t,))[1])(rl.eye(4))
    rl.testing.assert_close(pushed, expected[1])


def test_gradients_of_a_batch_of_a_batch_keep_their_levels():
    """The Jacobian of a mapped function: cotangents are a batch of their own."""
    jacobian = jacrev(lambda w: vmap(lambda x: (w * x).exp().sum())(X / 9))(W)
    rl.testing.assert_close(jacobian, X / 9 * (W * X / 9).exp())


def test_writes():
    y = X.clone()
    found = vmap(lambda x: x[1:].mul_(2))(y)
    assert rl.equal(y[:, 1:], 2 * X[:, 1:]) and rl.equal(found, y[:, 1:])
    assert rl.equal(vmap(lambda x: x.new_zeros(4).add_(x))(X), X)
    assert rl.equal(vmap(lambda x: rl.zeros_like(x).copy_(x))(X), X)

    def write(x):
        y = x * 1
        y[1:3] = x[0]
        y[y > 7] = 0.0
        return y

    def loop(x):
        return rl.stack([write(row) for row in x])

    assert rl.equal(vmap(write)(X), loop(X))
    given = X.clone().requires_grad_()
    (expected,) = rl.autograd.grad((loop(given) ** 2).sum(), given)
    (found,) = rl.autograd.grad((vmap(write)(given) ** 2).sum(), given)
    assert rl.equal(found, expected)
    assert rl.equal(vmap(grad(lambda x: (write(x) ** 2).sum()))(X), expected)
    with pytest.raises(RuntimeError, match="vmapped over but `self` not being vmapped over"):
        vmap(lambda x: rl.zeros(4).add_(x))(X)


def test_indices_of_each_sample():
    places = rl.tensor([[0, 1], [3, 3], [2, 0]])
    rows = range(3)
    assert rl.equal(vmap(lambda x, i: x[i])(X, places), rl.stack([X[k][places[k]] for k in rows]))
    assert rl.equal(vmap(lambda x, i: x[i])(X, places[:, 0]), rl.stack([X[k][places[k, 0]] for k in rows]))
    assert rl.equal(vmap(lambda i: W[i], 0)(places), W[places])
    assert rl.equal(vmap(lambda x: x[W > 0])(X), X[:, W > 0])


def test_random_numbers():
    rl.manual_seed(0)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda x: x + rl.rand(4))(X)
    same = vmap(lambda x: rl.rand(4), randomness="same")(X)
    assert rl.equal(same[0], same[2])
    draws = {
        "rand": lambda x: rl.rand(4),
        "like": lambda x: rl.randn_like(x),
        "normal_": lambda x: rl.empty_like(x).normal_(),
        "dropout": lambda x: rl.nn.functional.dropout(x + 1),
        "permutation": lambda x: rl.randperm(50),
        "bernoulli": lambda x: rl.bernoulli(rl.full((50,), 0.5)),
        "multinomial": lambda x: rl.multinomial(x.sigmoid() + rl.ones(4), 40, True),
        "normal": lambda x: rl.normal(x, rl.tensor(2.0)),
    }
    for name, draw in draws.items():
        found = vmap(draw, randomness="different")(X)
        assert found.shape[0] == 3 and not rl.equal(
            found[0] - found[0].float().mean(), found[1] - found[1].float().mean()
        ), name
    assert rl.equal(
        draws["permutation"](X).sort()[0], vmap(draws["permutation"], randomness="different")(X)[1].sort()[0]
    )
    with pytest.raises(RuntimeError, match="not vmapped over with randomness"):
        vmap(lambda x: rl.empty(4).normal_(), randomness="different")(X)
    inner = vmap(lambda x: vmap(lambda y: rl.rand(()), randomness="different")(x), randomness="same")(X)
    assert rl.equal(inner[0], inner[1]) and inner[0, 0] != inner[0, 1]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_chunks(size):
    assert rl.equal(vmap(lambda x, y: (x * y).sum(), (1, None), chunk_size=size)(X, rl.ones(3)), X.sum(0))


@pytest.mark.parametrize(
    "error, message, call",
    [
        (ValueError, "expected `in_dims` to be int or a", lambda: vmap(lambda x: x, in_dims=1.5)(X)),
        (ValueError, "got no inputs", lambda: vmap(lambda: 1)()),
        (ValueError, "not compatible with the structure of `inputs`", lambda: vmap(lambda x, y: x, (0,))(X, W)),
        (ValueError, "We cannot vmap over non-Tensor arguments", lambda: vmap(lambda x: x)(3.0)),
        (ValueError, "expected in_dim to satisfy -2 <= in_dim < 2", lambda: vmap(lambda x: x, 2)(X)),
        (ValueError, r"got sizes \[3, 4\]", lambda: vmap(lambda x, y: x)(X, W)),
        (ValueError, "must only return Tensors", lambda: vmap(lambda x: 3)(X)),
        (ValueError, "out_dim is None", lambda: vmap(lambda x: x, out_dims=None)(X)),
        (ValueError, "out_dims is not compatible", lambda: vmap(lambda x: (x, x), out_dims=(0,))(X)),
        (IndexError, "out of range", lambda: vmap(lambda x: x, out_dims=3)(X)),
        (RuntimeError, "Only allowed values for randomness", lambda: vmap(lambda x: x, randomness="some")),
        (ValueError, "chunk_size should be None or greater than 0", lambda: vmap(lambda x: x, chunk_size=0)),
        (RuntimeError, "calling .item()", lambda: vmap(lambda x: x.sum().item())(X)),
        (RuntimeError, "data-dependent control flow", lambda: vmap(lambda x: x if x.sum() > 0 else -x)(X)),
        (RuntimeError, "shape depends on data", lambda: vmap(lambda x: x.nonzero())(X)),
        (RuntimeError, "not available inside of vmap", lambda: vmap(lambda x: x.numpy())(X)),
        (RuntimeError, "out= is not supported", lambda: vmap(lambda x: rl.add(x, 1, out=rl.empty(4)))(X)),
    ],
)
def test_errors(error, message, call):
    with pytest.raises(error, match=message):
        call()


def test_sizes_of_none_and_one():
    for size in (0, 1):
        assert rl.equal(vmap(lambda x: x.sum() * 2)(rl.ones(size, 3)), rl.full((size,), 6.0))


def test_levels_are_numbered_anew_once_no_graph_holds_them():
    found = []

    def note(x):
        found.append(x._layout.batch[-1][0])
        return x * x

    y = vmap(note)(X.clone().requires_grad_())
    vmap(note)(X)
    del y
    vmap(note)(X)
    first, second, third = found
    assert second != first == third


def test_a_mapped_call_is_planned_once():
    op = rl.ops.OPS["hypot"]
    vmap(op)(rl.ones(7, 3), rl.ones(7, 3))
    count = op.plan_count
    vmap(op)(rl.ones(7, 3), rl.ones(7, 3))
    assert op.plan_count == count


def test_sums_over_samples_contract_products():
    """The gradient of a shared weight is one product, not the sum of one for each sample."""
    rl.manual_seed(0)
    w, x = rl.randn(6, 5), rl.randn(40, 5)
    found = grad(lambda w: vmap(lambda x: (w @ x).sin().sum())(x).sum())(w)
    rl.testing.assert_close(found, (x @ w.T).cos().T @ x)
    found = grad(lambda w: vmap(lambda x: (x.reshape(1, 5) @ w.T).sin().sum())(x).sum())(w)
    rl.testing.assert_close(found, (x @ w.T).cos().T @ x)


class Square(rl.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, cotangent):
        (x,) = ctx.saved_tensors
        return 2 * x * cotangent


class Doubled(Square):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, x):
        assert info == (3, "error") and in_dims == (0,)
        return x.movedim(0, 1) * 2, 1


def test_custom_functions():
    assert rl.equal(vmap(Square.apply)(X), X * X)
    assert rl.equal(vmap(grad(lambda x: Square.apply(x).sum()))(X), 2 * X)
    assert rl.equal(grad(lambda w: vmap(lambda x: Square.apply(x * w).sum())(X).sum())(W), 2 * (X * X).sum(0) * W)
    assert rl.equal(grad(lambda w: vmap(lambda x: (Square.apply(w) * x).sum())(X).sum())(W), 2 * X.sum(0) * W)
    assert rl.equal(vmap(Doubled.apply)(X), 2 * X)


def test_geometry_of_batches():
    hidden = engine.hide(X, 1, 3)
    assert tuple(hidden.shape) == (3,) and hidden._layout.batch == ((3, 4, 1),)
    assert rl.equal(engine.reveal(hidden, 0, 3), X.T) and engine.is_alias(hidden, X)
    with pytest.raises(RuntimeError, match="escaped"):
        engine.hide(hidden, 0, 3)
    with pytest.raises(RuntimeError, match="different batch sizes"):
        hidden + engine.hide(X, 0, 3)[0]
    shared = engine.share(W, 1, 3)
    assert shared.tolist() == W.tolist() and shared._layout.physical is W._layout
