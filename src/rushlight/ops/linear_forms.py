"""Products that are linear in each operand, written by contraction."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ir.sizes import hint, product
from .checks import scalar_type
from .declare import FUNCTIONS, Number, composite, op
from .einsum import contracted
from .notices import warn_user
from .writing import store


# -- tensordot and its kin --------------------------------------------------------------------------
@op(out=True, public=False)
def dotted(a, b, dims_a: tuple, dims_b: tuple):
    """The sum of products over pairs of dims; the rest of a's dims, then of b's."""
    dims_a, dims_b = ([B.wrap_dim(d, x.ndim) for d in dims] for x, dims in ((a, dims_a), (b, dims_b)))
    for p, q in zip(dims_a, dims_b):
        m, n = a.shape[p], b.shape[q]
        if m != n and not (is_one(m) or is_one(n)):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {hint(m)} in dim {p} and second has size "
                f"{hint(n)} in dim {q}"
            )
    if a.dtype is not b.dtype:
        raise RuntimeError("tensordot : expects both tensors to have the same dtype")
    labels_a, labels_b = list(range(a.ndim)), list(range(a.ndim, a.ndim + b.ndim))
    for p, q in zip(dims_a, dims_b):
        labels_b[q] = labels_a[p]
    summed = {labels_a[p] for p in dims_a}
    output = [label for label in (*labels_a, *labels_b) if label not in summed]
    return B.cast(contracted([a, b], [labels_a, labels_b], output), a.dtype)


def is_one(size) -> bool:
    return type(size) is int and size == 1


@composite
def tensordot(a, b, dims=2, out=None):
    """The sum of products over the last `dims` dims of a and the first of b, or over two lists of dims.

    >>> rushlight.tensordot(rushlight.ones(2, 3), rushlight.ones(3, 2), 1)
    tensor([[3., 3.],
            [3., 3.]])
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    dims_a, dims_b = (tuple(d) if isinstance(d, (tuple, list)) else (d,) for d in dims)
    if len(dims_a) != len(dims_b):
        raise RuntimeError("both dimension lists should have same length")
    return dotted(a, b, dims_a, dims_b) if out is None else dotted(a, b, dims_a, dims_b, out=out)


@op(method=True, out=True)
def inner(input, other):
    """Inner products of the last dims; the plain product if either operand has no dims."""
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(map(hint, input.shape))} and {list(map(hint, other.shape))}"
        )
    return dotted(input, other, (-1,), (-1,))


@op(method=True, out=True)
def vdot(input, other):
    """The inner product of two vectors, the first conjugated."""
    for x in (input, other):
        if x.ndim != 1:
            raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {other.ndim}D tensors")
    if input.dtype is not other.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {scalar_type(input.dtype)} and "
            f"{scalar_type(other.dtype)}"
        )
    if input.shape[0] != other.shape[0]:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{hint(input.shape[0])}] and src [{hint(other.shape[0])}] to "
            "have the same number of elements"
        )
    return B.cast(B.sum(B.conj(input) * other), input.dtype)


@op(method=True, out=True)
def kron(input, other: Tensor):
    """The Kronecker product: each element of `input` times all of `other`, in blocks."""
    ndim = max(input.ndim, other.ndim)
    a = (1,) * (ndim - input.ndim) + tuple(input.shape)
    b = (1,) * (ndim - other.ndim) + tuple(other.shape)
    left = B.reshape(input, tuple(n for size in a for n in (size, 1)))
    right = B.reshape(other, tuple(n for size in b for n in (1, size)))
    return B.reshape(left * right, tuple(m * n for m, n in zip(a, b)))


@op(public=False)
def bilinear_form(input1, input2, weight, bias=None):
    """input1 weight input2 for each output, plus bias."""
    if tuple(input1.shape[:-1]) != tuple(input2.shape[:-1]):
        raise RuntimeError(
            "bilinear(): input batch dimensions do not match: got "
            f"{list(map(hint, input1.shape))} and {list(map(hint, input2.shape))}"
        )
    outputs, first, second = weight.shape
    for x, size, number in ((input1, first, 1), (input2, second, 2)):
        if x.shape[-1] != size:
            raise RuntimeError(
                f"bilinear(): input{number} size does not match weight size: got {hint(x.shape[-1])} "
                f"but expected {hint(size)}"
            )
    rows = product(input1.shape[:-1])
    x, y = B.reshape(input1, (rows, first)), B.reshape(input2, (rows, second))
    folded = B.reshape(B.permute(weight, (1, 0, 2)), (first, outputs * second))
    made = B.sum(B.reshape(B.dot(x, folded), (rows, outputs, second)) * B.unsqueeze(y, 1), (2,))
    made = B.reshape(B.cast(made, input1.dtype), (*input1.shape[:-1], outputs))
    return made if bias is None else made + bias


@composite
def bilinear(input1, input2, weight, bias=None):
    """x1 @ weight[k] @ x2 + bias[k] for every output k.

    input1: (..., in1); input2: (..., in2); weight: (out, in1, in2); bias: (out,) or none; result (..., out).
    """
    return bilinear_form(input1, input2, weight, bias)


# -- cross product ----------------------------------------------------------------------------------
@op(public=False, out=True)
def crossed(input, other, dim: int):
    """The cross product along a dim of size 3."""
    shape = B.broadcast_shapes(input.shape, other.shape)
    dim = B.wrap_dim(dim, len(shape))
    dtype = B.add(input, other).dtype
    a, b = (B.broadcast_to(B.cast(x, dtype), shape) for x in (input, other))
    (a0, a1, a2), (b0, b1, b2) = ([B.narrow(x, dim, i, 1) for i in range(3)] for x in (a, b))
    return B.concat([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], dim)


@composite(method=True)
def cross(input, other, dim=None, *, out=None):
    """The cross product of vectors of 3 along `dim`, which is the first dim of size 3 unless given."""
    if input.ndim != other.ndim:
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions, got {input.ndim} and {other.ndim}"
        )
    if dim is None:
        dim = next((d for d, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
        warn_user(
            "Using cross without specifying the dim arg is deprecated. Please either pass the dim explicitly or simply "
            "use linalg.cross. The default value of dim will change to agree with that of linalg.cross in a future "
            "release."
        )
    d = B.wrap_dim(dim, input.ndim)
    if input.shape[d] != 3 or other.shape[d] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {int(input.shape[d])} "
            f"and {int(other.shape[d])}"
        )
    return crossed(input, other, dim) if out is None else crossed(input, other, dim, out=out)


# -- powers and norms of slices ---------------------------------------------------------------------
@composite(method=True)
def matrix_power(input, n, *, out=None):
    """The n-th power of square matrices by repeated squaring; of the inverse if n is negative.

    >>> rushlight.matrix_power(rushlight.tensor([[1, 1], [0, 1]]), 5)
    tensor([[1, 5],
            [0, 1]])
    """
    check_square("linalg.matrix_power", input)
    if isinstance(n, float) or not hasattr(n, "__index__"):
        raise TypeError(f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    n = int(n)
    made = power_of_matrix(inverse_of(input) if n < 0 else input, abs(n))
    return made if out is None else store(out, made, "linalg.matrix_power")


def check_square(name: str, x) -> None:
    """RuntimeError unless x is a square matrix or a batch of them."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {hint(rows)} by {hint(columns)} matrices"
        )


def inverse_of(matrix):
    from .deferred import load  # which is declared after this

    return load("inverse")(matrix)


def power_of_matrix(base, n: int):
    if n == 0:
        # a result of `base`, with a gradient of zeros
        return base.clone().copy_(FUNCTIONS["eye"](base.shape[-1], dtype=base.dtype))
    result = None
    while n:
        if n & 1:
            result = base if result is None else result @ base
        n >>= 1
        base = base @ base if n else base
    return result if result is not base else base.clone()


@op(method=True, inplace=True, out=True)
def renorm(input, p: Exponent, dim: int, maxnorm: Number):
    """Slices along `dim` scaled down to a p-norm of `maxnorm` where theirs is larger."""
    if input.dtype.kind not in "fc":
        raise RuntimeError(
            f"renorm: Expected a floating point or complex tensor as input. Got {scalar_type(input.dtype)}"
        )
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    d = B.wrap_dim(dim, input.ndim)
    dims = tuple(other for other in range(input.ndim) if other != d)
    size = B.abs(input)
    if p == float("inf"):
        norm = B.max(size, dims, True)
    else:
        norm = B.raised(B.sum(B.raised(size, float(p)), dims, True), 1 / p)
    return input * B.cast(B.where(B.gt(norm, maxnorm), maxnorm / (norm + 1e-7), 1.0), input.dtype.to_real())


@composite(method=True)
def dist(input, other, p=2):
    """The p-norm of input - other over all elements."""
    return (input - other).norm(p)
