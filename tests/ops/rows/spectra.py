"""Rows of the table of ops: norms and products of `linalg`, eigenvalues, singular values."""

from rushlight.linalg import exponential, norms, products  # noqa: F401 - they declare the ops

from ..op_samples import NUMBERS, Row

NORMS = [
    Row("sums_compared", lambda x: [(x(3, 4), 0, 1, False, False), (x(2, 3, 4), 2, 0, True, True)], "fhc", rtol=3e-5),
]

PRODUCTS = [
    Row("inner_products", lambda x: [(x(3, 4), x(3, 4), 1), (x(2, 3), x(3), -1), (x(), x(), 0)], NUMBERS),
    Row("vandermonde", lambda x: [(x(3), 3), (x(2, 3), 5)], "fci"),
    Row(
        "linalg_matrix_exp",
        lambda x: [(x(2, 3, 3), 12, 4), (x(4, 4), 4, 9), (x(0, 2, 2), 2, 0)],
        "fhc",
        rtol=3e-5,
        larger=False,
    ),
    Row("largest_norm", lambda x: [(x(2, 3, 3),)], "fhc", grad=""),
]

ROWS = [*NORMS, *PRODUCTS]
