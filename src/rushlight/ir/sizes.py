"""Sizes that are known only as symbols while an op is traced.

A `Sym` behaves as the integer it stands for, its *hint*. Arithmetic keeps the expression; a
comparison answers with the hint and records the answer as a *guard* of the trace, so that
whatever was decided holds again for other sizes that satisfy the same guards. Sizes 0 and 1 are
never symbolic: they decide broadcasting and emptiness, hence structure.

Expressions are polynomials with integer coefficients over atoms (input sizes and opaque floor
divisions, remainders), kept in normal form: equal polynomials compare equal without a guard.
"""

from __future__ import annotations

Size = "int | Sym"


class Scope:
    """The symbols of one trace, and the guards recorded on them."""

    def __init__(self):
        self.hints: dict[str, int] = {}
        self.guards: dict[str, None] = {}  # ordered set of Python conditions over symbol names
        self.substitution: dict[str, Sym | int] = {}

    def symbol(self, hint: int) -> Sym | int:
        """A fresh symbol standing for `hint`, or the number itself if it is 0 or 1."""
        if hint in (0, 1):
            return hint
        name = f"s{len(self.hints)}"
        self.hints[name] = hint
        self.guards[f"{name} > 1"] = None
        return Sym(self, {(name,): 1}, hint)

    def input_symbol(self, name: str, hint: int) -> Sym:
        """A symbol with a given name and no restriction (strides, offsets)."""
        self.hints[name] = hint
        return Sym(self, {(name,): 1}, hint)

    def guard(self, condition: str) -> None:
        self.guards[condition] = None


def hint(size) -> int:
    """The concrete value of a size, without recording anything."""
    return size.hint if type(size) is Sym else size


def source(size) -> str:
    """Python source that computes the size from the symbols of its trace."""
    return size.source() if type(size) is Sym else repr(size)


def product(sizes) -> Size:
    """The product of sizes; 1 for none."""
    total = 1
    for size in sizes:
        total = size * total
    return total


def contiguous_strides(shape) -> tuple:
    """Row-major strides in elements, as PyTorch reports them (a size of 0 counts as 1)."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step = step if (type(size) is int and size == 0) else size * step
    return tuple(reversed(strides))


class Sym:
    """An integer known by its expression over a scope's symbols, with the value it has now."""

    __slots__ = ("_key", "hint", "scope", "terms")

    def __init__(self, scope: Scope, terms: dict, hint: int):
        self.scope, self.terms, self.hint = scope, terms, hint
        self._key = None

    @staticmethod
    def _make(scope: Scope, terms: dict, hint: int):
        terms = {mono: c for mono, c in terms.items() if c}
        if not terms:
            return 0
        if len(terms) == 1 and () in terms:
            return terms[()]
        return Sym(scope, terms, hint)

    def _terms(self) -> dict:
        """Terms after applying equalities learnt since this symbol was made."""
        substitution = self.scope.substitution
        if substitution and any(atom in substitution for mono in self.terms for atom in mono):
            self.terms = _substitute(self.terms, substitution)
            self._key = None
        return self.terms

    def key(self) -> tuple:
        self._terms()
        if self._key is None:
            self._key = tuple(sorted(self.terms.items()))
        return self._key

    def source(self) -> str:
        parts = []
        for mono, c in self.key():
            factors = [str(c)] if c != 1 or not mono else []
            parts.append("*".join(factors + list(mono)))
        return parts[0] if len(parts) == 1 else "(" + " + ".join(parts) + ")"

    # -- arithmetic ---------------------------------------------------------------------------
    def __add__(self, other):
        if type(other) is not Sym:
            if not isinstance(other, int):
                return NotImplemented
            if other == 0:
                return self
        terms = dict(self._terms())
        for mono, c in _terms_of(other).items():
            terms[mono] = terms.get(mono, 0) + c
        return Sym._make(self.scope, terms, self.hint + hint(other))

    __radd__ = __add__

    def __neg__(self):
        return Sym(self.scope, {m: -c for m, c in self._terms().items()}, -self.hint)

    def __sub__(self, other):
        return self + -other if type(other) is Sym or isinstance(other, int) else NotImplemented

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if type(other) is not Sym:
            if not isinstance(other, int):
                return NotImplemented
            if other == 1:
                return self
            if other == 0:
                return 0
        terms: dict = {}
        theirs = _terms_of(other)
        for m1, c1 in self._terms().items():
            for m2, c2 in theirs.items():
                mono = tuple(sorted(m1 + m2)) if m1 and m2 else m1 or m2
                terms[mono] = terms.get(mono, 0) + c1 * c2
        return Sym._make(self.scope, terms, self.hint * hint(other))

    __rmul__ = __mul__

    def __floordiv__(self, other):
        return _divide(self, other)

    def __rfloordiv__(self, other):
        return _opaque(self.scope, "//", other, self)

    def __mod__(self, other):
        if type(other) is int and other == 1:
            return 0
        if _exact_quotient(self, other) is not None:
            return 0
        return _opaque(self.scope, "%", self, other)

    def __rmod__(self, other):
        return _opaque(self.scope, "%", other, self)

    def __truediv__(self, other):
        return int(self) / int(other)

    def __rtruediv__(self, other):
        return int(other) / int(self)

    def __pow__(self, exponent):
        return product([self] * int(exponent))

    def __abs__(self):
        return self if self >= 0 else -self

    # -- decisions: each records a guard --------------------------------------------------------
    def __eq__(self, other):
        if type(other) is Sym:
            if self.key() == other.key():
                return True
        elif not isinstance(other, int):
            return NotImplemented
        if self.hint != hint(other):
            self.scope.guard(f"{self.source()} != {source(other)}")
            return False
        self.scope.guard(f"{self.source()} == {source(other)}")
        self._learn_equal(other)
        return True

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def _order(self, other, op: str, negated: str, answer: bool) -> bool:
        if type(other) is Sym and self.key() == other.key():
            return op in ("<=", ">=")
        if type(other) is int and (known := self._known(op, other)) is not None:
            return known
        self.scope.guard(f"{self.source()} {op if answer else negated} {source(other)}")
        return answer

    def _known(self, op: str, number: int):
        """Decide comparisons with 0 and 1 of a positive product of sizes without a guard."""
        terms = self._terms()
        if len(terms) != 1:
            return None
        ((mono, c),) = terms.items()
        if c < 1 or not all(atom[0] == "s" and atom[1:].isdigit() for atom in mono):
            return None
        least = c * 2 ** len(mono)
        if number < least:
            return op in (">", ">=")
        return None

    def __lt__(self, other):
        return self._order(other, "<", ">=", self.hint < hint(other))

    def __le__(self, other):
        return self._order(other, "<=", ">", self.hint <= hint(other))

    def __gt__(self, other):
        return self._order(other, ">", "<=", self.hint > hint(other))

    def __ge__(self, other):
        return self._order(other, ">=", "<", self.hint >= hint(other))

    def __bool__(self):
        return self != 0

    def __index__(self):
        """Use as a plain integer specialises the trace to this very size."""
        self == self.hint  # noqa: B015 - records the guard
        return self.hint

    __int__ = __index__

    def __float__(self):
        return float(self.__index__())

    def __hash__(self):
        return hash(self.key())

    def __repr__(self):
        return f"{self.source()}={self.hint}"

    def _learn_equal(self, other):
        """Replace a lone atom by what it was found equal to, in all later comparisons."""
        for one, two in ((self, other), (other, self)):
            if type(one) is Sym and len(one.terms) == 1:
                ((mono, c),) = one.terms.items()
                if c == 1 and len(mono) == 1 and mono[0][0] != "(":
                    if type(two) is Sym and any(mono[0] in m for m in two._terms()):
                        continue
                    self.scope.substitution[mono[0]] = two
                    return


def _terms_of(size) -> dict:
    return size._terms() if type(size) is Sym else {(): size}


def _substitute(terms: dict, substitution: dict) -> dict:
    result: dict = {}
    for mono, c in terms.items():
        partial = {(): c}
        for atom in mono:
            factor = {(atom,): 1}
            seen = 0
            while atom in substitution and seen < 64:
                replacement = substitution[atom]
                factor = dict(_terms_of(replacement)) if type(replacement) is Sym else {(): replacement}
                break
            partial = _multiply(partial, factor)
        for m, v in partial.items():
            result[m] = result.get(m, 0) + v
    return {m: c for m, c in result.items() if c}


def _multiply(a: dict, b: dict) -> dict:
    terms: dict = {}
    for m1, c1 in a.items():
        for m2, c2 in b.items():
            mono = tuple(sorted(m1 + m2))
            terms[mono] = terms.get(mono, 0) + c1 * c2
    return terms


def _exact_quotient(size: Sym, divisor):
    """size / divisor when the divisor is one monomial that divides every term, else None."""
    divisor_terms = _terms_of(divisor)
    if len(divisor_terms) != 1:
        return None
    ((mono, c),) = divisor_terms.items()
    if c == 0:
        return None
    terms = {}
    for m, v in size._terms().items():
        rest = list(m)
        for atom in mono:
            if atom not in rest:
                return None
            rest.remove(atom)
        if v % c:
            return None
        terms[tuple(rest)] = v // c
    return Sym._make(size.scope, terms, size.hint // hint(divisor))


def _divide(size: Sym, divisor):
    if type(divisor) is int and divisor == 1:
        return size
    exact = _exact_quotient(size, divisor)
    return exact if exact is not None else _opaque(size.scope, "//", size, divisor)


def _opaque(scope: Scope, op: str, left, right) -> Sym:
    value = hint(left) // hint(right) if op == "//" else hint(left) % hint(right)
    return Sym(scope, {(f"({source(left)} {op} {source(right)})",): 1}, value)
