"""Views and rearrangements: the same elements under another shape."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ir import build as B
from ..ir.sizes import hint, product
from .creation import zeros
from .declare import FUNCTIONS, add_method, composite, op
from .lazy import CONJ, NEG, bits_of
from .notices import warn_user


def complete_shape(x, shape: tuple, name: str) -> tuple:
    """`shape` with its -1 replaced by what the number of elements leaves."""
    shape = tuple(shape)
    unknown = [d for d, n in enumerate(shape) if type(n) is int and n == -1]
    if len(unknown) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if any(n < -1 for n in shape if type(n) is int):
        raise RuntimeError(f"invalid shape dimension {min(shape)}")
    total = product(x.shape)
    if unknown:
        rest = product(n for n in shape if not (type(n) is int and n == -1))
        if rest == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension "
                "size -1 can be any value and is ambiguous"
            )
        if total % rest != 0:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {int(total)}")
        shape = (*shape[: unknown[0]], total // rest, *shape[unknown[0] + 1 :])
    elif product(shape) != total:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {int(total)}")
    return shape


@op(view="strict", public=False)
def viewed(input, shape: tuple):
    """The same memory under another shape."""
    return B.reshape(input, complete_shape(input, shape, "view"))


@op(view=True, method=True)
def reshape(input, shape: tuple):
    """The elements in row-major order under another shape; a view if strides allow, else a copy.

    >>> rushlight.arange(6).reshape(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    return B.reshape(input, complete_shape(input, shape, "reshape"))


@composite(method=True, public=False)
def view(input, *shape, dtype=None, size=None):
    """The same memory under another shape (or dtype); RuntimeError if strides don't allow it."""
    if size is not None:
        shape = (size,)
    if len(shape) == 1:
        if isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        elif not isinstance(shape[0], int):
            dtype = shape[0]
    return viewed(input, shape) if dtype is None else view_dtype(input, dtype)


def view_dtype(input, dtype):
    """The same bytes read as another dtype; the last dim shrinks or grows with the element size."""
    if bits_of(input):
        kind = "conjugate view tensors" if bits_of(input) & CONJ else "tensors with negative bit set"
        raise RuntimeError(f"torch.Tensor.view is not supported for {kind} when converting to a different dtype.")
    from ..core.engine import make_tensor

    if input._layout.batch:
        from .batched_views import physically

        return physically(view_dtype, input, dtype)
    old, new = input.element_size(), dtype.itemsize
    shape, strides, offset = list(input.shape), list(input.stride()), input.storage_offset()
    if old == new:
        return make_tensor(input._storage, offset, shape, strides, dtype)
    if not shape or strides[-1] != 1:
        raise RuntimeError("self.stride(-1) must be 1 to view as a dtype of another element size")
    if old > new:
        ratio = old // new
        return make_tensor(
            input._storage,
            offset * ratio,
            [*shape[:-1], shape[-1] * ratio],
            [*(s * ratio for s in strides[:-1]), 1],
            dtype,
        )
    ratio = new // old
    if shape[-1] % ratio or offset % ratio or any(s % ratio for s in strides[:-1]):
        raise RuntimeError(f"sizes, strides and offset must be divisible by {ratio} to view {input.dtype} as {dtype}")
    return make_tensor(
        input._storage,
        offset // ratio,
        [*shape[:-1], shape[-1] // ratio],
        [*(s // ratio for s in strides[:-1]), 1],
        dtype,
    )


@composite(method=True, public=False)
def view_as(input, other):
    """`view` with the shape of `other`."""
    return viewed(input, tuple(other.shape))


@op(view=True, method=True)
def permute(input, dims: tuple):
    """Dim d of the result is dim dims[d] of the input."""
    return B.permute(input, dims)


@op(view=True, method=True, alias=("swapaxes", "swapdims"))
def transpose(input, dim0: int, dim1: int):
    """The tensor with two dims exchanged."""
    return B.transpose(input, dim0, dim1)


@op(view=True, method=True)
def t(input):
    """The transpose of a matrix; vectors stay as they are."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return B.permute(input, tuple(reversed(range(input.ndim))))


@op(view=True, method=True, public=False)
def expand(input, size: tuple, *, implicit: bool = False):
    """Dims of size 1 repeated to `size` without copying; -1 keeps a size."""
    new = len(size) - input.ndim
    if new < 0:
        raise RuntimeError(
            f"expand({input}, size={list(size)}): the number of sizes provided ({len(size)}) must be greater or "
            f"equal to the number of dimensions in the tensor ({input.ndim})"
        )
    return B.expand(input, tuple(expanded_size(input, n, d - new, size) for d, n in enumerate(size)))


def expanded_size(input, n, dim: int, size):
    if type(n) is int and n == -1:
        if dim < 0:
            raise RuntimeError(f"expand: -1 is not allowed in a leading, non-existing dimension of {list(size)}")
        return input.shape[dim]
    if dim >= 0 and input.shape[dim] != 1 and input.shape[dim] != n:
        raise RuntimeError(
            f"The expanded size of the tensor ({n}) must match the existing size ({int(input.shape[dim])}) at "
            f"non-singleton dimension {dim}. Target sizes: {list(size)}. Tensor sizes: {[int(m) for m in input.shape]}"
        )
    return n


@op(view=True, method=True)
def unsqueeze(input, dim: int):
    """A new dim of size 1 at `dim`."""
    return B.unsqueeze(input, dim)


@op(view=True, method=True)
def squeeze(input, dim: int | tuple | None = None):
    """Without the dims of size 1, all or those named."""
    return B.squeeze(input, dim)


@op(view=True, keeps=True, method=True)
def flatten(input, start_dim: int = 0, end_dim: int = -1):
    """Dims start_dim..end_dim as one."""
    return B.flatten(input, start_dim, end_dim)


@composite(method=True)
def select(input, dim, index):
    """The slice at `index` of `dim`, without that dim."""
    if input.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    return input[(slice(None),) * B.wrap_dim(dim, input.ndim) + (int(index),)]


@composite(method=True)
def narrow(input, dim, start, length):
    """`length` elements of `dim` from `start`."""
    if input.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start.ndim or start.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    d, start = B.wrap_dim(dim, input.ndim), int(start)
    size = input.shape[d]
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-int(size)}, {int(size)}], but got {start})"
        )
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return input[(slice(None),) * d + (slice(start, start + length),)]


@composite(method=True)
def unbind(input, dim=0):
    """The slices along `dim`, as a tuple of views."""
    d = B.wrap_dim(dim, input.ndim)
    if input.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if isinstance(input, Tensor):
        return engine.unbind(input, d)
    lead = (slice(None),) * d
    return tuple(input[(*lead, i)] for i in range(input.shape[d]))


@composite(method=True)
def as_strided(input, size, stride, storage_offset=None):
    """A view with any shape, strides and offset (in elements) that stay within the storage."""
    return engine.strided_view(
        input, size, stride, input.storage_offset() if storage_offset is None else storage_offset
    )


@composite(method=True)
def as_strided_(input, size, stride, storage_offset=None):
    """`as_strided` in place: the tensor itself gets another shape over the same memory."""
    return engine.become_view(input, as_strided(input, size, stride, storage_offset))


@op(public=False)
def sum_to_size_(input, shape: tuple):
    new = input.ndim - len(shape)
    if new < 0 or any(n != 1 and n != m for n, m in zip(shape, input.shape[new:])):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(map(hint, input.shape))}}}.")
    return B.sum_to(input, shape) if shape else B.sum(input)


def sum_to_size(input, *shape, size=None):
    """The sum over the dims that broadcasting to the tensor's shape would repeat."""
    shape = shape if size is None else (size,)
    shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return input if input.shape == shape else sum_to_size_(input, shape)


add_method("sum_to_size", sum_to_size)


# -- geometry for the autograd engine ---------------------------------------------------------------
def extent(base, base_start, view, start) -> tuple[int, int]:
    """The first element of memory, counted as the base counts, that a base or a view of it reaches; and how many."""
    low, high = start + view.low, start + view.high
    pairs = view.is_complex and not base.is_complex
    if base.dtype is not view.dtype:
        low, high = (2 * low, 2 * high + 1) if pairs else (low // 2, high // 2)
    first, last = min(base_start, low), max(base_start + base.high, high)
    if pairs:  # complex numbers lie in pairs of an even place
        first -= first % 2
        last += (last - first + 1) % 2
    return first, last - first + 1


def strided_part(flat, first, view, start):
    """What a view shows in `flat`, a stretch of memory from element `first` on."""
    if view.dtype is not flat.dtype:
        flat, first = reread(flat, first, view.dtype)
    return engine.strided_view(flat, view.shape, view.strides, start - first, view.bits)


def reread(flat, first: int, dtype):
    """Complex numbers as their parts, or real numbers as complex ones in pairs; and which is the first."""
    if flat.is_complex():
        return FUNCTIONS["view_as_real"](flat).reshape(-1), 2 * first
    return FUNCTIONS["view_as_complex"](flat.reshape(-1, 2)), first // 2


def strided_scatter(cotangent, base, base_start, view, start):
    """Zeros of a base's shape with `cotangent` added where a view lies; what it shows outside of the base is lost."""
    if cotangent._layout.batch or base.batch or view.batch:
        from .batched_views import scattered

        return scattered(cotangent, base, base_start, view, start)
    first, count = extent(base, base_start, view, start) if view.numel else (base_start, base.high + 1)
    flat = zeros(count, dtype=base.dtype)
    if view.overlapping:
        add_where_seen(flat, first, view, start, cotangent)
    elif view.numel:
        strided_part(flat, first, view, start).copy_(cotangent)
    if base.overlapping:
        flat = flat / times_shown(flat.numel(), base.dtype, base.shape, base.strides, base_start - first)
    return engine.strided_view(flat, base.shape, base.strides, base_start - first, base.bits)


def times_shown(count, dtype, shape, strides, start):
    """How many elements of a base share each place of memory, at least 1: they share its cotangent, too."""
    from .indexing import add_at

    counts, places = zeros(count, dtype=dtype), FUNCTIONS["arange"](count)
    add_at(counts, engine.strided_view(places, shape, strides, start), FUNCTIONS["ones"](shape, dtype=dtype))
    return FUNCTIONS["where"](counts == 0, 1, counts)


def add_where_seen(flat, first, view, start, cotangent) -> None:
    """Add a cotangent to memory that a view shows more than once."""
    from .indexing import add_at

    if view.dtype is not flat.dtype:
        flat, first = reread(flat, first, view.dtype)
    cotangent = cotangent.conj() if view.bits & CONJ else cotangent
    cotangent = -cotangent if view.bits & NEG else cotangent
    places = FUNCTIONS["arange"](flat.numel())
    add_at(flat, engine.strided_view(places, view.shape, view.strides, start - first), cotangent)


def copied_to_layout(cotangent, base, base_start, view, start):
    """A fresh copy of a cotangent with the strides of `base`, in memory that reaches as far as the view."""
    if cotangent._layout.batch or base.batch:
        from .batched_views import memory_like

        return engine.empty_tensor(memory_like(base, cotangent._layout)).copy_(cotangent)
    first, count = extent(base, base_start, view, start)
    if first == base_start and count == base.high + 1:
        return engine.empty_tensor(base).copy_(cotangent)
    flat = zeros(count, dtype=base.dtype)
    return engine.strided_view(flat, base.shape, base.strides, base_start - first, base.bits).copy_(cotangent)


def part_of_copy(whole, base_start, view, start):
    """What a view of the base shows in a copy that `copied_to_layout` made."""
    if whole._layout.batch or view.batch:
        from .batched_views import part_of

        return part_of(whole, base_start - whole.storage_offset(), view, start)
    count = whole._storage.nbytes // whole.itemsize
    flat = engine.strided_view(whole, (count,), (1,), 0, 0)
    return strided_part(flat, base_start - whole.storage_offset(), view, start)


engine.bind("unbind", unbind)


def _transposed(input):
    """The tensor with its dims reversed."""
    if input.ndim not in (0, 2):
        warn_user(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )
    return permute(input, tuple(reversed(range(input.ndim))))


engine.attach_method("T", property(_transposed))
