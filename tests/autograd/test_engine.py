"""The autograd engine: accumulation, order, views and in-place writes, hooks, long and reentrant graphs."""

import gc
import threading
import time
import weakref

import pytest

import rushlight as rl


def leaf(*values):
    return rl.tensor(list(values), requires_grad=True)


def test_gradients_accumulate_over_calls():
    x = leaf(2.0)
    (x * 3).backward(rl.ones(1))
    (x * 4).backward(rl.ones(1))
    assert x.grad.tolist() == [7.0]


def test_value_used_twice():
    x = leaf(3.0, 5.0)
    y = x * x
    (y + y * x).sum().backward()
    assert x.grad.tolist() == [2 * 3 + 3 * 9, 2 * 5 + 3 * 25]


def test_one_cotangent_for_two_leaves_is_not_shared():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).backward(rl.tensor([1.0, 1.0]))
    x.grad.add_(10)
    assert y.grad.tolist() == [1.0, 1.0]


def test_cotangent_given_by_the_user_is_not_written():
    x, g = leaf(1.0, 2.0), rl.ones(2)
    (x + 1).backward(g)
    (x + 1).backward(g)
    assert g.tolist() == [1.0, 1.0] and x.grad.tolist() == [2.0, 2.0]


def test_second_backward_needs_retain_graph():
    x = leaf(2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [8.0]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_grad_leaves_dot_grad_alone():
    x = leaf(2.0)
    (g,) = rl.autograd.grad((x**3).sum(), x)
    assert g.tolist() == [12.0] and x.grad is None


def test_grad_of_intermediate_and_unused():
    x, unused = leaf(2.0), leaf(1.0)
    y = x * 3
    z = (y * y).sum()
    gy, gx = rl.autograd.grad(z, [y, x], retain_graph=True)
    assert gy.tolist() == [12.0] and gx.tolist() == [36.0]
    with pytest.raises(RuntimeError, match="not have been used"):
        rl.autograd.grad(z, [unused], retain_graph=True)
    assert rl.autograd.grad(z, [unused], allow_unused=True) == (None,)


def test_orders_up_to_four():
    x = leaf(2.0)
    y = x**5
    found = []
    for _ in range(4):
        (y,) = rl.autograd.grad(y.sum(), x, create_graph=True)
        found.append(y.item())
    assert found == [80.0, 160.0, 240.0, 240.0]


def test_double_backward_through_fused_rules():
    x = rl.tensor([[0.5, -1.0, 2.0]], requires_grad=True)
    y = x.softmax(1)
    (g,) = rl.autograd.grad((y * rl.tensor([[1.0, 2.0, 3.0]])).sum(), x, create_graph=True)
    (g2,) = rl.autograd.grad(g.pow(2).sum(), x)
    eps, base = 1e-3, x.detach().tolist()[0]

    def first_order(values):
        v = rl.tensor([values], dtype=rl.float64, requires_grad=True)
        (gv,) = rl.autograd.grad((v.softmax(1) * rl.tensor([[1.0, 2.0, 3.0]], dtype=rl.float64)).sum(), v)
        return gv.pow(2).sum().item()

    for i in range(3):
        up, down = list(base), list(base)
        up[i] += eps
        down[i] -= eps
        assert abs((first_order(up) - first_order(down)) / (2 * eps) - g2[0, i].item()) < 1e-4


def test_long_chain_needs_no_recursion():
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y + 1.0
    y.sum().backward()
    assert x.grad.tolist() == [1.0]
    del y
    gc.collect()


def test_wide_sharing_is_walked_once():
    x = leaf(1.0)
    y = x
    for _ in range(60):  # 2**60 paths
        y = y + y
    y.sum().backward()
    assert x.grad.item() == 2.0**60


def test_leaf_in_place_is_refused():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="view of a leaf"):
        x[0:1].add_(1)
    with rl.no_grad():
        x.add_(1)
    assert x.item() == 2.0


def test_saved_tensor_modified_in_place_is_an_error():
    x = leaf(1.0, 2.0)
    y = x * 2
    z = (y * y).sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_saved_output_modified_in_place_is_an_error():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_in_place_chain():
    x = leaf(1.0, 2.0)
    y = (x * 1.0).mul_(x).add_(1).mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_write_to_base_after_view():
    x = leaf(1.0, 2.0, 3.0)
    base = x * 2
    view = base[1:]
    base.mul_(10)
    view.sum().backward()
    assert view.tolist() == [40.0, 60.0] and x.grad.tolist() == [0.0, 20.0, 20.0]


def test_write_to_view_reaches_base():
    x, w = leaf(1.0, 2.0, 3.0), leaf(5.0)
    base = x * 2
    base[1:2].mul_(w)
    base.sum().backward()
    assert base.tolist() == [2.0, 20.0, 6.0]
    assert x.grad.tolist() == [2.0, 10.0, 2.0] and w.grad.tolist() == [4.0]


def test_write_of_recorded_value_into_plain_buffer():
    w = leaf(5.0, 6.0)
    buffer = rl.zeros(4)
    buffer[1:3] = w * 2
    buffer.sum().backward()
    assert buffer.requires_grad and w.grad.tolist() == [2.0, 2.0]


def test_view_of_view_in_place():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    base = x * 1
    base.view(2, 2).t()[0].mul_(3)
    base.sum().backward()
    assert x.grad.tolist() == [3.0, 1.0, 3.0, 1.0]


def test_detach_shares_memory_and_version():
    x = leaf(1.0)
    y = x * 1
    d = y.detach()
    d.add_(5)
    assert y.item() == 6.0 and y._version == 1 and not d.requires_grad


def test_hooks_see_the_sum_and_may_replace_it():
    x = leaf(2.0)
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    handle = x.register_hook(lambda g: g * 2)
    (x * 3 + x * 4).sum().backward()
    assert seen == [7.0] and x.grad.item() == 14.0
    handle.remove()
    (x * 1).sum().backward()
    assert x.grad.item() == 15.0


def test_hook_on_intermediate_and_retain_grad():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: g + 1)
    (y * y).sum().backward()
    assert y.grad.item() == 13.0 and x.grad.item() == 39.0


def test_reentrant_backward():
    class Inner(rl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with rl.enable_grad():
                inner = x.detach().requires_grad_()
                (inner * inner).sum().backward()
            return g * inner.grad

    x = leaf(3.0)
    Inner.apply(x).sum().backward()
    assert x.grad.item() == 6.0


def test_graph_is_freed_without_the_garbage_collector():
    gc.disable()
    try:
        x = leaf(1.0)
        y = (x.exp() * 2).tanh()
        alive = weakref.ref(y.grad_fn)
        y.sum().backward()
        del y
        assert alive() is None
    finally:
        gc.enable()


def test_no_grad_is_per_thread():
    seen = []
    with rl.no_grad():
        thread = threading.Thread(target=lambda: seen.append(rl.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_backward_in_several_threads():
    w = rl.ones(64, 64, requires_grad=True)
    grads = [None] * 4

    def work(i):
        grads[i] = rl.autograd.grad((w * (i + 1)).sum(), w)[0]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [g[0, 0].item() for g in grads] == [1.0, 2.0, 3.0, 4.0]


def test_implicit_gradient_only_for_scalars():
    with pytest.raises(RuntimeError, match="scalar outputs"):
        (leaf(1.0, 2.0) * 2).backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        rl.ones(1).backward()


def test_complex_scalar_with_zero_imaginary_part():
    z = rl.tensor([3 + 4j, 2 - 5j], requires_grad=True)
    w = z.conj() * z
    w.sum().backward()
    assert w.tolist() == [25 + 0j, 29 + 0j] and z.grad.tolist() == [6 + 8j, 4 - 10j]


def test_real_leaf_of_complex_expression_gets_real_gradient():
    x = leaf(1.0, 2.0)
    y = x * rl.tensor([1j, 2j])
    (y * y.conj()).real.sum().backward()
    assert x.grad.dtype is rl.float32 and x.grad.tolist() == [2.0, 16.0]


def test_mixed_dtypes_give_each_input_its_own():
    x, y = leaf(1.0), rl.tensor([2.0], dtype=rl.float64, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.dtype is rl.float32 and y.grad.dtype is rl.float64


def test_inference_mode():
    with rl.inference_mode():
        y = rl.ones(2) * 2
    assert y.is_inference() and not y.requires_grad
    with pytest.raises(RuntimeError, match="inference tensor"):
        y.requires_grad_()


def test_function_with_two_outputs_and_none():
    class Split(rl.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            return x * k, x + k

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b, None

    x = leaf(1.0)
    a, b = Split.apply(x, 2.0)
    (a + 0 * b.detach()).sum().backward()
    assert x.grad.item() == 2.0


def test_a_view_follows_a_write_into_its_base():
    x = leaf(1.0, 2.0)
    y = x * 2
    view = y[1:]
    y.mul_(2)
    (g,) = rl.autograd.grad((y * 3).sum() + view.sum(), x)
    assert g.tolist() == [12, 16]


def test_only_wanted_cotangents_are_computed():
    x, w = rl.ones(3, 4, requires_grad=True), rl.ones(4, 2, requires_grad=True)
    bias = rl.ones(2, requires_grad=True)
    y = rl.addmm(bias, x, w)
    seen = []
    y.grad_fn.register_hook(lambda arriving, leaving: seen.append([g is not None for g in arriving]))
    for wanted in ([x], [bias, w], [x, w, bias]):
        grads = rl.autograd.grad(y.sum(), wanted, retain_graph=True)
        assert [g.shape for g in grads] == [t.shape for t in wanted]
    y.sum().backward(inputs=[w], retain_graph=True)
    y.sum().backward()
    assert seen == [[False, True, False], [True, False, True], [True] * 3, [False, False, True], [True] * 3]
    assert w.grad.tolist() == [[6.0, 6.0]] * 4


def test_second_derivatives_of_a_part_of_the_cotangents():
    x, w = leaf(2.0, 3.0), leaf(5.0, 7.0)
    (gx,) = rl.autograd.grad((x * x * w * w).sum(), x, create_graph=True)  # 2 x w^2, without w's 2 w x^2
    assert gx.tolist() == [100.0, 294.0]
    gxx, gxw = rl.autograd.grad(gx.sum(), (x, w))
    assert gxx.tolist() == [50.0, 98.0] and gxw.tolist() == [40.0, 84.0]  # 2 w^2 and 4 x w


SLICES = {
    "unbind": lambda x: x.unbind(0),
    "rows twice": lambda x: (*x.unbind(0), *x.unbind(0)),
    "overlapping": lambda x: [x[i : i + 2] for i in range(len(x) - 1)],
    "columns": lambda x: x.split(2, 1),
    "whole and parts": lambda x: (x, x[0], x, x[:, 1:3], x[2, 1], x.T),
    "windows": lambda x: (x[1], x.unfold(1, 3, 1), x[1], x.unfold(0, 2, 1)),
    "steps": lambda x: (x[::2], x[1::2, ::3], x[::2]),
    "views of views": lambda x: [row[i:] for row in x[1:] for i in range(3)],
    "expanded": lambda x: (x[0].expand(3, 6), x[1].expand(3, 6), x),
    "nothing": lambda x: (x[0:0], x[1], x[:, 6:], x[1]),
}


@pytest.mark.parametrize("name", SLICES)
@pytest.mark.parametrize("through", [lambda x: x * 1.0, lambda x: (x * 1.0).T.contiguous().T, lambda x: x], ids=str)
def test_cotangents_of_many_views(name, through):
    """They are added where they belong in memory of the walk's own; the answer is that of a recorded backward pass."""

    def loss(x):
        parts = SLICES[name](through(x))
        return sum((part**2 * (i + 1)).sum() for i, part in enumerate(parts))

    x = rl.arange(24.0).reshape(4, 6).requires_grad_()
    value = loss(x)
    (expected,) = rl.autograd.grad(value, x, create_graph=True)
    (found,) = rl.autograd.grad(value, x, retain_graph=True)
    value.backward()
    assert rl.equal(found, expected) and rl.equal(x.grad, expected)
    assert rl.equal(rl.autograd.grad(expected.sum(), x)[0] * x, expected)  # the loss is a sum of squares


def test_views_cost_no_more_than_their_base():
    """Memory is not written once for each of many views."""
    x = rl.ones(300, 2000, requires_grad=True)
    rl.autograd.grad(sum(row.sum() for row in (x * 1.0).unbind()), x)  # kernels are made
    start = time.perf_counter()
    rl.autograd.grad((x * 1.0).sum(), x)
    total = sum(row.sum() for row in (x * 1.0).unbind())
    middle = time.perf_counter()
    rl.autograd.grad(total, x)
    assert time.perf_counter() - middle < 0.05 + 20 * (middle - start)


def test_a_passed_on_cotangent_is_not_written():
    x = rl.ones(3, requires_grad=True)
    y = x * 1.0
    given = rl.tensor([1.0, 2.0, 3.0])
    kept = []
    y.register_hook(kept.append)
    total = y + y[0] + y[1].expand(3)
    rl.autograd.grad(total, x, given)
    assert given.tolist() == [1.0, 2.0, 3.0] and kept[0].tolist() == [7.0, 8.0, 3.0]


def test_hooks_of_views_see_their_own_cotangents():
    x, seen = rl.ones(3, requires_grad=True), []
    y = x * 1.0
    parts = y.unbind()
    for part in parts:
        part.register_hook(lambda g: seen.append(g.item()))
    parts[2].grad_fn.register_hook(lambda arriving, leaving: (arriving[0] * 10,))
    (parts[0] * 2 + parts[1] * 3 + parts[2] * 4).backward()
    assert sorted(seen) == [2.0, 3.0, 4.0] and x.grad.tolist() == [2.0, 3.0, 40.0]
