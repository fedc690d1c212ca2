"""Random graphs of all the primitives that kernels are formed from, for comparison with the interpreter."""

import random

import numpy as np

from rushlight.ir import build as B
from rushlight.ir.dtypes import float32

LARGEST = 20000  # elements of a value
UNARY = [B.exp, B.neg, B.tanh, B.abs, B.sigmoid, lambda x: x * 0.5, lambda x: x + 1.0, lambda x: B.maximum(x, 0.0)]


def shapes(seed: int) -> tuple:
    rng = random.Random(seed + 10**6)
    return tuple(rng.choice([1, 2, 3, 4, 6, 8, 12, 17, 24]) for _ in range(rng.randint(1, 3)))


def function(seed: int, steps: int = 12, results: int = 3):
    """A function of any number of Values, decided by the seed and the operands' shapes."""

    def build(*operands):
        rng, pool = random.Random(seed), list(operands)
        for _ in range(steps):
            value = step(rng, rng.choice(pool[-6:]), pool)
            if value is not None and _count(value) <= LARGEST:
                pool.append(B.tanh(value) * 1.5 if rng.random() < 0.3 else value)
        return [pool[-1], *rng.sample(pool, min(len(pool), results - 1))]

    return build


def _count(value) -> int:
    return int(np.prod([int(s) for s in value.shape]))


def step(rng, x, pool):
    """One more value made from x, or None."""
    kinds = [unary] * 6 + [binary] * 6 + [reduction] * 5 + [permuted, permuted, reshaped, reshaped, sliced, sliced]
    kinds += [flipped, joined, padded, scanned, product, placed]
    return rng.choice(kinds)(rng, x, pool) if x.ndim else unary(rng, x, pool)


def unary(rng, x, pool):
    return rng.choice(UNARY)(x)


def binary(rng, x, pool):
    def fits(y):
        return y.ndim <= x.ndim and all(a in (1, b) for a, b in zip(y.shape[::-1], x.shape[::-1]))

    other = rng.choice([y for y in pool if fits(y)] or [x])
    return rng.choice([B.add, B.sub, B.mul, B.maximum])(x, other)


def reduction(rng, x, pool):
    dims = tuple(sorted(rng.sample(range(x.ndim), rng.randint(1, x.ndim))))
    keep = rng.random() < 0.6
    y = rng.choice([B.sum, B.max, B.mean, B.min])(x, dims, keepdim=keep)
    return x - y if keep and rng.random() < 0.5 else y


def permuted(rng, x, pool):
    return B.permute(x, tuple(rng.sample(range(x.ndim), x.ndim)))


def reshaped(rng, x, pool):
    n = _count(x)
    shapes = [(n,)]
    for a in (2, 3, 4, 5, 6, 8):
        if n % a == 0:
            shapes += [(a, n // a), (n // a, a)]
            shapes += [(a, b, n // a // b) for b in (2, 3, 4) if n % (a * b) == 0]
    return B.reshape(x, rng.choice(shapes))


def sliced(rng, x, pool):
    dim = rng.randrange(x.ndim)
    size = int(x.shape[dim])
    start = rng.randint(0, size - 1)
    length, by = rng.randint(1, size - start), rng.choice([1, 1, 2])
    starts, sizes, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[dim], sizes[dim], steps[dim] = start, (length + by - 1) // by, by
    return B.PRIMITIVES["slice"](x, starts=tuple(starts), sizes=tuple(sizes), steps=tuple(steps))


def flipped(rng, x, pool):
    return B.flip(x, (rng.randrange(x.ndim),))


def joined(rng, x, pool):
    return B.concat([x, x * 2.0], rng.randrange(x.ndim))


def padded(rng, x, pool):
    return B.pad(x, *(tuple(rng.randint(0, 2) for _ in x.shape) for _ in range(2)))


def scanned(rng, x, pool):
    return B.cumsum(x, rng.randrange(x.ndim))


def product(rng, x, pool):
    return B.matmul(x, B.permute(x, (1, 0))) if x.ndim == 2 else None


def placed(rng, x, pool):
    return B.cast(B.argmax(x, rng.randrange(x.ndim)), float32)
