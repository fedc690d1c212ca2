"""Forward mode: tangents through ops, views, in-place writes and Functions, and forward over reverse."""

import pytest

import rushlight as rl
from rushlight.autograd import Function, forward_mode
from rushlight.autograd.gradcheck import gradcheck
from rushlight.testing import assert_close, make_tensor


def point(*shape, dtype=rl.float64):
    return make_tensor(shape, dtype=dtype, device="cpu", low=0.5, high=2, requires_grad=True)


def in_place(x):
    y = x * 1
    y[0].mul_(3)
    y.add_(x.exp())
    return y


def write_into_a_buffer(x):
    buffer = rl.zeros(4, dtype=x.dtype)
    buffer[1:3] = x * 2
    return buffer.sin()


FUNCTIONS = {
    "map": (lambda x: x.sin() * x + 2, (3,)),
    "broadcast": (lambda x, y: x / y, (2, 3), (3,)),
    "several outputs": (lambda x: (x.max(1).values, x.sum()), (2, 3)),
    "unbind": (lambda x: x.unbind(0)[1] * x[0], (2, 3)),
    "product": (lambda x, y: (x @ y).tanh(), (2, 3), (3, 2)),
    "softmax": (lambda x: x.softmax(-1), (2, 3)),
    "layer_norm": (lambda x, w: rl.nn.functional.layer_norm(x, (3,), w), (2, 3), (3,)),
    "convolution": (lambda x, w: rl.nn.functional.conv1d(x, w), (1, 2, 5), (3, 2, 2)),
    "views": (lambda x: x.t()[1:].reshape(-1)[::2] * x[0, 0], (2, 3)),
    "in place": (in_place, (3, 2)),
    "writes": (write_into_a_buffer, (2,)),
    "cat": (lambda x, y: rl.cat([x, y, x * y]), (2,), (2,)),
    "where": (lambda x: rl.where(x > 1, x.exp(), x * 2), (4,)),
    "index": (lambda x: x[rl.tensor([0, 2, 0])] ** 2, (3,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_agrees_with_differences(name):
    function, *shapes = FUNCTIONS[name]
    assert gradcheck(function, tuple(point(*s) for s in shapes), check_forward_ad=True)


def test_complex():
    assert gradcheck(lambda z: z * z + z.exp(), point(2, dtype=rl.complex128), check_forward_ad=True)


def test_forward_over_reverse():
    x = point(3)
    v = rl.tensor([1.0, -2.0, 0.5], dtype=rl.float64)
    with forward_mode.dual_level():
        dual = forward_mode.make_dual(x, v)
        (gradient,) = rl.autograd.grad((dual**3).sum(), x, create_graph=True)
        product = forward_mode.unpack_dual(gradient).tangent
    assert_close(product.detach(), 6 * x.detach() * v)


def test_reverse_over_forward():
    x, v = point(3), point(3)
    with forward_mode.dual_level():
        moved = forward_mode.unpack_dual(forward_mode.make_dual(x, v) ** 3).tangent
    gx, gv = rl.autograd.grad(moved.sum(), (x, v))
    assert_close((gx, gv), (6 * x * v, 3 * x**2), check_dtype=True)


def test_levels():
    x, t = rl.ones(2), rl.ones(2)
    with pytest.raises(RuntimeError, match="outside"):
        forward_mode.make_dual(x, t)
    assert forward_mode.unpack_dual(x).tangent is None
    with forward_mode.dual_level():
        dual = forward_mode.make_dual(x, t)
        assert forward_mode.unpack_dual(dual.detach()).tangent is None
        assert forward_mode.unpack_dual(x * 2).tangent is None
        with pytest.raises(RuntimeError, match="Nested"):
            forward_mode.enter_dual_level()
        with pytest.raises(RuntimeError, match="shape"):
            forward_mode.make_dual(x, rl.ones(3))
        primal, tangent = forward_mode.unpack_dual(dual * 3)
        assert primal.tolist() == [3, 3] and tangent.tolist() == [3, 3]
    with forward_mode.dual_level():
        assert forward_mode.unpack_dual(dual).tangent is None


def test_with_recording_off():
    with rl.no_grad(), forward_mode.dual_level():
        y = forward_mode.make_dual(rl.tensor(3.0), rl.tensor(1.0)) ** 2
        assert forward_mode.unpack_dual(y).tangent.item() == 6 and not y.requires_grad


def test_tangents_are_laid_out_as_their_tensors():
    x, t = rl.ones(3, 2).t(), rl.arange(6.0).view(2, 3)
    with forward_mode.dual_level():
        dual = forward_mode.make_dual(x, t)
        assert forward_mode.unpack_dual(dual.t().contiguous().view(-1)).tangent.tolist() == [0, 3, 1, 4, 2, 5]


def test_functions_state_their_own():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x, n):
            ctx.x = x
            return x**3

        @staticmethod
        def jvp(ctx, t, n):
            assert n is None
            return t * 3 * ctx.x**2

    class Silent(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with forward_mode.dual_level():
        x = forward_mode.make_dual(rl.tensor(2.0), rl.tensor(1.0))
        assert forward_mode.unpack_dual(Cube.apply(x, 5)).tangent.item() == 12
        with pytest.raises(NotImplementedError, match="jvp"):
            Silent.apply(x)
    assert Silent.apply(rl.ones(1)).item() == 2


def test_a_known_structure_is_planned_once():
    from rushlight.compiler.cache import statistics

    def step(n):
        with forward_mode.dual_level():
            forward_mode.unpack_dual(forward_mode.make_dual(rl.ones(n), rl.ones(n)).exp() * 2).tangent.sum()

    step(10)
    step(11)
    before = statistics()
    step(25)
    assert statistics().compiled == before.compiled and statistics().loaded_from_disk == before.loaded_from_disk
