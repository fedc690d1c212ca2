"""What is measured besides reading and writing by index: small calls, memory, products, transforms, training."""

from __future__ import annotations

import math

from .registry import M, normal, workload


# -- overhead ---------------------------------------------------------------------------------------
@workload("a + b, 8x8", 1 / 0.35, 1 / 0.15)
def tiny_add(T):
    a, b = normal(T, 8, 8), normal(T, 8, 8)
    return lambda: a + b


@workload("a + b, 8x8, recorded", 1 / 0.35, 1 / 0.2)
def tiny_add_recorded(T):
    a, b = normal(T, 8, 8, grad=True), normal(T, 8, 8)
    return lambda: a + b


@workload("MLP 8-32-1, batch 16, Adam step", 1 / 0.4, 1 / 0.2)
def tiny_mlp(T):
    nn = T.nn
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    x, y = normal(T, 16, 8), normal(T, 16, 1)
    return training_step(T, model, lambda: nn.functional.mse_loss(model(x), y))


def training_step(T, model, loss_of):
    optimizer = T.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss

    return step


# -- sparse -----------------------------------------------------------------------------------------
def sparse_matrix(T, size: int, density: float):
    """A square matrix of the given share of elements, by coordinates."""
    import numpy as np

    random = np.random.default_rng(0)
    count = int(size * size * density)
    places = T.from_numpy(random.integers(0, size, (2, count)))
    values = T.from_numpy(random.standard_normal(count, dtype=np.float32))
    return T.sparse_coo_tensor(places, values, (size, size)).coalesce()


def product(name: str, layout: str, size: int, density: float, columns: int):
    count = size * size * density

    @workload(name, 0.7, 1, bytes=12 * count + 8 * size * columns, flops=2 * count * columns)
    def make(T):
        a, b = sparse_matrix(T, size, density).to_sparse(layout=getattr(T, layout)), normal(T, size, columns)
        return lambda: a @ b


product("CSR 10k x 10k (0.1%) @ 10k x 64", "sparse_csr", 10_000, 0.001, 64)
product("CSR 2k x 2k (1%) @ vector", "sparse_csr", 2_000, 0.01, 1)
product("COO 10k x 10k (0.1%) @ 10k x 64", "sparse_coo", 10_000, 0.001, 64)


# -- memory -------------------------------------------------------------------------------------------
def large(name: str, function, moves: float, shape=(4096, 4096), tensors: int = 1, floor=2, aim=4):
    @workload(name, floor, aim, bytes=moves * 4 * math.prod(shape))
    def make(T):
        operands = [normal(T, *shape) for _ in range(tensors)]
        return lambda: function(T, *operands)


large("add, 16M", lambda T, a, b: a + b, 3, tensors=2)
large("gelu, 16M", lambda T, a: T.nn.functional.gelu(a), 2)
large("softmax, 16M", lambda T, a: T.softmax(a, -1), 2)
large("layer_norm, 16M", lambda T, a: T.nn.functional.layer_norm(a, a.shape[-1:]), 2)
large("dropout, 16M", lambda T, a: T.nn.functional.dropout(a, 0.5), 2)
large("var, 16M", lambda T, a: a.var(-1), 1)
large("std over rows, 16M", lambda T, a: a.std(0), 1)
large("where, 16M", lambda T, a, b: T.where(a > 0, a, b), 3, tensors=2)
large("transposed copy, 16M", lambda T, a: a.t().contiguous(), 2)


@workload("randn, 16M", 2, 4, bytes=4 * 16 * M)
def randn(T):
    return lambda: T.randn(16 * M)


@workload("cross_entropy and gradient, 16M", 2, 4, bytes=3 * 4 * 16 * M)
def cross_entropy(T):
    logits = normal(T, 16384, 1024, grad=True)
    labels = T.arange(16384) % 1024

    def step():
        logits.grad = None
        T.nn.functional.cross_entropy(logits, labels).backward()
        return logits.grad

    return step


# -- compute --------------------------------------------------------------------------------------------
def square(n: int):
    @workload(f"matmul {n}", 0.85, 1, flops=2.0 * n**3)
    def make(T):
        a, b = normal(T, n, n), normal(T, n, n)
        return lambda: a @ b


for size in (512, 1024, 2048):
    square(size)


def convolution(name: str, batch: int, channels: int, out: int, size: int, kernel: int, stride: int = 1):
    flops = 2.0 * batch * out * channels * kernel**2 * (size // stride) ** 2

    @workload(name, 0.7, 1, flops=flops)
    def make(T):
        x, w = normal(T, batch, channels, size, size), normal(T, out, channels, kernel, kernel)
        return lambda: T.nn.functional.conv2d(x, w, None, stride, kernel // 2)


convolution("conv 3x3 64-64 56x56, batch 1", 1, 64, 64, 56, 3)
convolution("conv 3x3 128-128 28x28, batch 8", 8, 128, 128, 28, 3)
convolution("conv 3x3 512-512 7x7, batch 1", 1, 512, 512, 7, 3)
convolution("conv 1x1 64-256 56x56, batch 1", 1, 64, 256, 56, 1)
convolution("conv 1x1 512-128 28x28, batch 8", 8, 512, 128, 28, 1)


# -- linear algebra -----------------------------------------------------------------------------------
@workload("svd 512", 0.7, 1)
def svd(T):
    x = normal(T, 512, 512)
    return lambda: T.linalg.svd(x)


def definite(T, *shape):
    x = normal(T, *shape)
    return x @ x.mT + T.eye(shape[-1])


@workload("cholesky 1024", 1, 1.5)
def cholesky(T):
    x = definite(T, 1024, 1024)
    return lambda: T.linalg.cholesky(x)


@workload("solve 1024", 1, 1.5)
def solve(T):
    x, y = definite(T, 1024, 1024), normal(T, 1024, 16)
    return lambda: T.linalg.solve(x, y)


@workload("inv 4x4, batch 10000", 1.5, 2.5)
def tiny_inv(T):
    x = definite(T, 10000, 4, 4)
    return lambda: T.linalg.inv(x)


@workload("eigh 8x8, batch 4096", 4, 8)
def tiny_eigh(T):
    x = normal(T, 4096, 8, 8)
    return lambda: T.linalg.eigh(x)


# -- transforms -------------------------------------------------------------------------------------
def transform(kind: str, shape: tuple, flops: float, complex_input: bool = True):
    """`T.fft.<kind>` of a tensor; `flops` is what is customarily counted, 5 n log2 n for n complex numbers."""

    @workload(f"fft.{kind} {'x'.join(map(str, shape))}", 0.7, 1, flops=flops)
    def step(T):
        x = T.complex(normal(T, *shape), normal(T, *shape)) if complex_input else normal(T, *shape)
        run = getattr(T.fft, kind)
        return lambda: run(x)


for rows, n in ((4096, 1024), (1024, 64), (1, 1024), (1, M), (128, 1000)):
    transform("fft", (rows, n), 5 * rows * n * math.log2(n))
transform("fft2", (512, 512), 5 * 512 * 512 * 18)
transform("rfft", (4096, 1024), 2.5 * M * 4 * 10, complex_input=False)
transform("irfft", (4096, 513), 2.5 * M * 4 * 10)


@workload("stft, 8 x 10 s at 16 kHz, n_fft 400", 0.7, 1)
def short_time(T):
    x, window = normal(T, 8, 160000), T.hann_window(400)
    return lambda: T.stft(x, 400, 160, window=window, return_complex=True)


@workload("per-sample gradients, MLP 64-128-10, batch 64", 2, 4)
def per_sample_gradients(T):
    nn, func = T.nn, T.func
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    x, labels = normal(T, 64, 64), T.arange(64) % 10

    def loss(given, sample, label):
        return nn.functional.cross_entropy(func.functional_call(model, given, (sample,)), label)

    gradients = T.vmap(func.grad(loss), in_dims=(None, 0, 0))
    return lambda: gradients(parameters, x, labels)


@workload("digits CNN train step, batch 64", 1.3, 2)
def digits(T):
    nn = T.nn
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(64 * 16, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )
    x, labels = normal(T, 64, 1, 8, 8), T.arange(64) % 10
    return training_step(T, model, lambda: nn.functional.cross_entropy(model(x), labels))
