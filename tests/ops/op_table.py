"""Every op, one line each: how to call it and which dtypes it takes. `test_op_table.py` does the rest.

A new op gets a line in its family's file in `rows/`; what a line says is told by `op_samples.Row`.
"""

from .rows import elementwise, factors, indexing, layers, products, reductions, shapes, spectra, transforms

FAMILIES = (elementwise, shapes, reductions, products, layers, indexing, spectra, transforms, factors)
TABLE = [row for family in FAMILIES for row in family.ROWS]

# Public ops that have no row, each for a reason.
EXCEPTIONS: dict[str, str] = {}
