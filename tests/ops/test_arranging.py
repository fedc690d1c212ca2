"""Repeats, rolls, flips and dims in another order, against PyTorch."""

import pytest

import rushlight

from .parity import agree, numbers, table


@table(
    """
    X.repeat(2)
    X.repeat(2, 1)
    X.repeat(2, 0, 3)
    X.repeat((2, 2))
    X.repeat(2, -1)
    S.repeat(3)
    X.t().repeat(1, 2)
    X.tile(2)
    X.tile((2, 1, 1))
    T.tile(X, ())
    X.repeat_interleave(2)
    X.repeat_interleave(2, 1)
    X.repeat_interleave(L([1, 2, 0]), 0)
    X.repeat_interleave(L([2]), 0)
    X.repeat_interleave(L(2), 0)
    X.repeat_interleave(L([1, 2]), 0)
    X.repeat_interleave(-1)
    X.repeat_interleave(L([1, 2, 0]), 0, output_size=3)
    X.repeat_interleave(L([1, 2, 0]), 0, output_size=5)
    X.repeat_interleave(L([1.0, 2, 0]), 0)
    T.repeat_interleave(L([1, 2, 0]))
    T.repeat_interleave(L([1, -2, 0]))
    S.repeat_interleave(3)
    X.roll(1)
    X.roll(-5, 1)
    X.roll(4, 1)
    X.roll((1, 2), (0, 1))
    X.roll((1, 2))
    X.roll(1, (0, 1))
    S.roll(1)
    S.roll(1, 0)
    T.zeros(0).roll(1)
    X.flip(0, 1)
    X.flip((-1,))
    X.flip((0, 0))
    X.flip(())
    S.flip(0)
    X.fliplr()
    Y.fliplr()
    X.flipud()
    S.flipud()
    X.rot90()
    X.rot90(2)
    X.rot90(3, [1, 0])
    X.rot90(-1)
    X.rot90(4)
    X.rot90(1, [0, 0])
    X.rot90(1, [0])
    X.rot90(1, [0, 2])
    Y.rot90()
    """
)
def test_elements_moved(expression):
    agree(expression, numbers)


@table(
    """
    X.movedim(0, 1)
    X.movedim((0, 1), (1, 0))
    X.movedim((0, 0), (1, 0))
    X.movedim((0,), (1, 0))
    S.movedim(0, 0)
    T.zeros(2, 3, 4).movedim(0, -1).shape
    T.moveaxis(T.zeros(2, 3, 4), (0, 1), (2, 0)).stride()
    X.unflatten(1, (2, -1))
    X.unflatten(-1, (2, 2))
    X.unflatten(1, (3, 2))
    X.unflatten(1, ())
    X.unfold(1, 2, 1)
    X.unfold(0, 2, 1).stride()
    X.unfold(1, 5, 1)
    X.unfold(1, 2, 0)
    X.unfold(1, -1, 1)
    S.unfold(0, 1, 1)
    X.T
    X.mT
    Y.mT
    X.H
    Y.H
    T.zeros(2, 2, 2).H
    T.zeros(2, 3, 4).mH.shape
    T.adjoint(X)
    T.adjoint(X * 1j).resolve_conj()
    X.swapaxes(0, 1)
    X.swapdims(0, -1)
    X.expand_as(T.zeros(2, 3, 4))
    X.t().ravel()
    X.t().reshape_as(X)
    T.narrow_copy(X, 0, 1, 1)
    X.clone().unsqueeze_(0)
    X.clone().t_()
    X.clone().transpose_(0, 1).stride()
    X.clone().swapaxes_(0, 1)
    X.unsqueeze(0).squeeze_()
    X.unsqueeze(0).squeeze_(0)
    X.requires_grad_().t_()
    """
)
def test_dims_moved(expression):
    agree(expression, numbers)


@table(
    """
    X.repeat(2, 2) * S
    X.repeat(2, 0)
    X.tile((2, 1))
    X.repeat_interleave(2, 1)
    X.repeat_interleave(L([1, 2, 0]), 0)
    X.roll((1, 2), (0, 1)) * Y
    X.flip(1) * Y
    X.rot90() * S
    X.unfold(1, 2, 1) * S
    X.movedim(0, 1) * S
    X.unflatten(1, (2, 2)) * S
    (X * 1).t_() * S
    (X * 1).unsqueeze_(0).squeeze_(0)[0].mul_(S)
    """
)
def test_gradients(expression):
    expression = expression.replace("X", "x").replace("Y", "y").replace("S", "s")
    agree(f"gradients(lambda x, y, s: {expression})", numbers)


def test_a_tensor_reshaped_in_place_stays_in_its_graph():
    program = """
    (lambda x: (lambda y: (y.t_(), y.unsqueeze_(0), y[0, 1].mul_(3), (y * y).sum().backward(), x.grad))(x * 2))(
        X.requires_grad_())[-1]
    """
    agree(program.strip().replace("\n", " "), numbers)


def test_lists_and_tuples_of_dims_share_a_plan():
    x = rushlight.arange(6).reshape(2, 3)
    flip = rushlight.ops.OPS["flip"]
    want = flip(x, (0, 1))
    before = flip.plan_count
    assert rushlight.equal(flip(x, [0, 1]), want) and flip.plan_count == before
    assert rushlight.equal(flip(x, dims=[-1, 0]), want)
    for dims in ([0, 0.5], [[0]]):
        with pytest.raises((TypeError, IndexError)):
            flip(x, dims)


def test_ravel_gives_elements_side_by_side():
    x = rushlight.arange(6.0)
    assert x.ravel().data_ptr() == x.data_ptr()
    assert x[::2].ravel().stride() == (1,) and x[::2].ravel().tolist() == [0, 2, 4]
