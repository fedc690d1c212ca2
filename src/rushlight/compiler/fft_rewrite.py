"""Transforms that no passes exist for, as graphs of those that do: odd real lengths and lengths with large primes.

Bluestein's method makes a transform of any length n a convolution: j k = (j^2 + k^2 - (k - j)^2) / 2, so that with
c[j] = exp(-i pi j^2 / n) the transform is c[k] times the convolution of c x with conj c.
"""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir.dtypes import float64, int64
from ..ir.graph import Graph, Value
from .fft_plan import convolution_length, is_smooth


def replacement(name: str, x: Value, attrs: dict, scope) -> Graph | None:
    """A graph of x that computes the primitive, or None where passes do."""
    n = attrs["n"] if name == "irfft" else int(x.shape[attrs["dim"]])
    passes = n if name == "fft" else n // 2
    if is_smooth(passes) and (name == "fft" or n % 2 == 0):
        return None
    graph = Graph(scope)
    inner = graph.tensor(x.shape, x.dtype)
    with graph:
        made = FORMS[name](inner, n, **{key: value for key, value in attrs.items() if key not in ("n", "order")})
        return graph.returns([made])


def whole_of_real(x: Value, n: int, dim: int, scale: float) -> Value:
    """`rfft` as part of a complex transform."""
    made = transform(B.cast(x, x.dtype.to_complex()), dim, False, scale)
    return B.narrow(made, dim, 0, n // 2 + 1)


def real_of_whole(x: Value, n: int, dim: int, scale: float) -> Value:
    """`irfft` as the real part of a complex transform of all n numbers."""
    others = B.narrow(x, dim, 1, (n - 1) // 2)
    whole = B.concat([x, B.conj(B.flip(others, (dim,)))], dim)
    return B.real(transform(whole, dim, True, scale))


def convolved(x: Value, n: int, dim: int, inverse: bool, scale: float) -> Value:
    """`fft` by Bluestein's method."""
    size = convolution_length(n)
    shape = tuple(n if d == dim else 1 for d in range(x.ndim))
    chirp = chirp_of(shape, dim, n, 1.0 if inverse else -1.0, x.dtype)
    wanted = B.conj(chirp)
    # conj c at -(n - 1) .. n - 1, the negative ones from the end
    before = B.flip(B.narrow(wanted, dim, 1, n - 1), (dim,))
    kernel = B.concat([padded(wanted, dim, size - 2 * n + 1), before], dim)
    kernel = transform(kernel, dim, False, 1.0)
    turned = transform(padded(x * chirp, dim, size - n), dim, False, 1.0)
    made = B.narrow(transform(turned * kernel, dim, True, scale / size), dim, 0, n)
    return made * chirp


def chirp_of(shape: tuple, dim: int, n: int, sign: float, dtype) -> Value:
    """exp(sign * i pi j^2 / n), its angle reduced exactly in integers."""
    j = B.iota(shape, dim, int64)
    angle = B.cast(B.remainder(j * j, 2 * n), float64) * (sign * math.pi / n)
    part = dtype.to_real()
    return B.complex(B.cast(B.cos(angle), part), B.cast(B.sin(angle), part))


def padded(x: Value, dim: int, count: int) -> Value:
    """`count` zeros more at the end."""
    return B.pad(x, [0] * x.ndim, [count if d == dim else 0 for d in range(x.ndim)])


def transform(x: Value, dim: int, inverse: bool, scale: float) -> Value:
    return B.PRIMITIVES["fft"](x, dim=dim, inverse=inverse, scale=scale, order=None)


FORMS = {"fft": convolved, "rfft": whole_of_real, "irfft": real_of_whole}
