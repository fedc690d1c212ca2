"""The algebra of symbolic sizes: polynomials in normal form, floor division, bounds, and what an equality teaches.

Terms map each monomial, a sorted tuple of atoms, to its coefficient. An atom is a symbol's name, or the source of
a floor division or remainder that could not be simplified, which `scope.opaque` explains.
"""

from __future__ import annotations

import math

from . import sizes


# -- polynomials ------------------------------------------------------------------------------
def make(scope: sizes.Scope, terms: dict, hint: int) -> sizes.Size:
    """A size from terms: a plain number if they are constant."""
    terms = {mono: c for mono, c in terms.items() if c}
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return sizes.Sym(scope, terms, hint)


def terms_in(scope: sizes.Scope, size) -> dict:
    if type(size) is not sizes.Sym:
        return {(): int(size)}
    if size.scope is not scope:
        raise RuntimeError(f"sizes of different traces cannot be combined: {size!r}")
    return size.terms


def multiply(a: dict, b: dict) -> dict:
    terms: dict = {}
    for m1, c1 in a.items():
        for m2, c2 in b.items():
            mono = tuple(sorted(m1 + m2)) if m1 and m2 else m1 or m2
            terms[mono] = terms.get(mono, 0) + c1 * c2
    return terms


def text_of(terms: dict) -> str:
    """Python source of a polynomial."""
    parts = []
    for mono, c in sorted(terms.items()):
        factors = [str(c)] if c != 1 or not mono else []
        parts.append("*".join(factors + list(mono)))
    if not parts:
        return "0"
    return parts[0] if len(parts) == 1 else "(" + " + ".join(parts) + ")"


def substitute(terms: dict, scope: sizes.Scope) -> dict:
    """Terms with every replaced symbol written out, within opaque atoms too."""
    result: dict = {}
    for mono, c in terms.items():
        partial = {(): c}
        for atom in mono:
            partial = multiply(partial, atom_terms(atom, scope))
        for m, v in partial.items():
            result[m] = result.get(m, 0) + v
    return {m: c for m, c in result.items() if c}


def atom_terms(atom: str, scope: sizes.Scope) -> dict:
    """What an atom has become; learnt replacements never mention the symbol they replace, so this ends."""
    if atom in scope.substitution:
        return terms_in(scope, scope.substitution[atom])
    if atom in scope.opaque:
        op, left, right = scope.opaque[atom]
        if not scope.substitution.keys().isdisjoint(symbols_of(left) | symbols_of(right)):
            left, right = (x.simplified() if type(x) is sizes.Sym else x for x in (left, right))
            return terms_in(scope, left // right if op == "//" else left % right)
    return {(atom,): 1}


def symbols_of(size) -> set[str]:
    """Names of the symbols in an expression as it was written, those inside opaque atoms included."""
    if type(size) is not sizes.Sym:
        return set()
    names: set[str] = set()
    for mono in size._terms:
        for atom in mono:
            if atom in size.scope.opaque:
                _, left, right = size.scope.opaque[atom]
                names |= symbols_of(left) | symbols_of(right)
            else:
                names.add(atom)
    return names


# -- division ---------------------------------------------------------------------------------
def floor(scope: sizes.Scope, left, right) -> tuple:
    """(left // right, left % right), in Python's meaning, as simple as can be."""
    if not all(type(x) is sizes.Sym or isinstance(x, int) for x in (left, right)):
        return NotImplemented, NotImplemented
    if right == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    exact = exact_quotient(scope, left, right)
    if exact is not None:
        return exact, 0
    left, right = (x.simplified() if type(x) is sizes.Sym else x for x in (left, right))
    if type(left) is not sizes.Sym and type(right) is not sizes.Sym:
        return divmod(left, right)
    if type(right) is int and right > 0:
        return floor_by_number(scope, left, right)
    return opaque(scope, "//", left, right), opaque(scope, "%", left, right)


def exact_quotient(scope: sizes.Scope, left, right):
    """left / right when right is one monomial that divides every term of left, else None."""
    divisor = terms_in(scope, right)
    if len(divisor) != 1:
        return None
    ((mono, c),) = divisor.items()
    terms = {}
    for m, v in terms_in(scope, left).items():
        rest = list(m)
        for atom in mono:
            if atom not in rest:
                return None
            rest.remove(atom)
        if v % c:
            return None
        terms[tuple(rest)] = v // c
    return make(scope, terms, sizes.hint(left) // sizes.hint(right))


def floor_by_number(scope: sizes.Scope, left: sizes.Sym, number: int) -> tuple:
    """Multiples of the number leave the floor; what stays has coefficients in [0, number)."""
    whole = {m: c // number for m, c in left.terms.items()}
    part = {m: c % number for m, c in left.terms.items()}
    value = sum(whole.get(m, 0) * evaluate(m, scope) for m in whole)
    outside = make(scope, whole, value)
    inside = make(scope, part, left.hint - number * value)
    if type(inside) is int:
        return outside + inside // number, inside % number
    low, high = bounds(inside)
    if low is not None and low >= 0 and high is not None and high < number:
        return outside, inside
    return outside + opaque(scope, "//", inside, number), opaque(scope, "%", inside, number)


def evaluate(mono: tuple, scope: sizes.Scope) -> int:
    """The value of a monomial under the hints."""
    total = 1
    for atom in mono:
        if atom in scope.opaque:
            op, left, right = scope.opaque[atom]
            total *= sizes.hint(left) // sizes.hint(right) if op == "//" else sizes.hint(left) % sizes.hint(right)
        else:
            total *= scope.hints[atom]
    return total


def opaque(scope: sizes.Scope, op: str, left, right) -> sizes.Sym:
    # a product at the right of // would be read from the left
    divisor = sizes.source(right)
    if type(right) is sizes.Sym and len(right.terms) == 1 and "*" in divisor:
        divisor = f"({divisor})"
    atom = f"({sizes.source(left)} {op} {divisor})"
    scope.opaque.setdefault(atom, (op, left, right))
    return sizes.Sym(
        scope,
        {(atom,): 1},
        sizes.hint(left) // sizes.hint(right) if op == "//" else sizes.hint(left) % sizes.hint(right),
    )


# -- bounds -----------------------------------------------------------------------------------
def bounded(size) -> tuple:
    """The size with the least and the greatest value it can have (None: not known)."""
    size = size.simplified() if type(size) is sizes.Sym else size
    return (size, *bounds(size))


def bounds(size) -> tuple:
    if type(size) is not sizes.Sym:
        return size, size
    low, high = 0, 0
    for mono, c in size.terms.items():
        least, most = monomial_bounds(mono, size.scope)
        if c < 0:
            least, most = most, least
        low = None if low is None or least is None else low + c * least
        high = None if high is None or most is None else high + c * most
    return low, high


def monomial_bounds(mono: tuple, scope: sizes.Scope) -> tuple:
    low, high = 1, 1
    for atom in mono:
        least, most = atom_bounds(atom, scope)
        if least is None or least < 0:
            return None, None  # products of numbers of unknown sign
        low *= least
        high = None if high is None or most is None else high * most
    return low, high


def atom_bounds(atom: str, scope: sizes.Scope) -> tuple:
    if atom not in scope.opaque:
        return scope.least.get(atom), None
    op, left, right = scope.opaque[atom]
    smallest, largest = bounds(right)
    if smallest is None or smallest < 1:
        return None, None
    if op == "%":
        return 0, None if largest is None else largest - 1
    low, high = bounds(left)
    if type(right) is not int:
        return (0 if low is not None and low >= 0 else None), None
    return (None if low is None else low // right), (None if high is None else high // right)


# -- learning ---------------------------------------------------------------------------------
def learn_zero(scope: sizes.Scope, terms: dict) -> None:
    """A polynomial was found to be 0: replace, from now on, a symbol that it determines."""
    terms = reduced(terms, scope)
    candidates = []
    for mono, c in terms.items():
        if len(mono) == 1 and abs(c) == 1 and mono[0] not in scope.opaque:
            rest = make(scope, {m: -c * v for m, v in terms.items() if m != mono}, scope.hints[mono[0]])
            if mono[0] not in symbols_of(rest):
                candidates.append((len(mono[0]), mono[0], rest))
    if candidates:
        # the youngest symbol goes: sizes of the first inputs stay as they are
        _, atom, rest = max(candidates, key=lambda found: found[:2])
        scope.substitution[atom] = rest


def reduced(terms: dict, scope: sizes.Scope) -> dict:
    """The polynomial without factors that cannot be 0."""
    common = math.gcd(*terms.values())
    shared = [a for a in min(terms, key=len) if scope.least.get(a, 0) > 0]
    for atom in shared:
        if all(atom in mono for mono in terms):
            terms = {without(mono, atom): c for mono, c in terms.items()}
    return {mono: c // common for mono, c in terms.items()}


def without(mono: tuple, atom: str) -> tuple:
    rest = list(mono)
    rest.remove(atom)
    return tuple(rest)
