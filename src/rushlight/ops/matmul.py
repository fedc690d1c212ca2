"""Products of matrices and vectors."""

from __future__ import annotations

from itertools import pairwise

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import hint, product
from .arithmetic import check_alpha
from .checks import check_kinds, scalar_type
from .declare import Number, Tensor, composite, op
from .notices import warn_deprecated
from .writing import store


def check_inner(name: str, a, b, left, right) -> None:
    if left != right:
        raise RuntimeError(
            f"{name}: mat1 and mat2 shapes cannot be multiplied ({sizes(a)} and {sizes(b)}): "
            f"inner sizes {hint(left)} and {hint(right)} differ"
        )


def check_same_dtype(name: str, *operands) -> None:
    first = operands[0].dtype
    for other in operands[1:]:
        if other.dtype is not first:
            raise RuntimeError(
                f"{name}: expected m1 and m2 to have the same dtype, but got: {first.name} != {other.dtype.name}"
            )


def sizes(x) -> str:
    return "x".join(str(hint(n)) for n in x.shape)


def check_ndim(name: str, x, ndim: int, what: str) -> None:
    if x.ndim != ndim:
        raise RuntimeError(
            f"{name}: {what} must be a {ndim}-D tensor, got {x.ndim}-D of shape {list(map(hint, x.shape))}"
        )


@op(method=True, out=True, exact=True)
def matmul(input, other: Tensor):
    """The matrix product; vectors are rows or columns as needed, leading dims are batches and broadcast.

    input: (..., M, K), (M, K) or (K,); other: (..., K, N), (K, N) or (K,); equal dtypes.
    """
    check_same_dtype("matmul", input, other)
    if input.ndim == 0 or other.ndim == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {input.ndim}D and {other.ndim}D"
        )
    a = B.unsqueeze(input, 0) if input.ndim == 1 else input
    b = B.unsqueeze(other, 1) if other.ndim == 1 else other
    check_inner("matmul", input, other, a.shape[-1], b.shape[-2])
    result = batched(a, b)
    if other.ndim == 1:
        result = B.squeeze(result, -1)
    return B.squeeze(result, -1 if other.ndim == 1 else -2) if input.ndim == 1 else result


def batched(a, b):
    """(..., M, K) x (..., K, N); a batch against one matrix is one tall product."""
    if b.ndim == 2 and a.ndim > 2:
        rows = product(a.shape[:-1])
        flat = B.dot(B.reshape(a, (rows, a.shape[-1])), b)
        return B.reshape(flat, (*a.shape[:-1], b.shape[-1]))
    return B.matmul(a, b)


@op(method=True, out=True, exact=True)
def mm(input, mat2: Tensor):
    """The product of two matrices, (M, K) and (K, N)."""
    check_ndim("mm", input, 2, "self")
    check_ndim("mm", mat2, 2, "mat2")
    check_same_dtype("mm", input, mat2)
    check_inner("mm", input, mat2, input.shape[1], mat2.shape[0])
    return B.dot(input, mat2)


@op(method=True, out=True, exact=True)
def bmm(input, mat2: Tensor):
    """Products of matrices pairwise: (B, M, K) and (B, K, N)."""
    check_ndim("bmm", input, 3, "batch1")
    check_ndim("bmm", mat2, 3, "batch2")
    check_same_dtype("bmm", input, mat2)
    if input.shape[0] != mat2.shape[0]:
        raise RuntimeError(
            f"bmm: batch1 has {hint(input.shape[0])} matrices and batch2 has {hint(mat2.shape[0])}; they must be as "
            f"many"
        )
    check_inner("bmm", input, mat2, input.shape[2], mat2.shape[1])
    return B.dot(input, mat2)


@op(method=True, out=True, exact=True)
def mv(input, vec: Tensor):
    """A matrix times a vector, (M, K) and (K,)."""
    check_ndim("mv", input, 2, "input")
    check_ndim("mv", vec, 1, "vec")
    check_same_dtype("mv", input, vec)
    check_inner("mv", input, vec, input.shape[1], vec.shape[0])
    return B.squeeze(B.dot(input, B.unsqueeze(vec, 1)), -1)


@op(method=True, out=True, exact=True)
def dot(input, tensor: Tensor):
    """The inner product of two vectors (no conjugation), a 0-dim tensor."""
    check_kinds("dot", input.dtype, "uifc")
    check_ndim("dot", input, 1, "input")
    check_ndim("dot", tensor, 1, "tensor")
    if input.dtype is not tensor.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {scalar_type(input.dtype)} and "
            f"{scalar_type(tensor.dtype)}"
        )
    if input.shape[0] != tensor.shape[0]:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{hint(input.shape[0])}] and src [{hint(tensor.shape[0])}] "
            f"to have the same "
            "number of elements"
        )
    return B.sum(input * tensor, dtype=input.dtype)


def blended(base, result, beta, alpha):
    """beta * base + alpha * result; beta = 0 drops the base, NaN and all. Factors of integers are integers, too."""
    if base.ndim > result.ndim:
        raise RuntimeError(
            f"expand: the number of sizes provided ({result.ndim}) must be greater or equal to the number of "
            f"dimensions in the "
            f"tensor ({base.ndim})"
        )
    beta, alpha = (factor_of(x, result.dtype) for x in (beta, alpha))
    if not (type(alpha) is int and alpha == 1):
        result = result * alpha
    if type(beta) is int and beta == 1:
        return base + result
    if type(beta) in (int, float) and beta == 0:
        return result
    return B.where(B.eq(beta, 0), result, base * beta + result)


def factor_of(x, dtype):
    """A number as a factor of numbers of the given dtype."""
    return x if dtype.kind in "fc" or B.common_dtype(x).kind in "bui" else B.cast(x, dtypes.int64)


@op(method=True, inplace=True, out=True, exact=True)
def addmm(input, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1):
    """beta * input + alpha * (mat1 @ mat2)."""
    check_ndim("addmm", mat1, 2, "mat1")
    check_ndim("addmm", mat2, 2, "mat2")
    check_same_dtype("addmm", mat1, mat2)
    check_inner("addmm", mat1, mat2, mat1.shape[1], mat2.shape[0])
    return blended(input, B.dot(mat1, mat2), beta, alpha)


@op(method=True, inplace=True, out=True, exact=True)
def addmv(input, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1):
    """beta * input + alpha * (mat @ vec)."""
    check_ndim("addmv", mat, 2, "mat")
    check_ndim("addmv", vec, 1, "vec")
    check_inner("addmv", mat, vec, mat.shape[1], vec.shape[0])
    return blended(input, B.squeeze(B.dot(mat, B.unsqueeze(vec, 1)), -1), beta, alpha)


@op(method=True, inplace=True, out=True, exact=True)
def baddbmm(input, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1):
    """beta * input + alpha * (batch1 @ batch2), per matrix of the batches."""
    check_ndim("baddbmm", batch1, 3, "batch1")
    check_ndim("baddbmm", batch2, 3, "batch2")
    check_inner("baddbmm", batch1, batch2, batch1.shape[2], batch2.shape[1])
    return blended(input, B.dot(batch1, batch2), beta, alpha)


@op(method=True, inplace=True, out=True, exact=True)
def addbmm(input, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1):
    """beta * input + alpha * the sum of batch1 @ batch2 over the batch."""
    check_ndim("addbmm", batch1, 3, "batch1")
    check_ndim("addbmm", batch2, 3, "batch2")
    check_inner("addbmm", batch1, batch2, batch1.shape[2], batch2.shape[1])
    product = B.dot(batch1, batch2)
    return blended(input, B.sum(product, 0, dtype=product.dtype), beta, alpha)


@op(method=True, inplace=True, out=True)
def addr(input, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1):
    """beta * input + alpha * the outer product of two vectors."""
    check_ndim("addr", vec1, 1, "vec1")
    check_ndim("addr", vec2, 1, "vec2")
    check_alpha(alpha, input, vec1, vec2)
    check_alpha(beta, input, vec1, vec2)
    product = B.unsqueeze(vec1, 1) * B.unsqueeze(vec2, 0)
    dtype = B.common_dtype(input, product)
    return B.cast(blended(input, product, beta, alpha), dtype)


@op(method=True, out=True, alias=("ger",))
def outer(input, vec2: Tensor):
    """The outer product of two vectors."""
    check_ndim("outer", input, 1, "self")
    check_ndim("outer", vec2, 1, "vec2")
    return B.unsqueeze(input, 1) * B.unsqueeze(vec2, 0)


@op
def linear(input, weight: Tensor, bias=None):
    """input @ weight.T + bias.

    input: (..., in_features); weight: (out_features, in_features) or (in_features,); bias: (out_features,) or none.
    """
    check_same_dtype("linear", input, weight)
    rows = B.unsqueeze(weight, 0) if weight.ndim == 1 else weight
    check_ndim("linear", rows, 2, "weight")
    result = batched_rows(input, rows, bias)
    return B.squeeze(result, -1) if weight.ndim == 1 else result


def batched_rows(input, weight, bias):
    """Rows of `input` times the transpose of `weight`, plus the bias, as one product."""
    if input.ndim == 0:
        raise RuntimeError("linear: input must have at least one dimension")
    check_inner("linear", input, B.transpose(weight, 0, 1), input.shape[-1], weight.shape[1])
    rows = B.reshape(input, (product(input.shape[:-1]), input.shape[-1]))
    result = B.dot(rows, B.transpose(weight, 0, 1))
    if bias is not None:
        result = result + bias
    return B.reshape(result, (*input.shape[:-1], weight.shape[0]))


@linear.vjp
def _(cotangents, outputs, input, weight, bias=None):
    (g,) = cotangents
    if weight.ndim == 1:
        g, weight_rows = B.unsqueeze(g, -1), B.unsqueeze(weight, 0)
    else:
        weight_rows = weight
    rows = product(input.shape[:-1])
    g2 = B.reshape(g, (rows, weight_rows.shape[0]))
    x2 = B.reshape(input, (rows, input.shape[-1]))
    input_cotangent = B.reshape(B.dot(g2, B.conj(weight_rows)), input.shape)
    weight_cotangent = B.reshape(B.dot(B.transpose(g2, 0, 1), B.conj(x2)), weight.shape)
    return (
        input_cotangent,
        weight_cotangent,
        None if bias is None else B.sum_to(B.reshape(g2, cotangents[0].shape), bias.shape),
    )


# -- chains -----------------------------------------------------------------------------------------
@composite
def chain_matmul(*matrices, out=None):
    """The product of several matrices, in the order that costs least. `linalg.multi_dot` takes vectors, too."""
    warn_deprecated("chain_matmul", "linalg.multi_dot")
    matrices = list(matrices[0]) if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else list(matrices)
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for matrix in matrices:
        if matrix.ndim != 2:
            raise RuntimeError(f"chain_matmul(): Tensor dimension is {matrix.ndim}, expected 2 instead.")
    made = product_of_chain(matrices)
    return made if out is None else store(out, made, "chain_matmul")


def product_of_chain(matrices: list):
    """The product of matrices whose sizes fit, by the order that needs the fewest multiplications."""
    dims = [matrices[0].shape[0], *(m.shape[1] for m in matrices)]
    for i, (a, b) in enumerate(pairwise(matrices)):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a.shape)} and {list(b.shape)} cannot be "
                "multiplied"
            )
    return multiplied(matrices, best_splits(dims), 0, len(matrices) - 1)


def best_splits(dims: list) -> dict:
    """Where to split each span of a chain, matrix i being dims[i] x dims[i + 1]: by dynamic programming."""
    n = len(dims) - 1
    cost, split = {(i, i): 0 for i in range(n)}, {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            choices = [(cost[i, k] + cost[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1], k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(choices)
    return split


def multiplied(matrices, split, i: int, j: int):
    if i == j:
        return matrices[i]
    k = split[i, j]
    return mm(multiplied(matrices, split, i, k), multiplied(matrices, split, k + 1, j))
