"""How kernels report what they must not go on with: four words, the first of which is 0 as long as all is well.

The first word says what happened (`OUT_OF_BOUNDS`, `ZERO_DIVISION`, or the number of a text in `ir.failures`), the
others where: the index, its dimension and the size there, or the matrix, LAPACK's number and whether there is a batch.
"""

from __future__ import annotations

from ..ir.dtypes import int64
from .templates import Array
from .text import Function, V

OUT_OF_BOUNDS, ZERO_DIVISION = (V(str(code), "i64") for code in (1, 2))


def error_flag() -> Array:
    """The words as an operand of a launch."""
    return Array("error", 0, (4,), (1,), int64)


def report(f: Function, flag: V, code: V, *details: V) -> None:
    """Fill the words in, the first one last: it says that the others are there.

    Any offender may win a race between threads.
    """
    for word, value in enumerate(details, 1):
        f.store(value, f.at(flag, "i64", word))
    f.store(code, flag)
