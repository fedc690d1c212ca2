"""How a transform is cut in passes: lengths as products of radices, long ones as products of two lengths."""

from __future__ import annotations

import functools
import math

LARGEST = 31  # prime radix of a pass; lengths with larger primes are transformed by convolution


@functools.cache
def prime_factors(n: int) -> tuple[int, ...]:
    """In ascending order."""
    factors, p = [], 2
    while p * p <= n:
        while n % p == 0:
            factors.append(p)
            n //= p
        p += 1
    return (*factors, n) if n > 1 else tuple(factors)


def is_smooth(n: int) -> bool:
    """Whether passes alone transform this length."""
    return all(p <= LARGEST for p in prime_factors(n))


@functools.cache
def radices(n: int) -> tuple[int, ...]:
    """Radices of passes whose product is n: eights and fours for the twos, the largest last, which needs no roots."""
    primes = prime_factors(n)
    odd, twos = sorted((p for p in primes if p > 2), reverse=True), primes.count(2)
    fours = (0, 2, 1)[twos % 3] if twos > 1 else 0
    if twos == 1:
        # 6 and 10 in one pass; 14 would spill registers
        partner = next((p for p in (3, 5) if p in odd), None)
        if partner is None:
            return (*odd, 2)
        odd.remove(partner)
        return (*odd, 2 * partner)
    return (*odd, *[4] * fours, *[8] * ((twos - 2 * fours) // 3)) or (1,)


@functools.cache
def halves(n: int) -> tuple[int, int]:
    """Two factors of n as near to each other as they get, the larger first."""
    small = next(d for d in range(math.isqrt(n), 0, -1) if n % d == 0)
    return n // small, small


@functools.cache
def convolution_length(n: int) -> int:
    """The least convenient length of at least 2n - 1: a power of two, or 3, 5, 7 or 9 times one."""
    least = 2 * n - 1
    return min(odd << max(0, (-(-least // odd) - 1).bit_length()) for odd in (1, 3, 5, 7, 9))
