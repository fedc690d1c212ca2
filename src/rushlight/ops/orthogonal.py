"""Orthogonal polynomials by their three-term recurrences, the degree given element by element."""

from __future__ import annotations

import math

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from .bessel import SPECIAL
from .checks import check_kinds, every_sample
from .declare import FUNCTIONS, op
from .writing import store


@op(public=False)
def start(x, first: str):
    """Degrees 0 and 1."""
    return B.ones_like(x), FIRST[first](x)


@op(public=False)
def advance(x, degree, result, last, before, k: float, kind: str):
    """Degree k from the two before it, and the result where that is the degree asked for."""
    current = RECURRENCES[kind](x, last, before, k)
    return current, B.where(B.eq(degree, k), current, result)


@op(public=False)
def picked(degree, zeroth, first):
    """The results of degrees 0 and 1; 0 below."""
    return B.where(B.eq(degree, 0), zeroth, B.where(B.eq(degree, 1), first, B.zeros_like(zeroth)))


FIRST = {
    "t": lambda x: x,
    "u": lambda x: 2 * x,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
    "h": lambda x: 2 * x,
    "he": lambda x: x,
    "l": lambda x: 1 - x,
    "p": lambda x: x,
}


def chebyshev(x, last, before, k):
    return 2 * x * last - before


RECURRENCES = {
    **dict.fromkeys("tuvw", chebyshev),
    "h": lambda x, last, before, k: 2 * x * last - 2 * (k - 1) * before,
    "he": lambda x, last, before, k: x * last - (k - 1) * before,
    "l": lambda x, last, before, k: ((2 * k - 1 - x) * last - (k - 1) * before) / k,
    "p": lambda x, last, before, k: ((2 * k - 1) * x * last - (k - 1) * before) / k,
}
HIGHEST = {"h": {4: 128, 8: 512}, "he": {4: 128, 8: 512}}  # degrees beyond are NaN


def polynomial(x, n, kind: str):
    """The polynomial of each element's degree (its whole part); 0 for negative degrees."""
    if not isinstance(x, Tensor) and not isinstance(n, Tensor):
        raise TypeError("expected a Tensor among the arguments")
    make = FUNCTIONS["tensor"]
    x, n = (v if isinstance(v, Tensor) else make(v) for v in (x, n))
    dtype = FUNCTIONS["result_type"](x, n)
    check_kinds("polynomial_cpu", dtype, "buif")
    dtype = dtype if dtype.is_floating_point else dtypes.default
    x, n = FUNCTIONS["broadcast_tensors"](x.to(dtype), n)
    degree = n.to(dtypes.int64).to(dtype)
    zeroth, first = start(x, kind)
    result = picked(degree, zeroth, first)
    highest = int(every_sample(degree).max()) if degree.numel() else 0
    limit = HIGHEST.get(kind, {}).get(dtype.itemsize)
    if limit is not None and highest > limit:
        result = FUNCTIONS["where"](degree > limit, math.nan, result)
        highest = limit
    before, last = zeroth, first
    for k in range(2, highest + 1):
        current, result = advance(x, degree, result, last, before, float(k), kind)
        before, last = last, current
    return result


def widened(x):
    """Whole numbers in the default type, where 2 x - 1 does not wrap around."""
    return x.to(dtypes.default) if isinstance(x, Tensor) and x.dtype.kind in "bui" else x


def _declare(name: str, kind: str, word: str, shifted: bool = False) -> None:
    def function(input, n, *, out=None):
        if shifted:
            input = 2 * widened(input) - 1
        found = polynomial(input, n, kind)
        return found if out is None else store(out, found, name)

    function.__name__ = name
    function.__doc__ = f"{word} of degree n, element by element" + (", at 2 input - 1." if shifted else ".")
    SPECIAL[name] = function


for _kind, _word in (("t", "first"), ("u", "second"), ("v", "third"), ("w", "fourth")):
    _declare(f"chebyshev_polynomial_{_kind}", _kind, f"The Chebyshev polynomial of the {_word} kind")
    _declare(f"shifted_chebyshev_polynomial_{_kind}", _kind, f"The Chebyshev polynomial of the {_word} kind", True)
_declare("hermite_polynomial_h", "h", "The physicist's Hermite polynomial")
_declare("hermite_polynomial_he", "he", "The probabilist's Hermite polynomial")
_declare("laguerre_polynomial_l", "l", "The Laguerre polynomial")
_declare("legendre_polynomial_p", "p", "The Legendre polynomial")
