"""Tensors that keep only some of their elements: by coordinates (COO), compressed rows (CSR) or columns (CSC).

They are tensors as others are, with another layout: every op that has a form for them takes them, others refuse.
"""

from __future__ import annotations

from . import (
    arithmetic,
    construct,
    convert,
    diagonals,
    dispatch,
    embeddings,
    facts,
    parts,
    pickling,
    printing,
    products,
    reduction,
    resizing,
    shape,
    softmaxes,
    tensor_types,
    unary,
    unchanged,
)
from .construct import (
    sparse_bsc_tensor,
    sparse_bsr_tensor,
    sparse_compressed_tensor,
    sparse_coo_tensor,
    sparse_csc_tensor,
    sparse_csr_tensor,
)
from .diagonals import spdiags
from .invariants import check_sparse_tensor_invariants
from .products import addmm, mm, sampled_addmm
from .reduction import sum
from .softmaxes import log_softmax, softmax

__all__ = [
    "addmm",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "sum",
]

globals().update(tensor_types.TYPES)
