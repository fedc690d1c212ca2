"""Results with names: the tuples that `max`, `sort`, `topk` and their like return."""

from __future__ import annotations

from collections import namedtuple

from ..ir import dtypes

_TYPES: dict[str, type] = {}


def _show(result) -> str:
    parts = ",\n".join(f"{field}={part!r}" for field, part in zip(result._fields, result))
    return f"{dtypes._MODULE}.return_types.{type(result).__name__}(\n{parts})"


def named(name: str, fields: str, parts):
    """A named tuple of the op's kind, as `torch.return_types` has it."""
    made = _TYPES.get(name)
    if made is None:
        made = _TYPES[name] = namedtuple(name, fields)
        made.__module__ = "rushlight.return_types"
        made.__repr__ = _show
    return made(*parts)


def extremes(name: str, parts, out=None):
    """(values, indices), written into `out` if given."""
    if out is not None:
        from .writing import store

        for target, part in zip(out, parts):
            store(target, part, name)
        parts = out
    return named(name, "values indices", parts)
