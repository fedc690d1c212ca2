"""`x[...]`, `x[...] = y` and index_put, against PyTorch and NumPy."""

import numpy as np
import pytest

import rushlight as rl

from .parity import agree, numbers, table

INDICES = """
    L([0, 1, 0, 1, 1])
    (0, slice(None), L([0, 1, 0]))
    (L([0, 1, -1]), slice(None), L([0, 1, -2]))
    (slice(None), L([0, 1]), L([1, 2]))
    ([0], slice(None), 0)
    [[0, 1], [1, 2]]
    [0, slice(None)]
    True
    (True, 0)
    T.tensor(True)
    (slice(None), True)
    np.array([0, 1])
    np.int64(1)
    np.array(1)
    range(2)
    1.5
    L([1.5])
    T.tensor([0, 1], dtype=T.int8)
    T.tensor([0, 1], dtype=T.int32)
    L([True, False, True])
    L([0, 5])
    (L([0, 1]), L([0, 1, 2]))
    (0, 0, 0, 0)
    (L([0]),) * 4
    slice(None, None, -1)
    []
    ()
    (None, L([0]))
    (L(1), None)
    (slice(None), C[0] > 5)
    5
    ((0, 1),)
    ((0, 1), (0, 1))
    [True, False]
    ([True, False], [0])
    slice(L(0), L(2))
    C % 2 == 0
    (Ellipsis, L([0, 1]))
    (L([0, 1]), Ellipsis, L([0, 1]))
    (L([0, 1]), Ellipsis, 1)
    (L([0, 1])[:, None], L([0, 1, 2]))
    (slice(1), L([0, 1]), slice(0, 3, 2))
"""


def cube(module):
    count = module.arange(24.0).reshape(2, 3, 4)

    def write(index, value):
        x = module.arange(24.0).reshape(2, 3, 4)
        x[index] = value(x) if callable(value) else value
        return x

    def gradient(function):
        x = module.arange(24.0).reshape(2, 3, 4).requires_grad_()
        y = function(x)
        (y * y).sum().backward()
        return x.grad

    def overwritten(x, index):
        z = x * 2
        z[index] = z[index] * z[index]
        return z

    def filled(x, index):
        z = x * 2
        z[index] = x.sum()
        return z

    return {
        "L": module.tensor, "C": count, "write": write, "gradient": gradient, "overwritten": overwritten,
        "filled": filled,
    }  # fmt: skip


@table(INDICES)
def test_read(expression):
    agree(f"C[{expression}]", cube)
    agree(f"C.transpose(1, 2).clone().transpose(1, 2)[{expression}]", cube)


@table(INDICES)
def test_write(expression):
    agree(f"write({expression}, 7)", cube)
    agree(f"write({expression}, L(3.0))", cube)
    agree(f"write({expression}, lambda x: x[{expression}] * 2)", cube)


@table(INDICES)
def test_gradients(expression):
    agree(f"gradient(lambda x: x[{expression}])", cube)
    agree(f"gradient(lambda x: filled(x, {expression}))", cube)


@table(
    """
    L([0, 1, 0])
    (slice(None), L([0, 2]))
    (slice(0, 1), L([0, 1]), L([1, 2]))
    C > 5
    (0, 0)
    """
)
def test_gradient_of_read_and_write(expression):
    agree(f"gradient(lambda x: overwritten(x, {expression}))", cube)


@table(
    """
    write(0, [1, 2, 3, 4])
    write(0, np.ones(4))
    write(0, T.ones(1, 1, 3, 4))
    write(0, T.ones(2, 3, 4))
    write([0, 1], T.ones(3))
    write([0, 1], T.ones(1, 1, 2, 3, 4))
    write(C > 5, T.ones(18))
    write(C > 5, T.ones(17))
    write(0, 1j)
    write([0], 1j)
    write([0], T.ones(4, dtype=T.complex64))
    write([0], T.ones(4, dtype=T.int64))
    write(0, 'a')
    write(0, None)
    write((0, 5), 1)
    write((0, 0, 0), 1.5)
    write((0, -1, -1), True)
    write((0, 0, 4), 1.5)
    write((0, 0, -5), 1.5)
    write(False, 1.0)
    5 in C
    50 in C
    'a' in C
    list(C[0])
    C.unbind(1)
    C.index_put((L([0, -1, 0]),), T.ones(3, 3, 4), accumulate=True)
    C.index_put((C > 5,), L(1.0))
    C.index_put((None, L([0])), L(1.0))
    C.index_put((L([0]),), L(1))
    (C > 5).index_put((L([0, 0]),), L(True), accumulate=True)
    C.index_put_([L([0, 1]), L([0, 1])], L(9.0))
    """
)
def test_values_and_errors(expression):
    agree(expression, cube)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64", "uint8", "bool", "complex64"])
def test_single_numbers(dtype):
    x = rl.zeros(2, 3, dtype=getattr(rl, dtype))
    x[1, -1] = 1
    x[0] = True
    x[0, 0] = 0
    assert x.tolist() == [[0, 1, 1], [0, 0, 1]]


def test_a_number_written_counts_as_a_change():
    x = rl.ones(3, requires_grad=True)
    y = x * 2
    z = y * y
    y[0] = 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="leaf"):
        x[0] = 1.0
    with pytest.raises(RuntimeError, match="leaf"):
        x.detach()  # no grad: fine
        x[:2][0] = 1.0


def test_writes_that_memory_forbids():
    with pytest.raises(RuntimeError, match="single memory location"):
        rl.zeros(1).expand(3)[:2] = 1.0


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64"])
def test_like_numpy(dtype):
    """Without separated indices, where NumPy and PyTorch agree."""
    a = np.arange(60).reshape(3, 4, 5).astype(dtype)
    x = rl.tensor(a)
    i, j = np.array([[0, 2], [1, 1]]), np.array([3, 0])
    for index in [(i,), (i, j), (slice(None), j), (Ellipsis, i), (slice(1, 3), j, None), (a[..., 0] == 0,), (i, 1)]:
        ours = tuple(rl.tensor(k) if isinstance(k, np.ndarray) else k for k in index)
        assert np.array_equal(x[ours].numpy(), a[index]), index
        b, y = a.copy(), x.clone()
        b[index], y[ours] = 1, 1
        assert np.array_equal(y.numpy(), b), index


def test_traced_values():
    """Inside an op's body, tensors and lists index as they do outside."""
    from rushlight.ops.declare import op

    @op(public=False)
    def picked(x, i):
        return x[i] + x[:, i][0, 0] + x[[0, 1], 1, None][0] + x[True, 0, i][0]

    x, i = numbers(rl)["X"][:, :3], rl.tensor([0, -1, 2])
    expected = x[i] + x[:, i][0, 0] + x[[0, 1], 1, None][0] + x[True, 0, i][0]
    assert picked(x, i).tolist() == expected.tolist()


@table("""
    assigned(X, X > 2, L(1.5))
    assigned(X, X > 2, L([1.5]))
    assigned(X.long(), True, L(1.5))
    assigned(X.long(), X > 2, L([1.5]))
    assigned(X, (X[:, 0] > 0, slice(1, 2)), L([[2]]))
    assigned(X, X[:, 0] > 0, T.tensor(2, dtype=T.float16))
    assigned(X, X > 2, L(1j))
    assigned(X, X > 7, L([1, 2]))
    assigned(X, L([0]), L(1))
    X.clone().index_put_([X > 2], L(2))
    X.clone().index_put_([X > 2], L(2), accumulate=True)
""")
def test_one_element_that_fills_masks_may_have_another_dtype(expression):
    def names(module):
        def assigned(x, index, value):
            made = x.clone()
            made[index] = value
            return made

        return numbers(module) | {"assigned": assigned}

    agree(expression, names)
