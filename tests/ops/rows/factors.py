"""Rows of the table of ops: factorizations and what is solved with them. More is tested in tests/linalg."""

import numpy as np

from rushlight.linalg import former  # noqa: F401 - it declares the ops

from ..op_samples import Row


def definite(a):
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + 2 * np.eye(a.shape[-1])).astype(a.dtype)


def regular(a):
    return (a + 6 * np.eye(a.shape[-1])).astype(a.dtype)


def lower(a):
    """A lower triangle with a real diagonal, as Cholesky's are."""
    a = np.tril(regular(a))
    return (a - 1j * a.imag * np.eye(a.shape[-1])).astype(a.dtype) if a.dtype.kind == "c" else a


OPTIONS = {"dtypes": "fc", "rtol": 1e-4, "layouts": False, "larger": False}
SYMMETRIC = OPTIONS | {"grad": ""}  # what is not read has a derivative all the same, as in PyTorch

ROWS = [
    Row("cholesky_older", lambda x: [(definite(x(3, 3)),), (definite(x(9, 4, 4)), True), (x(0, 0),)], **SYMMETRIC),
    Row("cholesky_solve", lambda x: [(x(3, 2), lower(x(3, 3))), (x(2, 3, 1), lower(x(3, 3)))], **SYMMETRIC),
    Row("cholesky_inverse", lambda x: [(lower(x(3, 3)),), (lower(x(2, 4, 4)),)], **SYMMETRIC),
    Row("linalg_inv", lambda x: [(regular(x(3, 3)),), (regular(x(9, 4, 4)),), (x(2, 0, 0),)], **OPTIONS),
    Row("linalg_det", lambda x: [(regular(x(3, 3)),), (regular(x(9, 4, 4)),), (x(2, 0, 0),)], **OPTIONS),
    Row("linalg_householder_product", lambda x: [(x(4, 3), x(2)), (x(2, 3, 3), x(2, 3))], **OPTIONS),
    Row("ormqr_of", lambda x: [(x(4, 3), x(3), x(4, 2)), (x(2, 4, 3), x(2, 2), x(2, 3, 4), False, True)], **OPTIONS),
]
