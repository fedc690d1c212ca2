"""Transposing a square block of numbers in registers."""

from __future__ import annotations

from .text import Function, V, lanes, scalar_bytes


def transpose(f: Function, rows: list[V]) -> list[V]:
    """The transpose of a square block held in vectors of 4 or 8 byte lanes.

    First within 128-bit lanes by unpacking, then the lanes among each other: both are one-cycle shuffles on x86.
    """
    n = lanes(rows[0].type)
    width = min(16 // scalar_bytes(rows[0].type), n)  # elements of a 128-bit lane
    done: list[V | None] = [None] * n
    groups = [_unpack(f, rows[g : g + width], width) for g in range(0, n, width)]
    for j in range(width):
        for q, value in enumerate(_gather_lanes(f, [group[j] for group in groups], width)):
            done[q * width + j] = value
    return done


def _unpack(f: Function, rows: list[V], width: int) -> list[V]:
    """Transpose `width` rows within each 128-bit lane."""
    n = lanes(rows[0].type)

    def unpack(a: V, b: V, size: int, high: bool) -> V:
        """Interleave runs of `size` elements from the lower or upper halves of the lanes of a and b."""
        mask = []
        for lane in range(0, n, width):
            start = lane + (width // 2 if high else 0)
            for run in range(start, start + width // 2, size):
                mask += range(run, run + size)
                mask += range(n + run, n + run + size)
        return f.shuffle(a, b, mask)

    if width == 1:
        return rows
    if width == 2:
        return [unpack(rows[0], rows[1], 1, high) for high in (False, True)]
    low, high = [[unpack(a, b, 1, h) for a, b in (rows[:2], rows[2:])] for h in (False, True)]
    return [unpack(*pair, 2, h) for pair in (low, high) for h in (False, True)]


def _gather_lanes(f: Function, values: list[V], width: int) -> list[V]:
    """values[g] has 128-bit lanes (g, 0), (g, 1), ...; result q has (0, q), (1, q), ..."""
    if len(values) == 1:
        return values
    n = lanes(values[0].type)
    even, odd = ([i for i in range(2 * n) if i // width % 2 == parity] for parity in (0, 1))
    pairs = list(zip(values[::2], values[1::2]))
    evens = _gather_lanes(f, [f.shuffle(a, b, even) for a, b in pairs], width)
    odds = _gather_lanes(f, [f.shuffle(a, b, odd) for a, b in pairs], width)
    return [value for pair in zip(evens, odds) for value in pair]
