"""Arguments by the names that PyTorch's functions and methods take, NumPy's among them."""

import pytest

import rushlight as rl

X = rl.tensor([[0.5, -1.0, 2.0, 3.0], [1.0, 0.25, -0.5, 4.0]])
CASES = [
    (lambda: rl.swapaxes(X, axis0=0, axis1=1), lambda: X.t()),
    (lambda: X.tile(dims=(2, 1)), lambda: rl.cat([X, X])),
    (lambda: X.view(size=(4, 2)), lambda: X.view(4, 2)),
    (lambda: X.sum_to_size(size=(1, 4)), lambda: X.sum(0, True)),
    (lambda: X.clone().resize_(size=(2, 2)), lambda: X.view(-1)[:4].view(2, 2)),
    (lambda: rl.zeros(2, 4).copy_(other=X), lambda: X),
    (lambda: X.clone().map_(other=X, callable=lambda a, b: a * b), lambda: X * X),
    (lambda: rl.isin(element=1.0, test_elements=X), lambda: rl.tensor(True)),
    (lambda: rl.isin(elements=X, test_element=1.0), lambda: X == 1),
    (lambda: rl.tril_indices(2, 2, pin_memory=False, requires_grad=False), lambda: rl.tril_indices(2, 2)),
    (lambda: rl.tensor_split(X, tensor_indices_or_sections=rl.tensor(2))[0], lambda: X[:1]),
    (lambda: rl.unsafe_split(input=X, split_size=1)[1], lambda: X[1:]),
    (lambda: X.unsafe_split(1)[1], lambda: X[1:]),
    (lambda: rl.histogram(X, range=(-1.0, 4.0)).bin_edges, lambda: rl.linspace(-1, 4, 101)),
    (lambda: rl.add(x1=X, x2=X), lambda: X + X),
    (lambda: rl.sum(X, axis=1, keepdims=True), lambda: X.sum(1, True)),
    (lambda: rl.max(X, axis=1, keepdims=True)[0], lambda: X.amax(1, True)),
]


@pytest.mark.parametrize("named, expected", CASES)
def test_equal(named, expected):
    assert rl.equal(named(), expected())


def test_outputs():
    mantissa, exponent = rl.empty(0), rl.empty(0, dtype=rl.int32)
    rl.frexp(X, out=(mantissa, exponent))
    assert rl.equal(mantissa * 2.0**exponent, X)
    assert rl.equal(rl.threshold(X, 0.0, 0.0, out=mantissa), X.relu())
    places = rl.empty(0, dtype=rl.int64)
    assert rl.nonzero_static(X, size=2, out=places) is places and places.tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (7, 2), (2, 7), (6, 2), (3, 3, 3), (4, 1), (0, 3)])
def test_fill_diagonal(shape, wrap):
    import numpy as np

    expected = np.zeros(shape)
    if expected.size:
        np.fill_diagonal(expected, 5, wrap=wrap)
    for made in (rl.zeros(shape), rl.zeros(shape[::-1]).permute(tuple(range(len(shape)))[::-1])):
        assert made.fill_diagonal_(5, wrap) is made and made.tolist() == expected.tolist()


def test_fill_diagonal_errors_and_gradient():
    x = rl.ones(2, 2, requires_grad=True)
    (x * 1).fill_diagonal_(rl.tensor(3.0)).sum().backward()
    assert x.grad.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(RuntimeError, match="larger than 1"):
        rl.ones(2).fill_diagonal_(1)
    with pytest.raises(RuntimeError, match="equal length"):
        rl.ones(2, 2, 3).fill_diagonal_(1)


AXIS = {
    "sort": (), "median": (), "nanmedian": (), "mode": (), "cummax": (), "kthvalue": (1,), "topk": (1,), "quantile": (0.5,),
    "chunk": (2,), "tensor_split": (2,), "unbind": (), "repeat_interleave": (2,), "cumsum": (), "logsumexp": (), "softmax": (),
}  # fmt: skip


@pytest.mark.parametrize("name", AXIS)
def test_axis_is_dim(name):
    function = getattr(rl, name)
    found, expected = function(X, *AXIS[name], axis=1), function(X, *AXIS[name], dim=1)
    for a, b in zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]:
        assert rl.equal(a, b)


def test_wrong_names_are_refused():
    calls = [lambda: rl.sort(X, axs=1), lambda: rl.sort(X, dim=0, axis=1), lambda: rl.chunk(X, 2, axis=0, dim=0)]
    for call in [*calls, lambda: rl.add(X, x2=X, other=X), lambda: rl.roll(X, 1, axs=0)]:
        with pytest.raises(TypeError):
            call()
    with pytest.raises(IndexError):  # an error of the function is that of the call under another name
        rl.sort(X, axis=5)
