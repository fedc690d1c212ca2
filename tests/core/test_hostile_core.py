"""What could corrupt memory in the core: objects that lie or change things, memory swapped under running calls, hooks.

Each program runs in a process of its own, because the fault it guards against is a crash.
"""

import subprocess
import sys

import numpy as np
import pytest

import rushlight

HEAD = """
import rushlight as rl
def refused(error, call):
    try:
        call()
    except error:
        return True
"""

PROGRAMS = {
    "a sequence longer than its len": """
class Long:
    def __len__(self): return 2
    def __getitem__(self, i):
        if i < 1000000: return 1.0
        raise IndexError
assert refused(ValueError, lambda: rl.tensor(Long()))
""",
    "a sequence shorter than its len": """
class Short(list):
    def __len__(self): return 2000000
assert refused(ValueError, lambda: rl.tensor(Short([1.0, 2.0])))
""",
    "a list that grows while it is read": """
rows = [[1.0, 2.0], None]
class Grows:
    def __float__(self):
        rows[1].extend([1.0] * 100000)
        return 1.0
rows[1] = [Grows(), 1.0]
assert refused(ValueError, lambda: rl.tensor(rows))
""",
    "an index that swaps the memory": """
x = rl.arange(1000000.)
class Swaps:
    def __index__(self):
        x.data = rl.ones(1)
        return 2
assert refused(RuntimeError, lambda: x[Swaps():])
""",
    "a hash that swaps the memory": """
x = rl.arange(1000000.)
class Swaps(int):
    def __hash__(self):
        x.data = rl.ones(1)
        return 0
assert refused(RuntimeError, lambda: x.sum((Swaps(0),)))
""",
    "a static argument that has no hash": """
assert refused(TypeError, lambda: rl.ones(2).sum(([1],)))
nested = []
nested.append(nested)
assert refused(TypeError, lambda: rl.ones(2).sum(nested))
""",
    "a long chain of tensors": """
t = rl.ones(1)
for _ in range(300000):
    u = rl.ones(1)
    u.grad = t
    t = u
del t, u
""",
    "layouts in the place of tensors": """
x = rl.ones(3)
rl.exp(x), rl.add(x, x)
assert refused(TypeError, lambda: rl.exp(x._layout))
assert refused(TypeError, lambda: rl.add(x, x._layout))
""",
    "an in-place op on a number": """
assert refused(TypeError, lambda: rl.Tensor.mul_(3, 3))
assert refused(TypeError, lambda: rl.Tensor.fill_(3, 3))
""",
    "nodes called with what they do not take": """
x = rl.ones(3, requires_grad=True)
y = x * 1
y[1:].mul_(2)
for node in (x[1:].grad_fn, y.grad_fn, x.exp().grad_fn):
    assert refused(RuntimeError, lambda: node())
    assert refused(TypeError, lambda: node("gradient"))
""",
    "hooks of nodes that return too little": """
for watch in ("register_hook", "register_prehook"):
    for make in (lambda x: x.exp(), lambda x: x[1:]):
        y = make(rl.ones(3, requires_grad=True))
        getattr(y.grad_fn, watch)(lambda *given: ())
        assert refused(RuntimeError, lambda: y.sum().backward())
""",
    "a Function that writes into a view and returns nothing": """
class Doubled(rl.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    @staticmethod
    def backward(ctx, g):
        return ()
y = rl.ones(4, requires_grad=True) * 1
Doubled.apply(y[1:])
assert refused(RuntimeError, lambda: y.sum().backward())
""",
    "a shape whose end overflows": """
z = rl.ones(4, dtype=rl.complex128).as_strided((0,), (1,), 2**58)
assert refused(RuntimeError, lambda: z.resize_(2**58))
""",
    "memory swapped by another thread": """
import threading
x, stop = rl.rand(1 << 19), []
def swap(count=0):
    while not stop:
        count += 1
        x.data = rl.rand(1 << 19 if count % 2 else 8)
        x.resize_(8), x.resize_(1 << 19)
thread = threading.Thread(target=swap)
thread.start()
for _ in range(100):
    try:
        rl.exp(x), x.add_(1), x.sum()
    except RuntimeError:
        pass
stop.append(1)
thread.join()
""",
    "more backward passes at a time than one may nest": """
import threading, time
wrong = []
def run():
    try:
        y = rl.rand(4, requires_grad=True) * 2
        y.register_hook(lambda g: time.sleep(0.3))
        y.sum().backward()
    except RuntimeError as error:
        wrong.append(error)
threads = [threading.Thread(target=run) for _ in range(80)]
[t.start() for t in threads], [t.join() for t in threads]
assert not wrong, wrong[:1]
""",
    "scratch memory of threads that ended": """
import threading
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
a = rl.rand(200, 200)
def run(count):
    for _ in range(count):
        t = threading.Thread(target=lambda: a @ a)
        t.start(), t.join()
run(40)
before = resident()
run(300)
assert resident() - before < 20 << 20, resident() - before
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_hostile_program(name):
    program = HEAD + PROGRAMS[name] + "\nassert (rl.ones(3) + 1).tolist() == [2, 2, 2]\nprint('fine')"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "fine\n", (done.returncode, done.stderr[-600:])


@pytest.mark.parametrize("change", ["resize_", "set_", "data"])
def test_arrays_keep_the_memory_they_were_made_over(change):
    x = rushlight.arange(4.0)
    arrays = x.numpy(), np.from_dlpack(x)
    if change == "resize_":
        x.resize_(100000)
    elif change == "set_":
        x.set_(rushlight.ones(3))
    else:
        x.data = rushlight.ones(3)
    fillers = [rushlight.full((4,), 7.0) for _ in range(50)]
    assert all(array.tolist() == [0, 1, 2, 3] for array in arrays), len(fillers)


@pytest.mark.parametrize("rows", [4, 3000])
def test_in_place_on_a_column_whose_old_value_the_derivative_reads(rows):
    """The copy of the old value is laid out differently: kernels must not take it for the column."""
    x = rushlight.rand(rows, 4, requires_grad=True)
    y = x * 1
    y[:, 0].pow_(2)
    y[:, 2].sin_()
    plain = x.detach().numpy()
    np.testing.assert_allclose(y.detach().numpy()[:, 0], plain[:, 0] ** 2, rtol=1e-6)
    np.testing.assert_allclose(y.detach().numpy()[:, 2], np.sin(plain[:, 2]), rtol=1e-6)
    y.sum().backward()
    expected = np.ones((rows, 4), "f4")
    expected[:, 0], expected[:, 2] = 2 * plain[:, 0], np.cos(plain[:, 2])
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)


PARTS = {  # target, operand, whether they are disjoint
    "two columns": (lambda x: x[:, 0], lambda x: x[:, 1], True),
    "halves of rows": (lambda x: x[:, :2], lambda x: x[:, 2:], True),
    "even and odd places": (lambda x: x[::2], lambda x: x[1::2], True),
    "columns and the first one": (lambda x: x[:, 1:], lambda x: x[:, :1], True),
    "bands that overlap": (lambda x: x[:, :2], lambda x: x[:, 1:3], False),
    "rows shifted by one": (lambda x: x[1:], lambda x: x[:-1], False),
    "the transpose": (lambda x: x, lambda x: x.T, False),
    "a corner and its transpose": (lambda x: x[:2, :2], lambda x: x[:2, :2].T, False),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_one_tensor(name):
    """What shares no element may be written; what does is refused, never computed from half-written memory."""
    target, operand, disjoint = PARTS[name]
    x = rushlight.arange(16.0).reshape(4, 4)
    if disjoint:
        expected = x.numpy().copy()
        target(expected)[...] += operand(x.numpy().copy())
        target(x).add_(operand(x))
        assert x.tolist() == expected.tolist()
    else:
        with pytest.raises(RuntimeError, match="single memory location"):
            target(x).add_(operand(x))


@pytest.mark.parametrize("step", [3, 2**33, 2**62, 2**63 - 1])
def test_huge_steps_take_one_row(step):
    x = rushlight.arange(12.0).reshape(3, 4)
    assert x[1::step].tolist() == [[4, 5, 6, 7]]


@pytest.mark.parametrize("optimizer", [rushlight.optim.SGD, rushlight.optim.Adam])
def test_steps_do_not_write_read_only_memory(optimizer):
    array = np.arange(4, dtype="f4")
    array.flags.writeable = False
    parameter = rushlight.nn.Parameter(rushlight.from_numpy(array))
    parameter.sum().backward()
    with pytest.raises(RuntimeError, match="read-only"):
        optimizer([parameter], lr=1.0).step()
    assert array.tolist() == [0, 1, 2, 3]


def test_batch_norm_does_not_write_read_only_statistics():
    array = np.arange(4, dtype="f4")
    array.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only"):
        rushlight.nn.functional.batch_norm(
            rushlight.rand(3, 4), rushlight.from_numpy(array), rushlight.ones(4), training=True
        )


@pytest.mark.parametrize("call", ["x.unfold(0, 2, 2**62)", "x.repeat(2**63 - 1)", "x.expand(2**63, 3, 4)"])
def test_sizes_past_64_bits(call):
    with pytest.raises(RuntimeError):
        eval(call, {"x": rushlight.ones(3, 4)})


def test_no_function_of_the_core_takes_none_for_an_object():
    """Every function and method of the core, called with None and with objects of other kinds, must raise or return."""
    program = """
import rushlight as rl
from rushlight.core import engine
x, node = rl.ones(2, requires_grad=True), (rl.ones(2, requires_grad=True) * 2).grad_fn
skipped = {"bind", "register_value_type", "launch_kernel", "borrow_storage", "attach_method", "set_unset_layout"}
kinds = type(node), type(x[:1].grad_fn)
bad = (None, 3, "a", x, node, x._layout, [], [None], x._storage)
functions = [f for n, f in vars(engine).items() if callable(f) and not isinstance(f, type) and n not in skipped]
methods = [getattr(engine.Tensor, n) for n in dir(engine.Tensor) if not n.startswith("__")]
functions += [method for method in methods if type(method).__name__ == "method_descriptor"]
for kind in (engine.Op, engine.Plan, engine.Layout, engine.Storage, engine.HookHandle, type(node)):
    functions += [getattr(kind, n) for n in dir(kind) if not n.startswith("__") and callable(getattr(kind, n))] + [kind]
count = 0
for f in functions:
    for a in bad:
        for arguments in ((a,), (a, a), (x, a), (a, x), (node, a), (a, a, a), (x, a, a), (a, a, a, a), (x, a, a, a, a)):
            try:
                f(*arguments)
            except Exception:
                count += 1
assert count > 1000, count
for kind in (*kinds, engine.Layout):
    made = kind.__new__(kind)
    for name in dir(made):
        try:
            value = getattr(made, name)
            repr(made), callable(value) and value()
        except Exception:
            count += 1
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
