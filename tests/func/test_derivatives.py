"""`grad`, `vjp`, `jvp`, `linearize`, `jacrev`, `jacfwd`, `hessian`: nesting above all."""

import pytest

import rushlight as rl
from rushlight.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

A = rl.tensor(0.3)
W = rl.tensor([1.0, -2.0, 3.0])


def forward(f):
    return lambda x: jvp(f, (x,), (rl.ones_like(x),))[1]


@pytest.mark.parametrize(
    "modes", [(m, n, o) for m in (grad, forward) for n in (grad, forward) for o in (grad, forward)]
)
def test_orders_of_sine(modes):
    derivative = rl.sin
    for mode, expected in zip(modes, (A.cos(), -A.sin(), -A.cos())):
        derivative = mode(derivative)
        rl.testing.assert_close(derivative(A), expected)


@pytest.mark.parametrize("inner", [grad, forward])
@pytest.mark.parametrize("outer", [grad, forward])
def test_variables_of_nested_derivatives_do_not_mix(inner, outer):
    one = rl.tensor(1.0)
    assert outer(lambda x: x * inner(lambda y: x + y)(one))(one) == 1
    assert outer(lambda x: x * inner(lambda y: x * y)(one))(rl.tensor(3.0)) == 6
    assert outer(lambda x: inner(lambda y: y * y * x)(x))(rl.tensor(2.0)) == 8  # 2x·x


@pytest.mark.parametrize("op", ["exp", "tanh", "sigmoid", "sqrt", "softmax", "log_softmax", "prod", "cumprod"])
def test_forward_over_reverse_follows_kept_results(op):
    def number(x):
        y = getattr(rl, op)(x, 0) if op in ("softmax", "log_softmax", "cumprod") else getattr(rl, op)(x)
        return (y * rl.arange(1.0, y.numel() + 1).reshape(y.shape)).sum()

    x, u = rl.tensor([0.5, 1.5, 0.7]), rl.tensor([1.0, -1.0, 0.5])
    moved = jvp(grad(number), (x,), (u,))[1]
    rl.testing.assert_close(moved, grad(lambda x: (grad(number)(x) * u).sum())(x))
    rl.testing.assert_close(hessian(number)(x), jacrev(jacrev(number))(x))
    rl.testing.assert_close(jacfwd(jacfwd(number))(x), jacrev(jacfwd(number))(x), rtol=1e-4, atol=1e-5)


def test_forward_over_reverse_follows_writes():
    def number(x):
        y = x * 1
        y.mul_(x).sin_()
        y[1:].exp_()
        return y.sum()

    x = rl.tensor([0.5, -0.4])
    rl.testing.assert_close(hessian(number)(x), rl.diag(jacrev(grad(number))(x).diagonal()))
    rl.testing.assert_close(jacfwd(grad(number))(x), jacrev(grad(number))(x))


def test_results_belong_to_the_callers_graph_only_if_they_matter_there():
    tracked = W.clone().requires_grad_()
    assert not grad(lambda x: (x * x).sum())(W).requires_grad
    assert grad(lambda x: (x * x).sum())(tracked).requires_grad
    gradient = grad(lambda x: (x * x * tracked).sum())(W)
    gradient.sum().backward()
    rl.testing.assert_close(tracked.grad, 2 * W)
    with rl.no_grad():
        assert rl.equal(grad(lambda x: (x * x).sum())(tracked), 2 * W)
        assert not grad(lambda x: (x * x).sum())(tracked).requires_grad
    (value, aux), *_ = (grad_and_value(lambda x: ((x * x).sum(), x * 2), has_aux=True)(W)[1],)
    assert not value.requires_grad and not aux.requires_grad
    output, pull = vjp(lambda x: x * x, tracked)
    assert output.requires_grad and pull(rl.ones(3))[0].requires_grad
    output, pull = vjp(lambda x: x * x, W)
    assert not output.requires_grad and not pull(rl.ones(3))[0].requires_grad


def test_arguments():
    def f(a, tree, *, scale=1.0):
        return scale * (a * tree["x"] * tree["y"][0]).sum()

    tree = {"x": W, "y": [2 * W]}
    assert rl.equal(grad(f)(W, tree), 2 * W * W)
    found = grad(f, -1)(W, tree, scale=3.0)
    assert rl.equal(found["x"], 6 * W * W) and rl.equal(found["y"][0], 3 * W * W)
    one, two = grad(f, (1, 0))(W, tree)
    assert rl.equal(two, 2 * W * W) and rl.equal(one["x"], 2 * W * W)
    assert grad(lambda a, b: a.sum(), 1)(W, W).tolist() == [0.0] * 3
    (slopes, value), extra = (
        grad_and_value(lambda x: (x * x).sum())(W),
        grad(lambda x: (x.sum(), {"k": x}), has_aux=True)(W)[1],
    )
    assert rl.equal(slopes, 2 * W) and value == 14 and rl.equal(extra["k"], W)


def test_pullbacks_and_pushforwards():
    output, pull, aux = vjp(lambda a, b: ({"p": a * b, "s": a.sum()}, a), W, 2 * W, has_aux=True)
    assert rl.equal(output["p"], 2 * W * W) and rl.equal(aux, W)
    by_a, by_b = pull({"p": rl.ones(3), "s": rl.tensor(1.0)})
    assert rl.equal(by_a, 2 * W + 1) and rl.equal(by_b, W)
    rl.testing.assert_close(vmap(vjp(rl.sin, W)[1])(rl.eye(3))[0], rl.diag(W.cos()))
    value, moved, aux = jvp(lambda a: ((a * a, rl.ones(2)), a), (W,), (W,), has_aux=True)
    assert rl.equal(value[0], W * W) and rl.equal(moved[0], 2 * W * W) and moved[1].tolist() == [0.0, 0.0]
    value, push = linearize(lambda a, b: (a * b, a.sum(), rl.zeros(2)), W, 2 * W)
    found = push(W, rl.ones(3))
    assert rl.equal(found[0], 2 * W * W + W) and found[1] == W.sum() and found[2].tolist() == [0.0, 0.0]
    assert rl.equal(push(rl.zeros(3), rl.ones(3))[0], W)


def test_whole_derivatives():
    matrix = rl.arange(6.0).reshape(2, 3)

    def f(x, y):
        return {"o": x @ y, "n": (y * y).sum()}

    for mode in (jacrev, jacfwd):
        found = mode(f, (0, 1))(matrix, W)
        assert [tuple(t.shape) for t in found["o"]] == [(2, 2, 3), (2, 3)]
        assert rl.equal(found["o"][1], matrix) and rl.equal(found["n"][1], 2 * W) and not found["n"][0].any()
        assert rl.equal(mode(f)(matrix, W)["o"], rl.stack([rl.outer(e, W) for e in rl.eye(2)]))
        value, aux = mode(lambda x: (x * x, x), has_aux=True)(W)
        assert rl.equal(value, rl.diag(2 * W)) and rl.equal(aux, W)
    assert rl.equal(jacrev(lambda x: x * x, chunk_size=2)(W), rl.diag(2 * W))
    rows = hessian(lambda a, b: (a * a * b).sum(), (0, 1))(W, 2 * W)
    assert rl.equal(rows[0][0], rl.diag(4 * W)) and rl.equal(rows[1][0], rl.diag(2 * W)) and not rows[1][1].any()


@pytest.mark.parametrize(
    "error, message, call",
    [
        (RuntimeError, "scalar tensor, got tensor with 1 dims", lambda: grad(lambda x: x)(W)),
        (RuntimeError, "to return a Tensor", lambda: grad(lambda x: 3.0)(W)),
        (RuntimeError, "floating point", lambda: grad(lambda x: x.sum())(rl.arange(3))),
        (ValueError, "to be Tensors", lambda: grad(lambda x: x)(3.0)),
        (RuntimeError, "only 1 positional inputs", lambda: grad(lambda x: x.sum(), 1)(W)),
        (RuntimeError, "unique", lambda: grad(lambda x: x.sum(), (0, -1))(W)),
        (RuntimeError, "empty tuple", lambda: grad(lambda x: x.sum(), ())(W)),
        (RuntimeError, "should be a tuple: ", lambda: grad(lambda x: x.sum(), has_aux=True)(W)),
        (RuntimeError, "pytree structure of cotangents", lambda: vjp(lambda x: (x, x), W)[1](W)),
        (RuntimeError, "Mismatch in shape", lambda: vjp(lambda x: x, W)[1](rl.ones(2))),
        (RuntimeError, "only tensors, got unsupported type", lambda: vjp(lambda x: None, W)),
        (RuntimeError, "Expected primals to be a tuple", lambda: jvp(lambda x: x, W, (W,))),
        (RuntimeError, "same python structure", lambda: jvp(lambda x: x, (W,), (W, W))),
        (RuntimeError, "same shape and dtype", lambda: jvp(lambda x: x, (W,), (rl.ones(2),))),
        (RuntimeError, "independent of the inputs", lambda: jvp(lambda x: rl.ones(2), (W,), (W,), strict=True)),
        (ValueError, "chunk_size", lambda: jacrev(lambda x: x, chunk_size=0)),
    ],
)
def test_errors(error, message, call):
    with pytest.raises(error, match=message):
        call()


def test_a_failing_function_leaves_no_level_open():
    with pytest.raises(ZeroDivisionError):
        jvp(lambda x: 1 / 0, (W,), (W,))
    with pytest.raises(ZeroDivisionError):
        vmap(lambda x: 1 / 0)(W)
    assert rl.core.engine.dual_level() == 0 and rl.core.engine.open_levels() == ()


def test_gradients_of_each_sample_of_a_model():
    rl.manual_seed(0)
    nn = rl.nn
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 4 * 4, 5))
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    images, labels = rl.randn(4, 1, 6, 6), rl.tensor([0, 3, 1, 4])

    def loss(p, image, label):
        return nn.functional.cross_entropy(functional_call(model, p, image[None]), label[None])

    found = vmap(grad(loss), (None, 0, 0))(parameters, images, labels)
    for k in range(4):
        model.zero_grad()
        nn.functional.cross_entropy(model(images[k : k + 1]), labels[k : k + 1]).backward()
        for name, p in model.named_parameters():
            rl.testing.assert_close(found[name][k], p.grad)
