"""Hashes of tensors' elements."""

from __future__ import annotations

from ..ir import build as B
from ..ir import dtypes
from .checks import check_kinds
from .copying import converted
from .declare import composite
from .shape import view_dtype


@composite(method=True)
def hash_tensor(input, dim=(), *, keepdim=False, mode=0, out=None):
    """The exclusive or of all elements' bits, or of those along `dim`, as uint64.

    Elements count as 64-bit numbers of their kind; `mode` 0 is the only one.

    >>> rushlight.hash_tensor(rushlight.tensor([1, 2, 4]))
    tensor(7, dtype=rushlight.uint64)
    """
    if mode != 0:
        raise RuntimeError(f"hash_tensor: expected mode 0 (exclusive or), got {mode}")
    check_kinds("xor_sum_cpu", input.dtype, "buif")
    dims = list(range(input.ndim)) if dim in ((), None, []) else list(B.wrap_dims(dim, input.ndim))
    rest = [d for d in range(input.ndim) if d not in dims]
    shape = tuple(input.shape[d] for d in rest)
    bits = view_dtype(as_wide(input.detach()).contiguous(), dtypes.int64)
    found = folded(bits.permute((*rest, *dims)).reshape((*shape, -1) if bits.numel() else (*shape, 0)))
    if keepdim:
        found = found.reshape(tuple(1 if d in dims else n for d, n in enumerate(input.shape)))
    found = view_dtype(found, dtypes.uint64)
    if out is None:
        return found
    from .writing import store

    return store(out, found, "hash_tensor")


def as_wide(x):
    """64-bit numbers of the same kind."""
    return converted(x, dtypes.float64 if x.dtype.kind == "f" else x.dtype if x.dtype.itemsize == 8 else dtypes.int64)


def folded(bits):
    """int64 [*, n] to [*]: the exclusive or along the last dim, one half onto the other until one is left."""
    if bits.shape[-1] == 0:
        return bits.new_zeros(tuple(bits.shape[:-1]))
    while bits.shape[-1] > 1:
        half = bits.shape[-1] // 2
        joined = bits[..., :half] ^ bits[..., half : 2 * half]
        if bits.shape[-1] % 2:
            joined[..., 0] ^= bits[..., -1]
        bits = joined
    return bits[..., 0].clone()
