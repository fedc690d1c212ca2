"""Comparison, logic, bits, and the choice that depends on them."""

from __future__ import annotations

from ..core.engine import Layout
from ..ir import build as B
from ..ir import dtypes
from .arithmetic import check_tensor
from .checks import scalar_type
from .declare import Number, Tensor, composite, op
from .notices import warn_user


def _comparison(name: str, summary: str, alias=()):
    function = getattr(B, name)

    def body(input, other: Number):
        return function(input, other)

    return _binary(body, name, summary, alias)


def _logical(name: str, summary: str):
    function = getattr(B, name)

    def body(input, other: Tensor):
        return function(input, other)

    return _binary(body, name, summary)


def _bitwise(name: str, summary: str, function):
    def body(input: Number, other: Number):
        check_tensor(name, input, other)
        return function(input, other)

    return _binary(body, name, summary)


def _binary(body, name: str, summary: str, alias=()):
    body.__name__, body.__doc__ = name, f"{summary}, with broadcasting."
    return op(body, method=True, inplace=True, out=True, alias=alias)


eq = _comparison("eq", "Where input == other")
ne = _comparison("ne", "Where input != other", ("not_equal",))
lt = _comparison("lt", "Where input < other", ("less",))
le = _comparison("le", "Where input <= other", ("less_equal",))
gt = _comparison("gt", "Where input > other", ("greater",))
ge = _comparison("ge", "Where input >= other", ("greater_equal",))

logical_and = _logical("logical_and", "Where both are not zero")
logical_or = _logical("logical_or", "Where one is not zero")
logical_xor = _logical("logical_xor", "Where exactly one is not zero")

bitwise_and = _bitwise("bitwise_and", "The bits set in both", B.bit_and)
bitwise_or = _bitwise("bitwise_or", "The bits set in one", B.bit_or)
bitwise_xor = _bitwise("bitwise_xor", "The bits set in exactly one", B.bit_xor)
bitwise_left_shift = _bitwise("bitwise_left_shift", "input * 2 ** other, by shifting bits", B.shift_left)
bitwise_right_shift = _bitwise("bitwise_right_shift", "input / 2 ** other, by shifting bits", B.shift_right)


@op(method=True, inplace=True, out=True)
def logical_not(input):
    """Where the input is zero."""
    return B.logical_not(input)


@op(method=True, inplace=True, out=True)
def bitwise_not(input):
    """All bits flipped; of bools, not."""
    return B.bit_not(input)


@op(out=True)
def where(condition: Tensor, input: Number, other: Number):
    """`input` where the condition holds, `other` elsewhere; the condition is bool (or uint8).

    >>> rushlight.where(rushlight.tensor([True, False]), 1.0, 0.0)
    tensor([1., 0.])
    """
    if condition.dtype not in (dtypes.bool_, dtypes.uint8):
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{scalar_type(condition.dtype)}"
        )
    chosen = B.where(condition, input, other)
    # two plain numbers give tensors of the default types
    return B.cast(chosen, default_of(chosen.dtype)) if is_plain(input) and is_plain(other) else chosen


def warn_of_bytes(key: tuple) -> None:
    """Warn of a condition that is no mask."""
    if isinstance(key[0], Layout) and key[0].dtype is dtypes.uint8:
        warn_user(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
            "version of PyTorch. Use a boolean condition instead."
        )


where.declaration.notice = warn_of_bytes


def is_plain(x) -> bool:
    return not hasattr(x, "weak") or x.weak


def default_of(dtype):
    return {"f": dtypes.default, "c": dtypes.default_complex()}.get(dtype.kind, dtype)


@composite(method="where", public=False)
def where_method(input, condition, other):
    """This tensor where the condition holds, `other` elsewhere."""
    return where(condition, input, other)
