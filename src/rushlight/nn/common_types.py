"""Names for annotations of layers: one number for all dims, or one for each."""

from __future__ import annotations

from typing import TypeVar

from ..core import Tensor

T = TypeVar("T")


def _or_each(kind, count: int | None):
    return kind | (tuple[kind, ...] if count is None else tuple[(kind,) * count])


_scalar_or_tuple_any_t = T | tuple[T, ...]
_size_any_t = _or_each(int, None)
_size_1_t, _size_2_t, _size_3_t = _or_each(int, 1), _or_each(int, 2), _or_each(int, 3)
_size_4_t, _size_5_t, _size_6_t = _or_each(int, 4), _or_each(int, 5), _or_each(int, 6)
_size_any_opt_t, _size_2_opt_t, _size_3_opt_t = (_or_each(int | None, n) for n in (None, 2, 3))
_ratio_any_t, _ratio_2_t, _ratio_3_t = (_or_each(float, n) for n in (None, 2, 3))
_tensor_list_t = Tensor | list[Tensor]
_maybe_indices_t = Tensor | tuple[Tensor, Tensor]


def assert_int_or_pair(arg, arg_name: str, message: str) -> None:
    """AssertionError with `message`, into which `arg_name` is put, unless `arg` is an int or has two elements."""
    if not (isinstance(arg, int) or len(arg) == 2):
        raise AssertionError(message.format(arg_name))
