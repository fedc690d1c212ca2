"""Conjugates and negatives that are not computed: a tensor's layout has a bit for each, and operations see a `conj` or
`neg` node between the memory and the elements.
"""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ir.graph import Value

CONJ, NEG = 1, 2  # the bits of core.Layout
NODES = {"conj": CONJ, "neg": NEG}


def seen_through(value: Value, bits: int) -> Value:
    """The elements that memory of the given bits holds; also what such memory must hold for given elements."""
    value = B.conj(value) if bits & CONJ else value
    return -value if bits & NEG else value


def bits_of(input) -> int:
    """What stands between memory and elements; nothing for traced values."""
    return input._layout.bits if isinstance(input, Tensor) else 0
