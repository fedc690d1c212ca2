"""Functions that make arrays."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ops import FUNCTIONS as F

_empty_like, _full_like, _ones_like, _zeros_like = (
    F[n] for n in ("empty_like", "full_like", "ones_like", "zeros_like")
)
_from_dlpack, _arange, _asarray, _linspace = (F[n] for n in ("from_dlpack", "arange", "asarray", "linspace"))


def asarray(obj, /, *, dtype=None, device=None, copy: bool | None = None) -> Tensor:
    """An array of a number, a nested sequence, or an object with memory; `copy` False shares memory or raises."""
    if isinstance(obj, Tensor) and copy is not False:
        made = obj.to(device=device or obj.device, dtype=dtype or obj.dtype)
        return made.clone() if copy and made is obj else made
    return F["asarray"](obj, dtype=dtype, device=device, copy=copy)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None) -> Tensor:
    """Numbers from `start` to before `stop` (from 0 to before the only argument), `step` apart."""
    start, stop = (0, start) if stop is None else (start, stop)
    if (stop - start) * step <= 0:  # nothing to count, which PyTorch refuses
        return F["arange"](0, dtype=dtype or F["arange"](0 * start, 0 * stop, step).dtype, device=device)
    return F["arange"](start, stop, step, dtype=dtype, device=device)


def linspace(start, stop, /, num: int, *, dtype=None, device=None, endpoint: bool = True) -> Tensor:
    """`num` numbers at equal distances from `start` to `stop`, which `endpoint` includes."""
    if isinstance(start, complex) or isinstance(stop, complex):
        parts = [linspace(*ends, num, endpoint=endpoint, device=device) for ends in _parts(start, stop)]
        made = F["complex"](*parts)
        return made if dtype is None else made.to(dtype)
    if endpoint:
        return F["linspace"](start, stop, num, dtype=dtype, device=device)
    return F["linspace"](start, stop, num + 1, dtype=dtype, device=device)[:num]


def _parts(start, stop):
    start, stop = complex(start), complex(stop)
    return (start.real, stop.real), (start.imag, stop.imag)


def _shape(shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def empty(shape, *, dtype=None, device=None) -> Tensor:
    """Uninitialised memory."""
    return F["empty"](_shape(shape), dtype=dtype, device=device)


def zeros(shape, *, dtype=None, device=None) -> Tensor:
    """Zeros."""
    return F["zeros"](_shape(shape), dtype=dtype, device=device)


def ones(shape, *, dtype=None, device=None) -> Tensor:
    """Ones."""
    return F["ones"](_shape(shape), dtype=dtype, device=device)


def full(shape, fill_value, *, dtype=None, device=None) -> Tensor:
    """One number everywhere, whose type decides the data type unless one is given."""
    return F["full"](_shape(shape), fill_value, dtype=dtype, device=device)


def empty_like(x: Tensor, /, *, dtype=None, device=None) -> Tensor:
    """Uninitialised memory of the shape and data type of `x`."""
    return F["empty_like"](x, dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype=None, device=None) -> Tensor:
    """Zeros of the shape and data type of `x`."""
    return F["zeros_like"](x, dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype=None, device=None) -> Tensor:
    """Ones of the shape and data type of `x`."""
    return F["ones_like"](x, dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value, *, dtype=None, device=None) -> Tensor:
    """One number everywhere, of the shape and data type of `x`."""
    return F["full_like"](x, fill_value, dtype=dtype, device=device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype=None, device=None) -> Tensor:
    """Ones on the k-th diagonal, zeros elsewhere."""
    made = zeros((n_rows, n_rows if n_cols is None else n_cols), dtype=dtype, device=device)
    if -n_rows < k < made.shape[1]:
        made.diagonal(k).fill_(1)
    return made


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Matrices with zeros above the k-th diagonal."""
    return F["tril"](x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Matrices with zeros below the k-th diagonal."""
    return F["triu"](x, k)


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> list[Tensor]:
    """Coordinates of all points of a grid, given those along each axis; "xy" has the second array's axis first."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: expected indexing 'xy' or 'ij', got {indexing!r}")
    return list(F["meshgrid"](*arrays, indexing=indexing)) if arrays else []


def from_dlpack(x, /, *, device=None, copy: bool | None = None) -> Tensor:
    """An array over the memory of an object with `__dlpack__`."""
    return F["from_dlpack"](x, device=device, copy=copy)
