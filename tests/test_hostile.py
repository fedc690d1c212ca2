"""Nothing that a user passes may crash the process: each call below returns or raises, and the next one works.

They run one after another in a process of their own, which prints each before it starts it.
"""

import os
import subprocess
import sys

import pytest

import rushlight as rl

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
rl.fft.fft(x, n=1 << 40)
rl.fft.hfft(x, n=(1 << 61) - 1)
rl.fft.ifft2(x, s=(1 << 70, 4))
rl.kaiser_window(8, beta=float('inf'))
rl.signal.windows.kaiser(8, beta=1e300)
rl.sort(x, out=rl.empty(0))
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
F.conv2d(n, rl.rand(2, 2, 0, 0))
F.fold(rl.rand(1, 4, 9), 4, 2, stride=0)
F.pad(n, (I, I))
F.interpolate(n, scale_factor=float('inf'))
rl.polygamma(1 << 40, x)
rl.cat([x, object()])
x.unfold(0, 2, 1 << 62)
x.sum(([1],))
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


def test_very_many_tensors():
    """Joining thousands compiles no kernel of thousands of operands."""
    parts = [rl.full((1 + i % 3,), float(i)) for i in range(2000)]
    joined = rl.cat(parts)
    assert joined.tolist() == [float(i) for i in range(2000) for _ in range(1 + i % 3)]
    rows = [rl.full((2,), float(i), requires_grad=True) for i in range(500)]
    stacked = rl.stack(rows, -1)
    assert stacked[1].tolist() == [float(i) for i in range(500)]
    (stacked * stacked).sum().backward()
    assert rows[123].grad.tolist() == [246, 246]
    blocks = rl.block_diag(*[rl.full((1, 2), float(i)) for i in range(40)])
    assert blocks.shape == (40, 80) and blocks[7].nonzero().flatten().tolist() == [14, 15]
    for wrong in (None, 3, "a"):
        with pytest.raises(TypeError, match="element 300"):
            rl.cat([parts[0]] * 300 + [wrong])
        with pytest.raises(TypeError, match="element 1"):
            rl.stack([parts[0], wrong])


@pytest.mark.parametrize("kernel", [(2, 3), (5, 4), (17, 2)])
def test_fold_is_the_adjoint_of_unfold(kernel):
    """Also for kernels so large that rows and columns are folded one after the other."""
    image = rl.rand(2, 3, 20, 11, dtype=rl.float64, requires_grad=True)
    options = {"kernel_size": kernel, "dilation": (1, 2), "padding": 1, "stride": (2, 1)}
    columns = rl.nn.functional.unfold(image, **options)
    cotangent = rl.rand(*columns.shape, dtype=rl.float64)
    columns.backward(cotangent)
    folded = rl.nn.functional.fold(cotangent, (20, 11), **options)
    assert (folded - image.grad).abs().max() < 1e-12


def test_multivariate_gamma_of_many_dims():
    x = rl.tensor([40.0, 55.5], dtype=rl.float64)
    expected = sum(rl.lgamma(x - i / 2) for i in range(30)) + 30 * 29 / 4 * rl.log(rl.tensor(rl.pi))
    assert (rl.mvlgamma(x, 30) - expected).abs().max() < 1e-4
    with pytest.raises(RuntimeError, match="1024"):
        rl.mvlgamma(x, 1 << 40)
