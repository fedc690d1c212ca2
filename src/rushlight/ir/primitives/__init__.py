"""All primitives, one file for each family. Importing this fills `ir.primitive.PRIMITIVES`."""

from . import call, contract, elementwise, factor, fourier, index, reduce, scan, solve, sort, source, structure, views
from . import window

__all__ = [
    "call",
    "contract",
    "elementwise",
    "factor",
    "fourier",
    "index",
    "reduce",
    "scan",
    "solve",
    "sort",
    "source",
    "structure",
    "views",
    "window",
]
