"""Matrix products with sparse matrices."""

from __future__ import annotations

from .. import ops
from ..core.engine import Tensor
from . import graph, lookup
from .arithmetic import add as added
from .arithmetic import times
from .convert import as_coo, coalesce, from_coordinates, int64_of, summed_by_place
from .dispatch import implements, in_place, refuse
from .parts import COO, CSR, coo, kind_of, parts_of
from .rows import multiplied, rows_of, sampled
from .shape import spread, t


def check(name: str, a: Tensor, b: Tensor, dims: tuple = (2, 2)) -> None:
    """RuntimeError unless two operands have the right dims, one dtype and inner sizes that agree."""
    for what, x, ndim in (("mat1", a, dims[0]), ("mat2", b, dims[1])):
        if x.ndim != ndim:
            raise RuntimeError(f"{name}: {what} must be a {ndim}-D tensor, got {x.ndim}-D of shape {list(x.shape)}")
        if kind_of(x) and parts_of(x).values.ndim != 1:
            raise RuntimeError(f"{name}: {what} must have no dense dims; it has {parts_of(x).values.ndim - 1}")
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"{name}: expected m1 and m2 to have the same dtype, but got: {a.dtype.name} != {b.dtype.name}"
        )
    if a.shape[-1] != b.shape[0]:
        raise RuntimeError(
            f"{name}: mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, a.shape))} and "
            f"{'x'.join(map(str, b.shape))})"
        )


# -- two matrices -------------------------------------------------------------------------------
def product(name: str, a: Tensor, b: Tensor) -> Tensor:
    """The product of two matrices of which one is sparse at least: sparse if both are."""
    check(name, a, b)
    if kind_of(a) and kind_of(b):
        return product_of_sparse(a, b)
    if kind_of(a):
        return multiplied(*rows_of(a), b)
    return multiplied(*rows_of(t(b)), a.t()).t()


def product_of_sparse(a: Tensor, b: Tensor) -> Tensor:
    """Every pair of elements that meet, multiplied, and the products added by place.

    Gustavson, 1978: for each element (i, k) of `a` the elements of row k of `b`.
    """
    kind, shape = kind_of(a), (a.shape[0], b.shape[1])
    rows, inner = lookup.coordinates(a)
    order, first, lengths = meeting(b, inner)
    which, member = spread(first, lengths, order)
    columns = lookup.coordinates(b)[1].index_select(0, member)
    indices = ops.stack([rows.index_select(0, which), columns])
    new = graph.values(a).index_select(0, which) * graph.values(b).index_select(0, member)
    indices, new = summed_by_place(indices, new, shape)
    made = graph.wrapped(coo(indices, new, shape, True), new, "SparseSparseMatmulBackward0")
    return made if kind == COO else from_coordinates(made, kind)


def meeting(b: Tensor, wanted: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
    """(an order of the elements by rows, or None for theirs; where each wanted row begins in it; how long it is)"""
    if kind_of(b) == CSR:
        pointers = int64_of(parts_of(b).pointers)
        first = pointers.index_select(0, wanted)
        return None, first, pointers.index_select(0, wanted + 1) - first
    rows, order = lookup.coordinates(b)[0], None
    if kind_of(b) != COO or not parts_of(b).coalesced:
        rows, order = ops.sort(rows, stable=True)
    first = ops.searchsorted(rows, wanted)
    return order, first, ops.searchsorted(rows, wanted, right=True) - first


@implements("mm", anywhere=True)
def matrix_product(input: Tensor, mat2: Tensor) -> Tensor:
    """See `torch.mm`."""
    return product("mm", input, mat2)


@implements("matmul", anywhere=True)
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Matrices and vectors as `torch.matmul` takes them, and a 3-d sparse tensor times a dense one."""
    if input.ndim == 2 and other.ndim == 2:
        return product("matmul", input, other)
    if input.ndim == 2 and other.ndim == 1:
        return mv(input, other)
    if input.ndim == 1 and other.ndim == 2:
        return mv(t(other), input)
    if input.ndim == 1 and other.ndim == 1:
        return dot(input, other)
    if input.ndim == 3 and other.ndim == 3 and kind_of(input):
        return bmm(input, other)
    if input.ndim > 2 and kind_of(other) and not kind_of(input):
        flat = product("matmul", input.reshape(-1, input.shape[-1]), other)
        return flat.reshape(*input.shape[:-1], other.shape[1])
    raise NotImplementedError(
        f"matmul: a {input.ndim}-d and a {other.ndim}-d tensor, one of them sparse: not supported"
    )


@implements("mv", anywhere=True)
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector."""
    check("mv", input, vec, (2, 1))
    if kind_of(vec):
        vec = vec.to_dense()
    return product("mv", input, vec.unsqueeze(1)).squeeze(1) if kind_of(input) else ops.mv(input, vec)


@implements("dot", anywhere=True)
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The inner product of two vectors, a dense 0-dim tensor."""
    check("dot", input, tensor, (1, 1))
    return (input * tensor).sum()


@implements("linear", anywhere=True)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias."""
    if kind_of(weight) and weight.ndim == 2 and input.ndim and not kind_of(input):
        flat = product("linear", input.reshape(-1, input.shape[-1]), t(weight))
        result = flat.reshape(*input.shape[:-1], weight.shape[0])
    else:
        result = matmul(input, weight.t() if not kind_of(weight) else t(weight))
    return result if bias is None else result + bias


@implements("bmm", anywhere=True)
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Products of matrices pairwise, of a sparse tensor (B, M, K) with a dense one (B, K, N)."""
    if kind_of(mat2):
        raise RuntimeError("bmm_sparse: Tensor 'mat2' must be dense")
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            f"bmm: expected sizes (B, M, K) and (B, K, N), got {list(input.shape)} and {list(mat2.shape)}"
        )
    if kind_of(input) != COO:
        refuse("bmm", (input,), {})
    batch, m, k = input.shape
    indices = parts_of(input).indices
    if indices.shape[0] != 3:
        raise RuntimeError("bmm: expected a tensor of 3 sparse dims")
    flat = ops.stack([indices[0] * m + indices[1], indices[0] * k + indices[2]])
    new = graph.values(input)
    block = graph.wrapped(coo(flat, new, (batch * m, batch * k), parts_of(input).coalesced), new, "BmmBackward0")
    return product("bmm", block, mat2.reshape(batch * k, -1)).reshape(batch, m, mat2.shape[2])


# -- with a sum ---------------------------------------------------------------------------------
def blended(input, result: Tensor, beta, alpha) -> Tensor:
    """beta * input + alpha * result; `beta` 0 drops the input, NaN and all."""
    result = result if type(alpha) is int and alpha == 1 else result * alpha
    if not isinstance(beta, Tensor) and beta == 0:
        return result
    base = input if type(beta) is int and beta == 1 else input * beta
    if kind_of(base) and kind_of(result):
        return added(base, result)
    return result + base if kind_of(base) else base + result


@implements("addmm", anywhere=True)
def add_product(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta=1, alpha=1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
    if not kind_of(mat1) and not kind_of(mat2):
        return blended(input.to_dense(), ops.mm(mat1, mat2), beta, alpha)
    result = product("addmm", mat1, mat2)
    if not kind_of(result):
        input = ops.broadcast_to(input.to_dense() if kind_of(input) else input, tuple(result.shape))
    elif not kind_of(input):
        result = result.to_dense()
    return blended(input, result, beta, alpha)


@implements("addmm_", anywhere=True)
def add_product_(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta=1, alpha=1) -> Tensor:
    """In-place form of `addmm`."""
    if kind_of(input):
        return in_place(add_product, (input, mat1, mat2), {"beta": beta, "alpha": alpha})
    return input.copy_(add_product(input, mat1, mat2, beta=beta, alpha=alpha))


@implements("addmv", anywhere=True)
def add_vector_product(input: Tensor, mat: Tensor, vec: Tensor, *, beta=1, alpha=1) -> Tensor:
    """beta * input + alpha * (mat @ vec)."""
    return blended(input, mv(mat, vec), beta, alpha)


# -- torch.sparse and its kin -------------------------------------------------------------------
def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """The product of two matrices of which one is sparse at least. Both may have gradients, a sparse one's is sparse.

    reduce  "sum", "mean", "amax" or "amin": what is made of the products that meet in one place, for mat1 sparse
    and mat2 dense

    >>> s = rushlight.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2))
    >>> rushlight.sparse.mm(s, rushlight.ones(2, 2))
    tensor([[2., 2.],
            [3., 3.]])
    """
    if not kind_of(mat1) and not kind_of(mat2):
        return ops.mm(mat1, mat2)
    if reduce is None or reduce == "sum":
        return product("sparse.mm", mat1, mat2)
    if reduce not in ("mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, mean, amax or amin, got {reduce}")
    check("sparse.mm", mat1, mat2)
    if not kind_of(mat1) or kind_of(mat2):
        raise RuntimeError(f"sparse.mm with reduce={reduce!r} expects a sparse and a dense matrix")
    rows, new = rows_of(mat1)
    terms = new.unsqueeze(1) * mat2.index_select(0, int64_of(rows.places))
    places = rows.numbers.unsqueeze(1).expand(tuple(terms.shape))
    zeros = ops.zeros((mat1.shape[0], mat2.shape[1]), dtype=new.dtype)
    return ops.scatter_reduce(zeros, 0, places, terms, reduce, include_self=False)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, beta=1.0, alpha=1.0) -> Tensor:
    """beta * mat + alpha * (mat1 @ mat2), of a dense `mat`, a sparse `mat1` and a dense `mat2`.

    >>> s = rushlight.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2))
    >>> rushlight.sparse.addmm(rushlight.ones(2, 2), s, rushlight.ones(2, 2))
    tensor([[3., 3.],
            [4., 4.]])
    """
    beta, alpha = (int(x) if x == 1 else x for x in (beta, alpha))
    return ops.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta=1.0, alpha=1.0, out=None) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2) at the places of the CSR matrix `input`: no others are computed.

    >>> s = rushlight.sparse_csr_tensor([0, 1, 2], [1, 0], [0.0, 0.0], (2, 2))
    >>> rushlight.sparse.sampled_addmm(s, rushlight.ones(2, 3), rushlight.ones(3, 2)).values()
    tensor([3., 3.])
    """
    if kind_of(input) != CSR:
        raise RuntimeError(
            f"sampled_addmm: Expected input to be a sparse matrix in CSR form, got layout {input.layout}"
        )
    check("sampled_addmm", mat1, mat2)
    if tuple(input.shape) != (mat1.shape[0], mat2.shape[1]) or input.dtype is not mat1.dtype:
        raise RuntimeError(
            f"sampled_addmm: input of size {list(input.shape)} and dtype {input.dtype.name} does not fit a product of "
            f"size {[mat1.shape[0], mat2.shape[1]]} and dtype {mat1.dtype.name}"
        )
    rows, new = rows_of(input)
    found = blended(new, sampled(rows, mat1, mat2.t()), beta, alpha)
    made = graph.rebuilt(input.detach(), found, "SparseSampledAddmmBackward0")
    if out is None:
        return made
    from .dispatch import store

    return store(out, made)


def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """See `torch.hspmm`."""
    check("hspmm", mat1, mat2)
    if kind_of(mat2) or not kind_of(mat1):
        raise RuntimeError("hspmm: expected a sparse 'mat1' and a dense 'mat2'")
    source = coalesce(as_coo(mat1))
    filled = ops.unique(parts_of(source).indices[0])
    new = product("hspmm", source, mat2).index_select(0, filled)
    shape = (mat1.shape[0], mat2.shape[1])
    return graph.wrapped(coo(filled.unsqueeze(0), new, shape, True), new, "HspmmBackward0")


def smm(input: Tensor, mat: Tensor) -> Tensor:
    """See `torch.smm`."""
    if kind_of(mat):
        return product("smm", input, mat)
    hybrid = hspmm(input, mat)
    rows, columns = parts_of(hybrid).indices[0], ops.arange(mat.shape[1])
    shape = (rows.shape[0], mat.shape[1])
    indices = ops.stack([x.expand(shape).reshape(-1) for x in (rows.unsqueeze(1), columns)])
    new = graph.values(hybrid).reshape(-1)
    return graph.wrapped(coo(indices, new, hybrid.shape, True), new, "SmmBackward0")


def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, beta=1, alpha=1) -> Tensor:
    """See `torch.sspaddmm`."""
    if not (kind_of(input) == COO and kind_of(mat1) == COO) or kind_of(mat2):
        raise RuntimeError("sspaddmm: expected 'input' and 'mat1' in coordinate form, and 'mat2' dense")
    result = smm(mat1, mat2)
    if input.shape != result.shape:
        raise RuntimeError(f"sspaddmm: expected 'input' of size {list(result.shape)}, got {list(input.shape)}")
    left, right = times(input, beta, "SspaddmmBackward0"), times(result, alpha, "SspaddmmBackward0")
    indices = ops.cat([parts_of(left).indices, parts_of(right).indices], 1)
    new = ops.cat([graph.values(left), graph.values(right)])
    return graph.wrapped(coo(indices, new, input.shape, False), new, "SspaddmmBackward0")
