"""Discrete Fourier transforms of a few numbers, in registers: pairs (real, imaginary) of vectors."""

from __future__ import annotations

import math

from .text import Function, V

Complex = tuple[V, V]


def butterfly(f: Function, values: list[Complex]) -> list[Complex]:
    """y[k] = sum of values[j] exp(-2 pi i j k / n), for any n: factors of 4 first, primes by their symmetry."""
    n = len(values)
    if n == 1:
        return values
    if n == 2:
        return [add(f, *values), sub(f, *values)]
    if n == 4:
        return four(f, values)
    inner = 4 if n % 4 == 0 else next(p for p in range(2, n + 1) if n % p == 0)
    return odd_prime(f, values) if inner == n else composite(f, values, n // inner, inner)


def composite(f: Function, values: list[Complex], rows: int, columns: int) -> list[Complex]:
    """Cooley and Tukey: transforms of every `columns`-th value, twiddle factors, transforms across."""
    n = rows * columns
    lines = [butterfly(f, values[start::columns]) for start in range(columns)]
    result: list = [None] * n
    for k in range(rows):
        across = [turned(f, lines[j][k], j * k, n) for j in range(columns)]
        result[k::rows] = butterfly(f, across)
    return result


def four(f: Function, values: list[Complex]) -> list[Complex]:
    a, b, c, d = values
    even, odd = (add(f, a, c), sub(f, a, c)), (add(f, b, d), sub(f, b, d))
    turn = odd[1]
    first = (f.add(even[1][0], turn[1]), f.sub(even[1][1], turn[0]))
    third = (f.sub(even[1][0], turn[1]), f.add(even[1][1], turn[0]))
    return [add(f, even[0], odd[0]), first, sub(f, even[0], odd[0]), third]


def odd_prime(f: Function, values: list[Complex]) -> list[Complex]:
    """Sums and differences of values j and n - j need real factors only."""
    n = len(values)
    first, pairs = values[0], [(values[j], values[n - j]) for j in range(1, n // 2 + 1)]
    sums, differences = [add(f, *p) for p in pairs], [sub(f, *p) for p in pairs]
    total = first
    for value in sums:
        total = add(f, total, value)
    result = [total] + [first] * (n - 1)
    for k in range(1, n // 2 + 1):
        even, odd = first, None
        for j, (s, d) in enumerate(zip(sums, differences), 1):
            angle = 2 * math.pi * (j * k % n) / n
            even = tuple(scaled_sum(f, e, v, math.cos(angle)) for e, v in zip(even, s))
            sine = math.sin(angle)
            odd = tuple(scaled_sum(f, o, v, sine) for o, v in zip(odd or (None, None), d))
        # exp(-i t) = cos t - i sin t: the differences enter turned by a quarter
        result[k] = (f.add(even[0], odd[1]), f.sub(even[1], odd[0]))
        result[n - k] = (f.sub(even[0], odd[1]), f.add(even[1], odd[0]))
    return result


def scaled_sum(f: Function, total: V | None, v: V, factor: float) -> V:
    factor = f.const(factor, v.type)
    return f.mul(v, factor) if total is None else f.add(f.mul(v, factor), total)


def add(f: Function, a: Complex, b: Complex) -> Complex:
    return f.add(a[0], b[0]), f.add(a[1], b[1])


def sub(f: Function, a: Complex, b: Complex) -> Complex:
    return f.sub(a[0], b[0]), f.sub(a[1], b[1])


def multiply(f: Function, a: Complex, b: Complex) -> Complex:
    """a * b."""
    real = f.sub(f.mul(a[0], b[0]), f.mul(a[1], b[1]))
    return real, f.add(f.mul(a[1], b[0]), f.mul(a[0], b[1]))


def turned(f: Function, a: Complex, exponent: int, n: int) -> Complex:
    """a * exp(-2 pi i exponent / n), with fewer operations for multiples of an eighth of a turn."""
    eighths = exponent * 8 % (8 * n)
    if eighths % n == 0:
        return eighth_turned(f, a, eighths // n % 8)
    angle = 2 * math.pi * (exponent % n) / n
    root = f.const(math.cos(angle), a[0].type), f.const(-math.sin(angle), a[0].type)
    return multiply(f, a, root)


def eighth_turned(f: Function, a: Complex, eighths: int) -> Complex:
    real, imaginary = a
    for _ in range(eighths // 2):
        real, imaginary = imaginary, f.neg(real)
    if eighths % 2:
        half = f.const(math.sqrt(0.5), real.type)
        return f.mul(half, f.add(real, imaginary)), f.mul(half, f.sub(imaginary, real))
    return real, imaginary
