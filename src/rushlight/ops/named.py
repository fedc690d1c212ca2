"""Results with names: the tuples that `max`, `sort`, `topk` and their like return."""

from __future__ import annotations

from collections import namedtuple

_TYPES: dict[str, type] = {}


def named(name: str, fields: str, parts):
    """A named tuple of the op's kind, as `torch.return_types` has it."""
    made = _TYPES.get(name)
    if made is None:
        made = _TYPES[name] = namedtuple(name, fields)
        made.__module__ = "rushlight.return_types"
    return made(*parts)


def extremes(name: str, parts, out=None):
    """(values, indices), written into `out` if given."""
    if out is not None:
        from .writing import store

        for target, part in zip(out, parts):
            store(target, part, name)
        parts = out
    return named(name, "values indices", parts)
