"""Direction numbers of Sobol sequences in up to 21201 dimensions, from the table of Joe and Kuo.

A dimension has a primitive polynomial over GF(2) of degree s and s initial numbers, odd, the k-th below 2^k; the
further numbers follow by a recurrence. `joe_kuo.bin` packs both: first half the gap between each polynomial (as a
number, its lowest bit the constant term) and the one before, a byte each; then bit planes. For k = 2, 3, ..., 18 these
are the k - 1 upper bits of the k-th initial numbers, from the lowest up: a bit for every dimension whose degree is k
or more, the first in the lowest bit of the first byte.
"""

from __future__ import annotations

import functools
import pathlib

from ..ir.dtypes import int64, uint8
from ..ops import FUNCTIONS as F

MAXBIT = 30
MAXDIM = 21201
# the first dimension whose polynomial has degree 0 (the van der Corput sequence), 1, 2, ..
FIRST = (0, 1, 2, 3, 5, 7, 13, 19, 37, 53, 101, 161, 337, 481, 1111, 1867, 3667, 5715, 13425, MAXDIM)


@functools.cache
def table() -> bytes:
    return (pathlib.Path(__file__).parent / "joe_kuo.bin").read_bytes()


def polynomials(count: int):
    """int64[count]: the polynomials of the first dimensions."""
    gaps = F["frombuffer"](bytearray(table()[: count - 1] or b"\0"), dtype=uint8)
    sums = F["cumsum"](gaps, 0)[: count - 1]
    return F["cat"]([F["ones"](1, dtype=sums.dtype), 2 * sums + 1])


def initial_numbers(count: int) -> list:
    """The k-th item: int64, the k-th initial number of each of the first dimensions that has one, from FIRST[k] on."""
    found, start = [], MAXDIM - 1
    for k in range(1, len(FIRST) - 1):
        whole, wanted = MAXDIM - FIRST[k], max(0, count - FIRST[k])
        planes = [bit_plane(start + i * bytes_for(whole), wanted) << (i + 1) for i in range(k - 1)]
        start += (k - 1) * bytes_for(whole)
        ones = F["ones"](wanted, dtype=int64)
        found.append(functools.reduce(F["bitwise_or"], planes, ones))
    return found


def bytes_for(bits: int) -> int:
    return (bits + 7) // 8


def bit_plane(start: int, count: int):
    """int64[count]: bits of the table from byte `start` on."""
    packed = bytearray(table()[start : start + bytes_for(count)])
    if not packed:
        return F["zeros"](0, dtype=int64)
    parts = F["frombuffer"](packed, dtype=uint8).long().unsqueeze(1)
    return ((parts >> F["arange"](8)) & 1).reshape(-1)[:count]


def directions(count: int):
    """int64[count, 30]: column j holds the direction numbers for bit j of the (Gray coded) index, as 30-bit fractions.

    With v_j = m_j / 2^(j+1) and the polynomial x^s + a_1 x^(s-1) + ... + 1 (Bratley and Fox, 1988):
    v_j = a_1 v_(j-1) xor ... xor a_(s-1) v_(j-s+1) xor v_(j-s) xor v_(j-s) / 2^s.
    """
    numbers, coefficients = initial_numbers(count), polynomials(count)
    groups = [F["ones"](1, MAXBIT, dtype=int64) << F["arange"](MAXBIT - 1, -1, -1)]
    for degree in range(1, len(FIRST) - 1):
        low, high = FIRST[degree], min(count, FIRST[degree + 1])
        if low < high:
            initial = [m[low - FIRST[k + 1] : high - FIRST[k + 1]] for k, m in enumerate(numbers[:degree])]
            groups.append(recurrence(initial, coefficients[low:high], degree))
    return F["cat"](groups)


def recurrence(initial: list, polynomial, degree: int):
    columns = [m << (MAXBIT - 1 - j) for j, m in enumerate(initial)]
    terms = [(polynomial >> (degree - k)) & 1 for k in range(1, degree)]
    for j in range(degree, MAXBIT):
        column = columns[j - degree] ^ (columns[j - degree] >> degree)
        for k, term in enumerate(terms, 1):
            column = column ^ (term * columns[j - k])
        columns.append(column)
    return F["stack"](columns, 1)
