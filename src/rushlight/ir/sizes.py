"""Sizes that are known only as symbols while an op is traced.

A `Sym` behaves as the integer it stands for, its *hint*. Arithmetic keeps the expression; a
comparison answers with the hint and records the answer as a *guard* of the trace, so that
whatever was decided holds again for other sizes that satisfy the same guards. Sizes 0 and 1 are
never symbolic: they decide broadcasting and emptiness, hence structure.

Expressions are polynomials with integer coefficients over atoms (input sizes, and opaque floor
divisions and remainders), kept in normal form. What the form or simple bounds decide needs no
guard. An equality that was found to hold is learnt: one symbol is replaced by the others from then on.
"""

from __future__ import annotations

from . import polynomials

Size = "int | Sym"


class Scope:
    """The symbols of one trace, and the guards recorded on them."""

    def __init__(self):
        self.hints: dict[str, int] = {}
        self.guards: dict[str, None] = {}  # ordered set of Python conditions over symbol names
        self.substitution: dict[str, Sym | int] = {}
        self.least: dict[str, int] = {}  # symbols that are known not to be smaller
        self.opaque: dict[str, tuple] = {}  # atom -> (operator, left, right)

    def symbol(self, hint: int) -> Sym | int:
        """A fresh symbol standing for `hint`, or the number itself if it is 0 or 1."""
        if hint in (0, 1):
            return hint
        name = f"s{len(self.hints)}"
        self.least[name] = 2
        self.guards[f"{name} > 1"] = None
        return self.input_symbol(name, hint)

    def input_symbol(self, name: str, hint: int) -> Sym:
        """A symbol with a given name and no restriction (strides, offsets)."""
        if name in self.hints:
            raise ValueError(f"symbol {name} exists already")
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


def known_equal(a, b) -> bool:
    """Whether two sizes are equal by their expressions; decides nothing."""
    if a is b:
        return True
    a, b = (x.simplified() if type(x) is Sym else x for x in (a, b))
    return a.key() == b.key() if type(a) is Sym and type(b) is Sym else type(a) is type(b) and a == b


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


def strides_in_order(shape, order) -> tuple:
    """Dense strides in elements, with dims from outermost to innermost as in `order`."""
    strides: list = [0] * len(shape)
    for dim, step in zip(order, contiguous_strides([shape[dim] for dim in order])):
        strides[dim] = step
    return tuple(strides)


class Sym:
    """An integer known by its expression over a scope's symbols, with the value it has now."""

    __slots__ = ("_known", "_source", "_terms", "hint", "scope")

    def __init__(self, scope: Scope, terms: dict, hint: int):
        self.scope, self._terms, self.hint = scope, terms, hint
        self._source = None
        self._known = len(scope.substitution)  # how many equalities the terms take into account

    @property
    def terms(self) -> dict:
        """Coefficients by monomial, after applying the equalities learnt so far."""
        if self._known != len(self.scope.substitution):
            self._terms = polynomials.substitute(self._terms, self.scope)
            self._known = len(self.scope.substitution)
            self._source = None
        return self._terms

    def simplified(self) -> Size:
        """This size, or the plain number that learnt equalities have made of it."""
        return polynomials.make(self.scope, self.terms, self.hint)

    def key(self) -> tuple:
        """The normal form as a hashable: equal for sizes that are known to be equal now."""
        return tuple(sorted(self.terms.items()))

    def source(self) -> str:
        terms = self.terms
        if self._source is None:
            self._source = polynomials.text_of(terms)
        return self._source

    # -- arithmetic ---------------------------------------------------------------------------
    def __add__(self, other):
        if type(other) is not Sym and not isinstance(other, int):
            return NotImplemented if not isinstance(other, float) else float(self) + other
        terms = dict(self.terms)
        for mono, c in polynomials.terms_in(self.scope, other).items():
            terms[mono] = terms.get(mono, 0) + c
        return polynomials.make(self.scope, terms, self.hint + int(hint(other)))

    __radd__ = __add__

    def __neg__(self):
        return Sym(self.scope, {m: -c for m, c in self.terms.items()}, -self.hint)

    def __pos__(self):
        return self

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if type(other) is not Sym and not isinstance(other, int):
            return NotImplemented if not isinstance(other, float) else float(self) * other
        if type(other) is int and other == 1:
            return self
        return polynomials.make(
            self.scope,
            polynomials.multiply(self.terms, polynomials.terms_in(self.scope, other)),
            self.hint * int(hint(other)),
        )

    __rmul__ = __mul__

    def __floordiv__(self, other):
        return polynomials.floor(self.scope, self, other)[0]

    def __rfloordiv__(self, other):
        return polynomials.floor(self.scope, other, self)[0]

    def __mod__(self, other):
        return polynomials.floor(self.scope, self, other)[1]

    def __rmod__(self, other):
        return polynomials.floor(self.scope, other, self)[1]

    def __divmod__(self, other):
        return polynomials.floor(self.scope, self, other)

    def __truediv__(self, other):
        return int(self) / other

    def __rtruediv__(self, other):
        return other / int(self)

    def __pow__(self, exponent):
        return product([self] * int(exponent)) if exponent >= 0 else float(self) ** exponent

    def __abs__(self):
        return self if self >= 0 else -self

    # -- decisions: each records a guard unless the expressions decide it ---------------------------
    def __eq__(self, other):
        if self is other:
            return True
        if type(other) is not Sym and not isinstance(other, int):
            return self == int(other) if isinstance(other, float) and other.is_integer() else NotImplemented
        difference = polynomials.bounded(self - other)
        low, high = difference[1:]
        if low is not None and low == high:
            return low == 0
        if (low is not None and low > 0) or (high is not None and high < 0):
            return False
        if self.hint != hint(other):
            self.scope.guard(f"{self.source()} != {source(other)}")
            return False
        self.scope.guard(f"{self.source()} == {source(other)}")
        polynomials.learn_zero(self.scope, difference[0].terms)
        return True

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def _order(self, other, op: str, negated: str, compare):
        if type(other) is Sym or isinstance(other, int):
            _, low, high = polynomials.bounded(self - other)
            # the end of the difference's interval that proves the relation, and the one that refutes it
            proof, refutation = (low, high) if op[0] == ">" else (high, low)
            if proof is not None and compare(proof, 0):
                return True
            if refutation is not None and not compare(refutation, 0):
                return False
        elif not isinstance(other, float):
            return NotImplemented
        answer = compare(self.hint, hint(other))
        self.scope.guard(f"{self.source()} {op if answer else negated} {source(other)}")
        return answer

    def __lt__(self, other):
        return self._order(other, "<", ">=", lambda a, b: a < b)

    def __le__(self, other):
        return self._order(other, "<=", ">", lambda a, b: a <= b)

    def __gt__(self, other):
        return self._order(other, ">", "<=", lambda a, b: a > b)

    def __ge__(self, other):
        return self._order(other, ">=", "<", lambda a, b: a >= b)

    def __bool__(self):
        return self != 0

    def __index__(self):
        """Use as a plain integer specialises the trace to this very size."""
        _ = self == self.hint  # records the guard
        return self.hint

    __int__ = __index__

    def __float__(self):
        return float(self.__index__())

    def __hash__(self):
        # by value: equalities learnt later change the expression, and a number may be an equal key
        return hash(self.hint)

    def __repr__(self):
        # messages show sizes, and their readers know numbers only; `source` is for generated code
        return str(self.hint)
