"""Doors to the room `sparse`, which is loaded when a program makes its first sparse tensor.

Ops reach it by themselves when one of their arguments is sparse (see core/sparse.pxi). Here are the methods that every
tensor has, and the functions written in other ops of which sparse tensors have a form of their own.
"""

from __future__ import annotations

from ..core import engine
from ..core.engine import Composite
from .declare import FUNCTIONS, METHODS, add_method, composite


def room():
    """The room `sparse`."""
    from .. import sparse

    return sparse


def empty_sparse(shape: tuple, dtype, layout, requires_grad: bool = False):
    """A sparse tensor without elements: what `zeros` and `empty` make of a sparse layout."""
    return room().construct.empty_of(shape, dtype, layout, requires_grad)


# -- methods ----------------------------------------------------------------------------------------
@composite(method=True, public=False)
def to_sparse(input, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """The elements that are not zero, with their places: a sparse tensor (COO unless another layout is asked for).

    sparse_dim  how many leading dims are sparse; the others stay dense: values are slices

    >>> rushlight.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse()
    tensor(indices=tensor([[0],
                           [1]]),
           values=tensor([2.]),
           size=(2, 2), nnz=1, layout=rushlight.sparse_coo)
    """
    return room().convert.to_sparse(input, sparse_dim, layout, blocksize, dense_dim)


@composite(method=True, public=False)
def to_sparse_coo(input):
    """The tensor in coordinate form."""
    return room().convert.to_sparse(input)


@composite(method=True, public=False)
def to_sparse_csr(input, dense_dim=None):
    """A matrix as compressed rows."""
    return room().convert.to_compressed(input, "csr", dense_dim)


@composite(method=True, public=False)
def to_sparse_csc(input, dense_dim=None):
    """A matrix as compressed columns."""
    return room().convert.to_compressed(input, "csc", dense_dim)


@composite(method=True, public=False)
def to_sparse_bsr(input, blocksize, dense_dim=None):
    """NotImplementedError: blocks are not supported."""
    raise NotImplementedError("to_sparse_bsr: block layouts are not supported; use to_sparse_csr()")


@composite(method=True, public=False)
def to_sparse_bsc(input, blocksize, dense_dim=None):
    """NotImplementedError: blocks are not supported."""
    raise NotImplementedError("to_sparse_bsc: block layouts are not supported; use to_sparse_csc()")


@composite(method=True, public=False)
def sparse_mask(input, mask):
    """The elements at the places of a sparse tensor `mask` of the same shape, as a sparse tensor with these places."""
    return room().convert.sparse_mask(input, mask)


@composite(method=True, public=False)
def sparse_dim(input) -> int:
    """How many dims are sparse; 0 for dense tensors."""
    return room().facts.sparse_dim(input) if input._layout.sparse else 0


@composite(method=True, public=False)
def dense_dim(input) -> int:
    """How many dims the values of a sparse tensor have; all of a dense tensor's."""
    return room().facts.dense_dim(input) if input._layout.sparse else input.ndim


_PARTS = {
    "indices": ("facts", "indices", "int64[sparse_dim, nnz]: where the elements of a coalesced COO tensor lie."),
    "values": ("facts", "values", "The elements that a sparse tensor holds; a COO tensor must be coalesced."),
    "_indices": ("facts", "raw_indices", "The indices of a COO tensor as they are, with repetitions."),
    "_values": ("facts", "raw_values", "The values of a COO tensor as they are, outside of any graph."),
    "_nnz": ("facts", "nnz", "The number of elements that a sparse tensor holds."),
    "_dimI": ("facts", "sparse_dim", "How many dims of a sparse tensor are sparse."),
    "_dimV": ("facts", "dense_dim", "How many dims the values of a sparse tensor have, but for their number."),
    "is_coalesced": ("facts", "is_coalesced", "Whether a COO tensor's indices are known to be in order, each once."),
    "_coalesced_": ("facts", "declare_coalesced", "Declare a COO tensor coalesced, or not."),
    "crow_indices": ("facts", "crow_indices", "Where each row of a CSR tensor begins, and the number of elements."),
    "col_indices": ("facts", "col_indices", "The column of each element of a CSR tensor."),
    "ccol_indices": ("facts", "ccol_indices", "Where each column of a CSC tensor begins, and the number of elements."),
    "row_indices": ("facts", "row_indices", "The row of each element of a CSC tensor."),
    "coalesce": (
        "convert",
        "coalesce",
        "A COO tensor with its indices in order, each once; equal ones' values are added.",
    ),
    "sparse_resize_": (
        "resizing",
        "sparse_resize_",
        "Another size and numbers of sparse and dense dims; elements stay.",
    ),
    "sparse_resize_and_clear_": (
        "resizing",
        "sparse_resize_and_clear_",
        "Another size for a COO tensor, and no elements.",
    ),
    "resize_as_sparse_": ("resizing", "resize_as_sparse_", "The size and the kinds of dims of another COO tensor."),
}


def _add_part(name: str, place: str, function: str, doc: str) -> None:
    def method(input, *args, **kwargs):
        return getattr(getattr(room(), place), function)(input, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    composite(method, method=True, public=name == "resize_as_sparse_")


for _name, _entry in _PARTS.items():
    _add_part(_name, *_entry)


# -- functions --------------------------------------------------------------------------------------
@composite(method=True)
def smm(input, mat):
    """The product of a sparse and a dense matrix as a sparse one."""
    return room().products.smm(input, mat)


@composite(method=True)
def sspaddmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    """beta * input + alpha * (mat1 @ mat2) for sparse `input` and `mat1`, as a sparse matrix."""
    result = room().products.sspaddmm(input, mat1, mat2, beta, alpha)
    return result if out is None else room().dispatch.store(out, result)


@composite
def hspmm(mat1, mat2, *, out=None):
    """The product of a sparse and a dense matrix with one sparse dim: the rows that are not empty."""
    result = room().products.hspmm(mat1, mat2)
    return result if out is None else room().dispatch.store(out, result)


# former names of products, as graph networks still call them
FUNCTIONS.update(spmm=FUNCTIONS["mm"], dsmm=FUNCTIONS["mm"], hsmm=FUNCTIONS["hspmm"], saddmm=FUNCTIONS["sspaddmm"])


# functions written in other ops that sparse tensors have a form of their own of, or that would look for their memory
_OWN = (
    "argwhere", "bfloat16", "bool", "byte", "cdouble", "cfloat", "char", "chunk", "clone", "contiguous", "copy_",
    "double", "empty_like", "equal", "fill_", "float", "full_like", "half", "imag", "int", "is_nonzero", "long",
    "masked_select", "max", "min", "movedim", "narrow", "narrow_copy", "new", "new_empty", "new_zeros", "nonzero",
    "norm", "numpy", "ones_like", "rand_like", "randn_like", "real", "resize_", "resize_as_", "resolve_conj",
    "select", "short", "split", "squeeze_", "swapaxes_", "swapdims_", "t_", "tensor", "to", "to_dense",
    "transpose_", "type", "type_as", "unbind", "unsqueeze_", "view", "zero_", "zeros_like",
)  # fmt: skip


def guard(names) -> None:
    """Let functions and methods look for sparse arguments first."""
    for table in (FUNCTIONS, METHODS):
        for name in names:
            if name in table and not isinstance(table[name], engine.Op):
                table[name] = Composite(getattr(table[name], "function", table[name]), name, True)
                if table is METHODS:
                    add_method(name, table[name])


def load(called, name: str, args: tuple, kwargs: dict):
    """The first call with a sparse tensor: load the room, which takes over."""
    return room().dispatch.sparse_call(called, name, args, kwargs)


guard(_OWN)
engine.bind("sparse_call", load)
