"""Affine index maps over loop dimensions: how a kernel's loops reach the elements of a tensor.

A `Dim` is one loop of a kernel. While kernels are formed a dim may turn out to be another one (`unify`)
or to be two nested ones (`split`), when a reshape cuts a dimension in parts; an `Affine` follows such changes
lazily. An *access* is a tuple of Affines, one for each dimension of a tensor.
"""

from __future__ import annotations

import itertools

from ..ir.sizes import Sym, hint

_serial = itertools.count()


class Dim:
    """A loop of `size` iterations. `parts` is None, or [(dim, coefficient)] that replaces it."""

    __slots__ = ("parts", "serial", "size")

    def __init__(self, size):
        self.size, self.parts, self.serial = size, None, next(_serial)

    def resolve(self) -> list[tuple[Dim, object]]:
        """The dims it consists of now, outermost first, with their coefficients."""
        if self.parts is None:
            return [(self, 1)]
        return [(d, c * outer) for part, outer in self.parts for d, c in part.resolve()]

    def leaves(self) -> list[Dim]:
        return [d for d, _ in self.resolve()]

    def __repr__(self) -> str:
        return f"d{self.serial}<{self.size}>"


def unify(one: Dim, two: Dim) -> None:
    """Make two dims of equal size the same loop (`two` is replaced by `one`)."""
    if one is not two:
        two.parts = [(one, 1)]


def split(dim: Dim, inner) -> tuple[Dim, Dim]:
    """Cut a loop in an outer one and one of `inner` iterations."""
    outer_dim, inner_dim = Dim(dim.size // inner), Dim(inner)
    dim.parts = [(outer_dim, inner), (inner_dim, 1)]
    return outer_dim, inner_dim


class Affine:
    """The sum of coefficient * dim over `terms`, plus `const`."""

    __slots__ = ("const", "terms")

    def __init__(self, terms: dict, const=0):
        self.terms, self.const = terms, const

    def resolved(self) -> Affine:
        """Itself in terms of dims that have no parts."""
        if all(d.parts is None for d in self.terms):
            return self
        terms: dict = {}
        for dim, coefficient in self.terms.items():
            for d, c in dim.resolve():
                terms[d] = terms.get(d, 0) + c * coefficient
        self.terms = terms
        return self

    def __add__(self, other: Affine) -> Affine:
        terms = dict(self.terms)
        for dim, coefficient in other.terms.items():
            terms[dim] = terms.get(dim, 0) + coefficient
        return Affine(terms, self.const + other.const)

    def scaled(self, factor) -> Affine:
        if _is(factor, 1):
            return self
        return Affine({d: c * factor for d, c in self.terms.items()}, self.const * factor)

    def shifted(self, amount) -> Affine:
        return Affine(self.terms, self.const + amount)

    def key(self) -> tuple:
        self.resolved()
        return tuple(sorted((d.serial, size_key(c)) for d, c in self.terms.items())), size_key(self.const)

    def dims(self) -> set[Dim]:
        return set(self.resolved().terms)

    def __repr__(self) -> str:
        return " + ".join([*(f"{c}*{d}" for d, c in self.terms.items()), str(self.const)])


ZERO = Affine({})


def index_of(dim: Dim) -> Affine:
    return Affine({dim: 1})


def _is(size, number: int) -> bool:
    """Whether a size is known to be `number`, without asking (asking would record a guard)."""
    return type(size) is int and size == number


def size_key(size):
    """A size as part of a dictionary's key: a symbol itself would record a guard when it is compared."""
    if type(size) is Sym:
        size = size.simplified()
    return size.key() if type(size) is Sym else size


def access_key(access) -> tuple:
    return tuple(a.key() for a in access)


def access_dims(access) -> set[Dim]:
    return {d for a in access for d in a.dims()}


def fresh_access(shape) -> tuple[Affine, ...]:
    """One new loop for each dimension that has more than one index."""
    return tuple(ZERO if _is(size, 1) else index_of(Dim(size)) for size in shape)


def is_complete(affine: Affine, size) -> bool:
    """Whether an index runs over range(size) once as its dims run, each dim taking part once."""
    affine.resolved()
    if not _is(affine.const, 0):
        return False
    span = 1
    for dim, coefficient in sorted(affine.terms.items(), key=lambda t: hint(t[1])):
        if hint(coefficient) != hint(span) or coefficient != span:
            return False
        span = span * dim.size
    return hint(span) == hint(size) and bool(span == size)


def covers(access, shape, dims: set[Dim]) -> bool:
    """Whether an access runs over all elements of `shape` once as exactly these dims run."""
    found = [d for a in access for d in a.resolved().terms]
    if len(found) != len(dims) or set(found) != dims:
        return False
    return all(is_complete(a, size) for a, size in zip(access, shape))


def linear(pairs) -> Affine:
    """The row-major index for [(affine, size)] from outermost to innermost."""
    total = ZERO
    for affine, size in pairs:
        total = total.scaled(size) + affine
    return total


def divide(affine: Affine, radix) -> tuple[Affine, Affine] | None:
    """(affine // radix, affine % radix) as Affines, splitting a loop if that takes it; None if impossible."""
    affine.resolved()
    if _is(affine.const, 0):
        quotient, remainder = ZERO, []
    elif (whole := exact(affine.const, radix)) is not None:
        quotient, remainder = Affine({}, whole), []
    else:
        return None
    for dim, coefficient in affine.terms.items():
        whole = exact(coefficient, radix)
        if whole is not None:
            quotient = quotient + Affine({dim: whole})
        else:
            remainder.append((dim, coefficient))
    limit, rest = radix, ZERO
    for dim, coefficient in sorted(remainder, key=lambda t: -hint(t[1])):
        if hint(coefficient) < 1:
            return None
        if hint(coefficient * dim.size) <= hint(limit) and coefficient * dim.size <= limit:
            rest = rest + Affine({dim: coefficient})
        else:
            count = exact(limit, coefficient) if limit is radix else None
            if count is None or exact(dim.size, count) is None:
                return None
            outer, inner = split(dim, count)
            quotient, rest = quotient + index_of(outer), rest + Affine({inner: coefficient})
        limit = coefficient
    return quotient, rest


def exact(size, divisor):
    """size / divisor if it divides, else None; records a guard only where the division is exact by numbers alone."""
    if hint(divisor) == 0 or hint(size) % hint(divisor):
        return None
    if type(divisor) is Sym and type(size) is int:
        return size // hint(divisor) if divisor == hint(divisor) else None
    rest = size % divisor
    if type(rest) is Sym and rest != 0:
        return None
    return size // divisor
