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

import math

Size = "int | Sym"
Terms = "dict[tuple[str, ...], int]"  # coefficient of each monomial, a sorted tuple of atoms


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
            self._terms = _substitute(self._terms, self.scope)
            self._known = len(self.scope.substitution)
            self._source = None
        return self._terms

    def simplified(self) -> Size:
        """This size, or the plain number that learnt equalities have made of it."""
        return _make(self.scope, self.terms, self.hint)

    def key(self) -> tuple:
        """The normal form as a hashable: equal for sizes that are known to be equal now."""
        return tuple(sorted(self.terms.items()))

    def source(self) -> str:
        terms = self.terms
        if self._source is None:
            self._source = _source(terms)
        return self._source

    # -- arithmetic ---------------------------------------------------------------------------
    def __add__(self, other):
        if type(other) is not Sym and not isinstance(other, int):
            return NotImplemented if not isinstance(other, float) else float(self) + other
        terms = dict(self.terms)
        for mono, c in _terms_in(self.scope, other).items():
            terms[mono] = terms.get(mono, 0) + c
        return _make(self.scope, terms, self.hint + int(hint(other)))

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
        return _make(self.scope, _multiply(self.terms, _terms_in(self.scope, other)), self.hint * int(hint(other)))

    __rmul__ = __mul__

    def __floordiv__(self, other):
        return _floor(self.scope, self, other)[0]

    def __rfloordiv__(self, other):
        return _floor(self.scope, other, self)[0]

    def __mod__(self, other):
        return _floor(self.scope, self, other)[1]

    def __rmod__(self, other):
        return _floor(self.scope, other, self)[1]

    def __divmod__(self, other):
        return _floor(self.scope, self, other)

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
        difference = _bounded(self - other)
        low, high = difference[1:]
        if low is not None and low == high:
            return low == 0
        if (low is not None and low > 0) or (high is not None and high < 0):
            return False
        if self.hint != hint(other):
            self.scope.guard(f"{self.source()} != {source(other)}")
            return False
        self.scope.guard(f"{self.source()} == {source(other)}")
        _learn_zero(self.scope, difference[0].terms)
        return True

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def _order(self, other, op: str, negated: str, compare):
        if type(other) is Sym or isinstance(other, int):
            _, low, high = _bounded(self - other)
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
        return f"{self.source()}={self.hint}"


# -- polynomials ------------------------------------------------------------------------------
def _make(scope: Scope, terms: dict, hint: int) -> Size:
    terms = {mono: c for mono, c in terms.items() if c}
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return Sym(scope, terms, hint)


def _terms_in(scope: Scope, size) -> dict:
    if type(size) is not Sym:
        return {(): int(size)}
    if size.scope is not scope:
        raise RuntimeError(f"sizes of different traces cannot be combined: {size!r}")
    return size.terms


def _multiply(a: dict, b: dict) -> dict:
    terms: dict = {}
    for m1, c1 in a.items():
        for m2, c2 in b.items():
            mono = tuple(sorted(m1 + m2)) if m1 and m2 else m1 or m2
            terms[mono] = terms.get(mono, 0) + c1 * c2
    return terms


def _source(terms: dict) -> str:
    parts = []
    for mono, c in sorted(terms.items()):
        factors = [str(c)] if c != 1 or not mono else []
        parts.append("*".join(factors + list(mono)))
    if not parts:
        return "0"
    return parts[0] if len(parts) == 1 else "(" + " + ".join(parts) + ")"


def _substitute(terms: dict, scope: Scope) -> dict:
    """Terms with every replaced symbol written out, within opaque atoms too."""
    result: dict = {}
    for mono, c in terms.items():
        partial = {(): c}
        for atom in mono:
            partial = _multiply(partial, _atom_terms(atom, scope))
        for m, v in partial.items():
            result[m] = result.get(m, 0) + v
    return {m: c for m, c in result.items() if c}


def _atom_terms(atom: str, scope: Scope) -> dict:
    """What an atom has become; learnt replacements never mention the symbol they replace, so this ends."""
    if atom in scope.substitution:
        return _terms_in(scope, scope.substitution[atom])
    if atom in scope.opaque:
        op, left, right = scope.opaque[atom]
        if not scope.substitution.keys().isdisjoint(_symbols_of(left) | _symbols_of(right)):
            left, right = (x.simplified() if type(x) is Sym else x for x in (left, right))
            return _terms_in(scope, left // right if op == "//" else left % right)
    return {(atom,): 1}


def _symbols_of(size) -> set[str]:
    """Names of the symbols in an expression as it was written, those inside opaque atoms included."""
    if type(size) is not Sym:
        return set()
    names: set[str] = set()
    for mono in size._terms:
        for atom in mono:
            if atom in size.scope.opaque:
                _, left, right = size.scope.opaque[atom]
                names |= _symbols_of(left) | _symbols_of(right)
            else:
                names.add(atom)
    return names


# -- division ---------------------------------------------------------------------------------
def _floor(scope: Scope, left, right) -> tuple:
    """(left // right, left % right), in Python's meaning, as simple as can be."""
    if not all(type(x) is Sym or isinstance(x, int) for x in (left, right)):
        return NotImplemented, NotImplemented
    if right == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    exact = _exact_quotient(scope, left, right)
    if exact is not None:
        return exact, 0
    left, right = (x.simplified() if type(x) is Sym else x for x in (left, right))
    if type(left) is not Sym and type(right) is not Sym:
        return divmod(left, right)
    if type(right) is int and right > 0:
        return _floor_by_number(scope, left, right)
    return _opaque(scope, "//", left, right), _opaque(scope, "%", left, right)


def _exact_quotient(scope: Scope, left, right):
    """left / right when right is one monomial that divides every term of left, else None."""
    divisor = _terms_in(scope, right)
    if len(divisor) != 1:
        return None
    ((mono, c),) = divisor.items()
    terms = {}
    for m, v in _terms_in(scope, left).items():
        rest = list(m)
        for atom in mono:
            if atom not in rest:
                return None
            rest.remove(atom)
        if v % c:
            return None
        terms[tuple(rest)] = v // c
    return _make(scope, terms, hint(left) // hint(right))


def _floor_by_number(scope: Scope, left: Sym, number: int) -> tuple:
    """Multiples of the number leave the floor; what stays has coefficients in [0, number)."""
    whole = {m: c // number for m, c in left.terms.items()}
    part = {m: c % number for m, c in left.terms.items()}
    value = sum(whole.get(m, 0) * _evaluate(m, scope) for m in whole)
    outside = _make(scope, whole, value)
    inside = _make(scope, part, left.hint - number * value)
    if type(inside) is int:
        return outside + inside // number, inside % number
    low, high = _bounds(inside)
    if low is not None and low >= 0 and high is not None and high < number:
        return outside, inside
    return outside + _opaque(scope, "//", inside, number), _opaque(scope, "%", inside, number)


def _evaluate(mono: tuple, scope: Scope) -> int:
    """The value of a monomial under the hints."""
    total = 1
    for atom in mono:
        if atom in scope.opaque:
            op, left, right = scope.opaque[atom]
            total *= hint(left) // hint(right) if op == "//" else hint(left) % hint(right)
        else:
            total *= scope.hints[atom]
    return total


def _opaque(scope: Scope, op: str, left, right) -> Sym:
    # a product at the right of // would be read from the left
    divisor = source(right)
    if type(right) is Sym and len(right.terms) == 1 and "*" in divisor:
        divisor = f"({divisor})"
    atom = f"({source(left)} {op} {divisor})"
    scope.opaque.setdefault(atom, (op, left, right))
    return Sym(scope, {(atom,): 1}, hint(left) // hint(right) if op == "//" else hint(left) % hint(right))


# -- bounds -----------------------------------------------------------------------------------
def _bounded(size) -> tuple:
    """The size with the least and the greatest value it can have (None: not known)."""
    size = size.simplified() if type(size) is Sym else size
    return (size, *_bounds(size))


def _bounds(size) -> tuple:
    if type(size) is not Sym:
        return size, size
    low, high = 0, 0
    for mono, c in size.terms.items():
        least, most = _monomial_bounds(mono, size.scope)
        if c < 0:
            least, most = most, least
        low = None if low is None or least is None else low + c * least
        high = None if high is None or most is None else high + c * most
    return low, high


def _monomial_bounds(mono: tuple, scope: Scope) -> tuple:
    low, high = 1, 1
    for atom in mono:
        least, most = _atom_bounds(atom, scope)
        if least is None or least < 0:
            return None, None  # products of numbers of unknown sign
        low *= least
        high = None if high is None or most is None else high * most
    return low, high


def _atom_bounds(atom: str, scope: Scope) -> tuple:
    if atom not in scope.opaque:
        return scope.least.get(atom), None
    op, left, right = scope.opaque[atom]
    smallest, largest = _bounds(right)
    if smallest is None or smallest < 1:
        return None, None
    if op == "%":
        return 0, None if largest is None else largest - 1
    low, high = _bounds(left)
    if type(right) is not int:
        return (0 if low is not None and low >= 0 else None), None
    return (None if low is None else low // right), (None if high is None else high // right)


# -- learning ---------------------------------------------------------------------------------
def _learn_zero(scope: Scope, terms: dict) -> None:
    """A polynomial was found to be 0: replace, from now on, a symbol that it determines."""
    terms = _reduced(terms, scope)
    candidates = []
    for mono, c in terms.items():
        if len(mono) == 1 and abs(c) == 1 and mono[0] not in scope.opaque:
            rest = _make(scope, {m: -c * v for m, v in terms.items() if m != mono}, scope.hints[mono[0]])
            if mono[0] not in _symbols_of(rest):
                candidates.append((len(mono[0]), mono[0], rest))
    if candidates:
        # the youngest symbol goes: sizes of the first inputs stay as they are
        _, atom, rest = max(candidates, key=lambda found: found[:2])
        scope.substitution[atom] = rest


def _reduced(terms: dict, scope: Scope) -> dict:
    """The polynomial without factors that cannot be 0."""
    common = math.gcd(*terms.values())
    shared = [a for a in min(terms, key=len) if scope.least.get(a, 0) > 0]
    for atom in shared:
        if all(atom in mono for mono in terms):
            terms = {_without(mono, atom): c for mono, c in terms.items()}
    return {mono: c // common for mono, c in terms.items()}


def _without(mono: tuple, atom: str) -> tuple:
    rest = list(mono)
    rest.remove(atom)
    return tuple(rest)
