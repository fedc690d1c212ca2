"""Hooks on saved tensors, anomalies, checkpoints."""

import gc
import weakref

import pytest

import rushlight as rl
from rushlight.autograd import Function, anomaly_mode, graph
from rushlight.autograd.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)
from rushlight.testing import assert_close


def leaf(*values):
    return rl.tensor(list(values), requires_grad=True)


# -- hooks on saved tensors -----------------------------------------------------------------------------
def test_hooks_see_what_is_kept():
    packed, unpacked = [], []

    def pack(t):
        packed.append(t.tolist())
        return len(packed) - 1, t.detach().clone()

    def unpack(content):
        unpacked.append(content[0])
        return content[1]

    x = leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
    z = y * 2  # after the block: not packed
    z.sum().backward()
    assert [1.0, 2.0] in packed and sorted(unpacked) == list(range(len(packed)))
    assert_close(x.grad, 4 * x.detach() * (x.detach() ** 2).exp())


def test_hooks_may_change_what_comes_back():
    x = leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t * 10):
        y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 40.0]


def test_second_order_goes_through_unpacked_tensors():
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = (x * x).exp() * x
    for _ in range(2):
        (y,) = rl.autograd.grad(y.sum(), x, create_graph=True)
    v = rl.tensor(2.0, dtype=rl.float64)
    expected = (v * v).exp() * (6 * v + 4 * v**3)
    assert_close(y[0].detach().double(), expected, rtol=1e-5, atol=0.0)


def test_functions_pack_too():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x, None, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, nothing, y = ctx.saved_tensors
            assert nothing is None
            return g * 2 * x + 0 * y

    packed = []
    x = leaf(3.0)
    with graph.saved_tensors_hooks(lambda t: packed.append(t.item()) or t.item(), lambda v: rl.tensor([v])):
        y = Square.apply(x)
    (g,) = rl.autograd.grad(y, x, create_graph=True)
    assert packed == [3.0, 9.0] and g.item() == 6
    assert rl.autograd.grad(g, x)[0].item() == 2


def test_innermost_pair_counts_and_refusal():
    calls = []
    outer = graph.saved_tensors_hooks(lambda t: calls.append("outer") or t, lambda t: t)
    inner = graph.saved_tensors_hooks(lambda t: calls.append("inner") or t, lambda t: t)
    x = leaf(1.0)
    with outer:
        with inner:
            x.exp()
        x.exp()
    x.exp()
    assert calls == ["inner", "outer"]
    with graph.disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"), outer:
        pass
    with outer:
        pass
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.exp()
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor"):
        y.backward()


def test_save_on_cpu_and_edges():
    x = leaf(2.0)
    with graph.save_on_cpu():
        y = x.exp()
    y.backward()
    assert x.grad.item() == pytest.approx(7.389056)
    node, slot = graph.get_gradient_edge(x * 2)
    assert node.name() == "MulBackward0" and slot == 0
    before = x._version
    graph.increment_version(x)
    assert x._version == before + 1


# -- anomalies --------------------------------------------------------------------------------------------
def test_nan_is_found_where_it_came_from():
    def culprit(x):
        return x.sqrt()

    x = leaf(0.0)
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"), rl.autograd.detect_anomaly():
        y = culprit(x) * 0
        with (
            pytest.warns(UserWarning, match="in culprit"),
            pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan"),
        ):
            y.backward()
    assert not anomaly_mode.is_anomaly_enabled()
    (culprit(x) * 0).backward()
    assert x.grad.isnan().item()


def test_errors_show_where_their_node_was_recorded():
    class Broken(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("broken")

    x = leaf(1.0)
    with anomaly_mode.set_detect_anomaly(True, check_nan=False):
        assert anomaly_mode.is_anomaly_enabled() and not anomaly_mode.is_anomaly_check_nan_enabled()
        y = Broken.apply(x)
        with (
            pytest.warns(UserWarning, match="Error detected in BrokenBackward"),
            pytest.raises(ValueError, match="broken"),
        ):
            y.backward()
    y = Broken.apply(x)
    with pytest.raises(ValueError, match="broken"):
        y.backward()
    rl.set_anomaly_enabled(True)
    assert rl.is_anomaly_enabled() and rl.is_anomaly_check_nan_enabled()
    rl.set_anomaly_enabled(False)
    assert not rl.is_anomaly_enabled()


# -- checkpoints --------------------------------------------------------------------------------------------
def block(x, w):
    return (x @ w).tanh().softmax(-1) * x


def weights(n=3):
    rl.manual_seed(1)
    return [rl.randn(4, 4, requires_grad=True) for _ in range(n)]


def gradients(call, use_reentrant):
    ws, x = weights(), rl.ones(2, 4, requires_grad=True)
    y = x
    for w in ws:
        y = call(y, w) if use_reentrant is None else checkpoint(call, y, w, use_reentrant=use_reentrant)
    y.pow(2).sum().backward()
    return [x.grad, *(w.grad for w in ws)]


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoint_gives_the_same_gradients(use_reentrant):
    assert_close(gradients(block, use_reentrant), gradients(block, None))


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoint_runs_twice_with_the_same_random_numbers(use_reentrant):
    runs = []

    def noisy(x):
        mask = rl.rand(5)
        runs.append(mask.tolist())
        return (x * mask).exp()

    x = rl.ones(5, requires_grad=True)
    y = checkpoint(noisy, x, use_reentrant=use_reentrant)
    after = rl.rand(1).item()
    y.sum().backward()
    assert len(runs) == 2 and runs[0] == runs[1]
    mask = rl.tensor(runs[0])
    assert_close(x.grad, mask * mask.exp())
    rl.manual_seed(0)
    rl.rand(5)
    assert rl.rand(1).item() == after


def test_checkpoint_frees_what_it_would_have_kept():
    held = []

    def inner(x):
        y = x.exp()
        held.append(weakref.ref(y))
        return y.sin()

    x = rl.ones(3, requires_grad=True)
    y = checkpoint(inner, x, use_reentrant=False)
    gc.collect()
    assert held[0]() is None
    y.sum().backward()
    assert_close(x.grad, x.detach().exp().cos() * x.detach().exp())


def test_checkpoint_inside_a_checkpoint_and_twice():
    x = leaf(0.5, 0.7)

    def inner(x):
        return x.exp().sin()

    def outer(x):
        return checkpoint(inner, x * 2, use_reentrant=False).cos()

    y = checkpoint(outer, x, use_reentrant=False)
    first = rl.autograd.grad(y.sum(), x, retain_graph=True)[0]
    second = rl.autograd.grad(y.sum(), x)[0]
    expected = rl.autograd.grad(inner(x * 2).cos().sum(), x)[0]
    assert_close((first, second), (expected, expected))


def test_checkpoint_of_keywords_and_second_order():
    x = leaf(0.5)
    y = checkpoint(lambda x, *, power: x.exp() ** power, x, power=3, use_reentrant=False)
    (g,) = rl.autograd.grad(y, x, create_graph=True)
    assert_close(g.item(), 3 * rl.tensor(1.5).exp().item(), rtol=1e-5, atol=0.0)


def test_checkpoint_notices_another_second_run():
    sizes = iter([3, 4])

    def changing(x):
        n = next(sizes)
        return x[:n].exp().sum() + x.sum()

    x = rl.ones(5, requires_grad=True)
    y = checkpoint(changing, x, use_reentrant=False)
    with pytest.raises(CheckpointError, match="different metadata"):
        y.backward()


def test_checkpoint_stops_early_unless_told_otherwise():
    ends = []

    def function(x):
        y = x.exp().sin()  # the last value that is saved
        ends.append(y)
        return y

    x = leaf(1.0)
    for stops in (True, False):
        ends.clear()
        with set_checkpoint_early_stop(stops):
            y = checkpoint(function, x, use_reentrant=False)
        y.backward()
        assert len(ends) == (1 if stops else 2)


def test_checkpoint_wrong_calls():
    x = leaf(1.0)
    with pytest.warns(UserWarning, match="use_reentrant"):
        checkpoint(lambda x: x.exp(), x)
    with pytest.raises(ValueError, match="keyword"):
        checkpoint(lambda x, k: x, x, k=1, use_reentrant=True)
    with pytest.raises(ValueError, match="determinism_check"):
        checkpoint(lambda x: x, x, use_reentrant=False, determinism_check="sometimes")


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoint_sequential(use_reentrant):
    rl.manual_seed(0)
    model = rl.nn.Sequential(*(layer for _ in range(4) for layer in (rl.nn.Linear(4, 4), rl.nn.Tanh())))
    x = rl.ones(2, 4, requires_grad=True)
    model(x).sum().backward()
    expected = [x.grad, *(p.grad for p in model.parameters())]
    x.grad = None
    model.zero_grad()
    checkpoint_sequential(model, 3, x, use_reentrant=use_reentrant).sum().backward()
    assert_close([x.grad, *(p.grad for p in model.parameters())], expected)


def test_variable_is_a_tensor_as_a_new_leaf():
    from rushlight.autograd import Variable

    w = rl.ones(2, requires_grad=True)
    v = Variable(w * 2, requires_grad=True)
    assert v.is_leaf and v.requires_grad and isinstance(v, rl.Tensor) and isinstance(w, Variable)
    assert not Variable(w * 2).requires_grad
    with pytest.raises(TypeError, match="Variable: data must be a tensor, got list"):
        Variable([1.0])


# -- hooks on several tensors, and after gradients were added ---------------------------------------------
def test_hooks_on_several_tensors_wait_for_those_that_a_pass_reaches():
    a, b = (rl.ones(2, requires_grad=True) for _ in range(2))
    c, d = a * b, a * b
    found, first = [], []
    handles = [
        rl.autograd.graph.register_multi_grad_hook((a, b, c, d), lambda g: found.append([x is not None for x in g])),
        rl.autograd.graph.register_multi_grad_hook((a, b, c, d), lambda g: first.append(g.tolist()), mode="any"),
    ]
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=(a,), retain_graph=True)
    rl.autograd.grad(c.sum(), (b,), retain_graph=True)
    (c + d).sum().backward(retain_graph=True)
    assert found == [[True, True, True, False], [True, False, True, False], [False, True, True, False], [True] * 4]
    assert first == [[1.0, 1.0]] * 4
    for handle in handles:
        handle.remove()
    (c + d).sum().backward()
    assert len(found) == len(first) == 4
    with pytest.raises(ValueError, match="mode"):
        rl.autograd.graph.register_multi_grad_hook((a,), print, mode="some")


def test_hooks_after_accumulation():
    leaf, seen = rl.ones(2, requires_grad=True), []
    leaf.register_hook(lambda g: seen.append("before"))
    handle = leaf.register_post_accumulate_grad_hook(lambda t: seen.append((t is leaf, t.grad.tolist())))
    (leaf * 2).sum().backward()
    (leaf * 3).sum().backward()
    assert seen == ["before", (True, [2, 2]), "before", (True, [5, 5])]
    rl.autograd.grad((leaf * 2).sum(), leaf)
    assert seen[4:] == ["before"]
    other = rl.ones(2, requires_grad=True)
    (leaf * other).sum().backward(inputs=[other])  # does not reach the leaf
    handle.remove()
    assert len(seen) == 5
    for wrong in (leaf * 2, rl.ones(2)):
        with pytest.raises(RuntimeError, match="hook"):
            wrong.register_post_accumulate_grad_hook(print)


def test_the_dtype_of_a_gradient_can_be_another():
    leaf = rl.ones(2, requires_grad=True)
    assert leaf.grad_dtype is rl.float32
    leaf.grad_dtype = rl.float64
    for expected in (2.0, 4.0):
        (leaf * 2).sum().backward()
        assert leaf.grad.dtype is rl.float64 and leaf.grad.tolist() == [expected] * 2
    with pytest.raises(RuntimeError, match="already has a grad"):
        leaf.grad_dtype = rl.float16
    with pytest.raises(RuntimeError, match="leaf"):
        _ = (leaf * 2).grad_dtype


def test_views_that_reach_beyond_their_base():
    big = rl.arange(8.0)
    part = big[3:6].detach().requires_grad_()
    part.as_strided((4,), (1,), 1).backward(rl.arange(4.0) + 1)
    assert part.grad.tolist() == [3, 4, 0]  # what lies before the part has no gradient
    written, weight = big[3:6].detach(), rl.ones(3, requires_grad=True)
    written.mul_(weight)
    seen = written.as_strided((6,), (1,), 1)
    seen.mul_(2)
    seen.sum().backward()
    assert weight.grad.tolist() == [6, 8, 10] and big.tolist() == [0, 2, 4, 6, 8, 10, 12, 7]


VIEWS_OF_ROWS = {
    "integer": lambda x: x[0],
    "slice": lambda x: x[:1],
    "select": lambda x: x.select(0, 0),
    "narrow": lambda x: x.narrow(0, 0, 1),
    "split": lambda x: x.split(1)[0],
    "unbind": lambda x: x.unbind(0)[0],
    "as_strided": lambda x: x.as_strided((3,), (1,), 0),
    "window": lambda x: x.unfold(0, 2, 1)[0, :, 0],
    "of a view": lambda x: x[1:].t()[:, 0],
    "by a tensor": lambda x: x[rl.tensor([0])],
}


@pytest.mark.parametrize("view", VIEWS_OF_ROWS.values(), ids=VIEWS_OF_ROWS)
def test_elements_that_share_memory_count_once_in_views(view):
    def loss(x):
        return (view(x.expand(3, 3)) ** 3).sum()

    x = rl.ones(1, 3, dtype=rl.float64)
    assert rl.func.grad(loss)(x).tolist() == [[3, 3, 3]]
    assert rl.func.hessian(loss)(x).sum().item() == 18
    if view is not VIEWS_OF_ROWS["as_strided"]:
        assert rl.vmap(rl.func.grad(loss))(x.expand(2, 1, 3)).tolist() == [[[3, 3, 3]]] * 2


def test_gradients_of_tensors_whose_elements_share_memory_are_those_of_their_elements():
    x = rl.ones(1, 3, requires_grad=True)
    rows = x.expand(3, 3)
    (gradient,) = rl.autograd.grad((rows[1] * rl.arange(3.0)).sum() + rows[2, 0], rows)
    assert gradient.tolist() == [[0, 0, 0], [0, 1, 2], [1, 0, 0]]
    x = rl.ones(4, requires_grad=True)
    x.unfold(0, 2, 1)[1].sum().backward()
    assert x.grad.tolist() == [0, 1, 1, 0]


def test_views_join_the_graph_with_their_base():
    for use in (lambda v: v * 3, lambda v: rl.cat([v, v]), lambda v: v[:].exp(), lambda v: v.view(2, 1)):
        base, w = rl.zeros(4), rl.full((4,), 2.0, requires_grad=True)
        view = base[:2]
        base.add_(w)
        assert use(view).requires_grad and view.requires_grad and not view.is_leaf
        use(view).sum().backward()
        assert w.grad[:2].abs().min() > 0 and w.grad[2:].tolist() == [0, 0]


def test_views_made_without_gradients_stay_out_of_the_graph():
    w = rl.ones(4, requires_grad=True)
    with rl.no_grad():
        view = w[:2]
        w.add_(1)  # what a step does
    assert view.grad_fn is None and not view.requires_grad and not (view[:1] * 2).requires_grad
    assert view.tolist() == [2, 2]


def test_tensors_of_inference_mode_are_written_there_alone():
    with rl.inference_mode():
        y, out = rl.ones(2), rl.ones(2)
        y.add_(1)
    writes = [lambda: y.add_(1), lambda: y[:1].zero_(), lambda: y.detach().copy_(out)]
    writes += [lambda: rl.exp(rl.ones(2), out=out), lambda: y.__setitem__(0, 1.0)]
    for write in writes:
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            write()
    assert y.tolist() == [2, 2] and y.clone().add_(1).tolist() == [3, 3]
