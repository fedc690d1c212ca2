"""Results with names: the tuples that `max`, `sort`, `topk` and their like return."""

from __future__ import annotations

from collections import namedtuple

from ..ir import dtypes

TYPES: dict[str, type] = {}  # those in use so far
FIELDS = {
    **dict.fromkeys(
        ("cummax", "cummin", "kthvalue", "max", "median", "min", "mode", "nanmedian", "sort", "topk"), "values indices"
    ),
    "_lu_with_info": "LU pivots info",
    "aminmax": "min max",
    "frexp": "mantissa exponent",
    "geqrf": "a tau",
    "histogram": "hist bin_edges",
    "histogramdd": "hist bin_edges",
    "linalg_cholesky_ex": "L info",
    "linalg_eig": "eigenvalues eigenvectors",
    "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_inv_ex": "inverse info",
    "linalg_ldl_factor": "LD pivots",
    "linalg_ldl_factor_ex": "LD pivots info",
    "linalg_lstsq": "solution residuals rank singular_values",
    "linalg_lu": "P L U",
    "linalg_lu_factor": "LU pivots",
    "linalg_lu_factor_ex": "LU pivots info",
    "linalg_qr": "Q R",
    "linalg_slogdet": "sign logabsdet",
    "linalg_solve_ex": "result info",
    "linalg_svd": "U S Vh",
    "lu_unpack": "P L U",
    "qr": "Q R",
    "slogdet": "sign logabsdet",
    "svd": "U S V",
    "triangular_solve": "solution cloned_coefficient",
}


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


def type_of(name: str) -> type:
    """The type of an op's named result, made when it is first asked for; KeyError for ops without one."""
    return TYPES.get(name) or declare(name, FIELDS[name])


def named(name: str, parts):
    """A named tuple of the op's kind, as `torch.return_types` has it."""
    return tuple.__new__(type_of(name), parts)


def named_call(name: str, called, *arguments, out=None):
    """The results of an op with their names; they are the tensors of `out` if that is given."""
    kind = type_of(name)
    if out is None:
        return tuple.__new__(kind, called(*arguments))
    from .writing import targets

    return tuple.__new__(kind, called(*arguments, out=targets(name, out, kind.n_fields)))


def extremes(name: str, parts, out=None):
    """(values, indices), written into `out` if given."""
    if out is not None:
        from .writing import store_all

        parts = store_all(name, out, parts)
    return named(name, parts)
