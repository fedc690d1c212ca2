"""Nothing that a user passes may crash the process: each call below returns or raises, and the next one works.

They run one after another in a process of their own, which prints each before it starts it.
"""

import os
import subprocess
import sys

CALLS = """
rl.ones(1).as_strided((2,) * 16, (2**60,) * 16).sum()
rl.ones(4).as_strided((2,), (1,), 2**63 - 1).sum()
rl.ones(4).as_strided((2, 2), (2**62, 2**62)).sum()
rl.ones(1 << 60, dtype=rl.complex128)
rl.ones(1, dtype=rl.complex128).expand(1 << 58).clone()
rl.Tensor.__new__(rl.Tensor) + 1
repr(rl.Tensor.__new__(rl.Tensor))
x.gather(1, rl.full((3, 2), I))
x.scatter(1, rl.full((3, 2), M), 1.0)
x.scatter_add(1, rl.full((3, 2), -5), rl.ones(3, 2))
x.scatter_add(1, rl.zeros(3, 9).long(), rl.ones(3, 2))
x.index_select(0, rl.tensor([M]))
x.index_add(0, rl.tensor([9]), rl.ones(1, 4))
x.index_copy(0, rl.tensor([-4]), rl.ones(1, 4))
x.index_fill(0, rl.tensor([77]), 1.0)
x.take(rl.tensor([12, -13]))
x.put_(rl.tensor([M]), rl.ones(1))
x.put_(rl.tensor([1, 2]), rl.ones(1))
x[rl.tensor([0]), rl.tensor([I])]
x.__setitem__((rl.tensor([0, 1]), rl.tensor([1, 9])), 1.0)
x.masked_scatter(rl.ones(3, 4).bool(), rl.ones(2))
x.masked_select(rl.ones(2, 2).bool())
F.embedding(rl.tensor([I]), x)
F.embedding_bag(rl.tensor([0, 1]), x, rl.tensor([0, 7]))
F.embedding_bag(rl.tensor([0, 1]), x, rl.tensor([1, 0]))
F.nll_loss(x, rl.tensor([0, 1, M]))
F.cross_entropy(x, rl.tensor([0, 1, I]))
F.one_hot(rl.tensor([5]), 3)
rl.bincount(rl.tensor([I]))
rl.repeat_interleave(v, rl.tensor([I, I, I, I]))
v.repeat_interleave(1 << 60)
rl.searchsorted(v, v, sorter=rl.tensor([M, 1, 2, 3]))
x.topk(5)
F.conv2d(n, rl.rand(2, 2, 3, 3), stride=0)
F.conv2d(n, rl.rand(2, 2, 3, 3), stride=1 << 40)
F.conv2d(n, rl.rand(2, 2, 3, 3), padding=1 << 40)
F.conv2d(n, rl.rand(2, 2, 9, 9))
F.conv2d(n[:0], rl.rand(2, 2, 3, 3))
F.conv2d(n, rl.rand(2, 2, 3, 3), groups=-1)
F.conv_transpose2d(n, rl.rand(2, 2, 3, 3), padding=99)
F.max_pool2d(n, 2, 0)
F.max_pool2d(n, 2, 1 << 40)
F.max_pool2d(n, 1 << 40)
F.avg_pool2d(n, 1 << 40, padding=1 << 39)
F.avg_pool2d(n, 2, divisor_override=0)
F.adaptive_avg_pool2d(n, 1 << 20)
F.interpolate(n, scale_factor=1e9)
F.unfold(n, 2, stride=0)
F.pad(n, (1 << 60, 0))
F.pad(n, (9, 9), mode='reflect')
F.layer_norm(x[:, :0], (0,))
F.batch_norm(n[:0], None, None, training=True)
x.unfold(0, 1, 1 << 62)
x.roll(I)
x.diagonal(M)
x.triu(M)
x.expand(I, 3, 4)
x.repeat(I, 2)
x[2**70]
x[::I]
x.permute(*range(70))
x.view(1 << 40, 1 << 40)
rl.tensor([1, 2]) << rl.tensor([100, -1])
rl.tensor([M]) // -1
rl.tensor([M]) % -1
rl.tensor([1]) % 0
rl.tensor([1], dtype=rl.int8) // rl.tensor([0], dtype=rl.int8)
rl.gcd(rl.tensor([M]), rl.tensor([M]))
rl.tensor([float('inf'), float('nan'), 1e30]).long()
rl.tensor(2**70)
rl.arange(0, float('inf'))
rl.arange(M, I)
rl.linspace(0, 1, 1 << 60)
rl.eye(1 << 40)
rl.empty_strided((2, 2), (I, I))
rl.randperm(1 << 50)
rl.multinomial(rl.tensor([float('nan'), 1.0]), 1)
rl.multinomial(rl.tensor([1.0, 0.0]), 2)
rl.poisson(rl.tensor([1e30, float('inf'), float('nan')]))
rl.histc(x, 1 << 60)
x[:0].max(0)
x[:, :0].topk(0)
x[:0].unique()
rl.cat([rl.rand(1)] * 70).sum()
rl.einsum('i' * 60, x)
rl.kron(rl.ones(1).expand(1 << 30), rl.ones(1).expand(1 << 31))
x.resize_(1 << 60)
v[1:].resize_(100).sum()
v[1:].view(rl.complex128)
rl.set_num_threads(10**9)
rl.rand(1 << 21).sum()
rl.cat([None, x])
rl.add(None, None)
rl.where(None, x, x)
rl.core.engine.Node().next_functions
x.copy_(None)
x.to(3)
""".strip().splitlines()

PROGRAM = """
import sys, warnings
warnings.simplefilter("ignore")
import rushlight as rl
I, M, F = 2**63 - 1, -(2**63), rl.nn.functional
for line in sys.stdin.read().splitlines():
    x, v, n = rl.rand(3, 4), rl.rand(4), rl.rand(1, 2, 5, 6)
    print(line, flush=True)
    try:
        eval(line)
    except (RuntimeError, TypeError, ValueError, IndexError, OverflowError, AttributeError):
        pass
    assert (rl.ones(3) + 1).tolist() == [2, 2, 2]
print("done")
"""


def test_hostile_calls():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="\n".join(CALLS),
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ,
    )
    assert done.stdout.endswith("done\n"), (done.returncode, done.stdout.splitlines()[-1:], done.stderr[-500:])


def test_a_list_that_changes_while_its_tensors_are_read():
    """Another thread may empty a list of tensors while the kernels that read them run."""
    program = """
import threading, rushlight as rl
shared, stop = [], []
def fill():
    while not stop:
        shared.clear()
        shared.extend(rl.ones(1 << 18) for _ in range(6))
thread = threading.Thread(target=fill); thread.start()
wrong = 0
for _ in range(200):
    try:
        y = rl.cat(shared)
        wrong += y.sum().item() != y.numel()
    except (RuntimeError, ValueError):
        pass
stop.append(1); thread.join()
print(wrong)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, env=os.environ)
    assert done.stdout.strip() == "0", (done.returncode, done.stderr[-500:])
