"""Results with names: the tuples that `max`, `sort`, `topk` and their like return."""

from __future__ import annotations

from collections import namedtuple

from ..ir import dtypes

TYPES: dict[str, type] = {}


class NamedResult:
    """What the named results share: they print as PyTorch's do, and can be made of any sequence."""

    __slots__ = ()
    n_unnamed_fields = 0

    def __repr__(self) -> str:
        parts = ",\n".join(f"{field}={part!r}" for field, part in zip(self._fields, self))
        return f"{dtypes._MODULE}.return_types.{type(self).__name__}(\n{parts})"

    def __reduce__(self):
        return type(self), (tuple(self),)


def declare(name: str, fields: str) -> type:
    """The type of an op's named result."""
    base = namedtuple(name, fields)
    count = len(base._fields)

    def __new__(cls, parts):
        if not isinstance(parts, (tuple, list)):
            raise TypeError("constructor requires a sequence")
        if len(parts) != count:
            raise TypeError(f"{name}() takes a {count}-sequence ({len(parts)}-sequence given)")
        return tuple.__new__(cls, parts)

    members = {"__slots__": (), "__module__": "rushlight.return_types", "__new__": __new__}
    made = type(name, (NamedResult, base), members | {"n_fields": count, "n_sequence_fields": count})
    TYPES[name] = made
    return made


for _name in ("cummax", "cummin", "kthvalue", "max", "median", "min", "mode", "nanmedian", "sort", "topk"):
    declare(_name, "values indices")
declare("aminmax", "min max")
declare("frexp", "mantissa exponent")
declare("histogram", "hist bin_edges")
declare("histogramdd", "hist bin_edges")


def named(name: str, fields: str, parts):
    """A named tuple of the op's kind, as `torch.return_types` has it."""
    return tuple.__new__(TYPES.get(name) or declare(name, fields), parts)


def extremes(name: str, parts, out=None):
    """(values, indices), written into `out` if given."""
    if out is not None:
        from .writing import store

        for target, part in zip(out, parts):
            store(target, part, name)
        parts = out
    return named(name, "values indices", parts)
