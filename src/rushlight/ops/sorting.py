"""Order: sort, topk, the k-th value. NaN counts as larger than every number."""

from __future__ import annotations

from ..core import engine
from ..ir import build as B
from .declare import composite, op
from .named import extremes
from .reduction import check_not_empty
from .writing import targets


@op(public=False)
def sorted_with_places(input, dim: int = -1, descending: bool = False):
    """Values in order along `dim` and where they came from; equal ones keep their order."""
    check_order("Sort", input)
    return B.sort(input, dim, descending)


def check_order(name: str, x) -> None:
    if x.dtype.is_complex:
        raise RuntimeError(f"{name} does not support complex dtypes on CPU")


@composite(method=True)
def sort(input, dim=-1, descending=False, stable=False, *, out=None):
    """(values, indices): the elements in order along `dim`, and where they came from. Always stable.

    >>> rushlight.tensor([3, 1, 2]).sort().values
    tensor([1, 2, 3])
    """
    return extremes("sort", sorted_with_places(input, dim, bool(descending)), out)


@op(method=True, out=True)
def argsort(input, dim: int = -1, descending: bool = False, stable: bool = False):
    """Where the elements in order along `dim` come from."""
    check_order("Sort", input)
    return B.sort(input, dim, descending)[1]


@op(method=True, out=True)
def msort(input):
    """The elements in order along the first dim."""
    check_order("Sort", input)
    return B.sort(input, 0)[0] if input.ndim else input


@op(public=False)
def largest_with_places(input, k: int, dim: int = -1, largest: bool = True):
    check_order("topk", input)
    d = B.wrap_dim(dim, input.ndim)
    if k < 0 or k > (input.shape[d] if input.ndim else 1):
        raise RuntimeError("selected index k out of range")
    return B.topk(input, k, d, largest) if input.ndim else B.sort(input)


@composite(method=True)
def topk(input, k, dim=-1, largest=True, sorted=True, *, out=None):
    """(values, indices) of the k largest (or smallest) elements along `dim`, in order."""
    if input.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    return extremes("topk", largest_with_places(input, int(k), dim, bool(largest)), out)


@op(public=False)
def kth_with_place(input, k: int, dim: int = -1, keepdim: bool = False):
    check_order("kthvalue", input)
    d = B.wrap_dim(dim, input.ndim)
    check_not_empty("kthvalue", input, (d,))
    size = input.shape[d] if input.ndim else 1
    if k < 1 or k > size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {d}")
    if input.ndim == 0:
        return B.sort(input)
    found = B.topk(input, k, d, False)[1] if 4 * k < size else B.sort(input, d)[1]
    return at_place(input, B.narrow(found, d, k - 1, 1), d, keepdim)


def at_place(x, place, dim: int, keepdim: bool):
    """(values, indices) for one place along `dim`."""
    values = B.gather(x, dim, place)
    return (values, place) if keepdim else (B.squeeze(values, dim), B.squeeze(place, dim))


@composite(method=True)
def kthvalue(input, k, dim=-1, keepdim=False, *, out=None):
    """(values, indices) of the k-th smallest element along `dim`, counted from 1."""
    if out is not None and any(engine.is_alias(target, input) for target in targets("kthvalue", out, 2)):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
            "memory location. Please clone() the tensor before performing the operation."
        )
    return extremes("kthvalue", kth_with_place(input, int(k), dim, keepdim), out)
