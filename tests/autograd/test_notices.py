"""What autograd says: which tensor was written too early, and whose `.grad` will never be set."""

import warnings

import pytest

import rushlight as rl


def modified(write, mode=False):
    x = rl.ones(3, requires_grad=True)
    with rl.autograd.set_detect_anomaly(mode), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
            write(x).sum().backward()
    return str(caught.value)


def output(x):
    y = x.exp()
    y.add_(1)
    return y


def input_(x):
    y = x.sin()
    z = y * y
    y.add_(1)
    return z


def constant(x):
    w = rl.ones(3)
    z = x * w
    w.mul_(2)
    return z


class Doubled(rl.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[0] * g


def saved_by_function(x):
    y = x.cos()
    z = Doubled.apply(y)
    y.add_(1)
    return z


@pytest.mark.parametrize(
    "write, origin",
    [
        (output, ", which is output 0 of ExpBackward0,"),
        (input_, ", which is output 0 of SinBackward0,"),
        (constant, ""),
        (saved_by_function, ", which is output 0 of AddBackward0,"),
    ],
)
def test_a_write_names_what_was_written(write, origin):
    text = modified(write)
    assert f"[rushlight.FloatTensor [3]]{origin} is at version 1; expected version 0 instead. Hint: enable" in text
    assert "the backtrace further above" in modified(write, True)


def test_grad_of_what_is_no_leaf_warns_and_names_the_users_line():
    x = rl.ones(3, requires_grad=True)
    y = x * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed") as caught:
        assert y.grad is None
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (y * y).sum().backward(inputs=[y])
        assert y.grad.tolist() == [4.0, 4.0, 4.0]
    kept = x * 2
    kept.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.grad is None and kept.grad is None and rl.ones(2).grad is None and y.detach().grad is None


def test_modes_print_what_they_set():
    with rl.enable_grad():
        assert repr(rl.set_grad_enabled(True)).endswith("set_grad_enabled(mode=True)")
