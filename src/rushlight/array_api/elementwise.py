"""Element-wise functions: most are those of the catalogue, under the standard's names."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ops import FUNCTIONS as F

_ALIKE = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
    bitwise_xor ceil copysign cos cosh divide exp expm1 floor floor_divide greater greater_equal hypot imag isfinite
    isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor
    maximum minimum multiply negative not_equal positive pow real remainder signbit sin sinh sqrt square subtract
    tan tanh trunc
""".split()  # noqa: SIM905
SAME = {name: name for name in _ALIKE} | {"bitwise_invert": "bitwise_not", "conj": "conj_physical", "equal": "eq"}


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1 by the sign of each element; of complex numbers x / |x|."""
    return F["sgn"](x)


def round(x: Tensor, /) -> Tensor:
    """The nearest whole numbers, even ones where two are as near; of complex numbers in both parts."""
    if x.is_complex():
        return F["complex"](F["round"](x.real), F["round"](x.imag))
    return F["round"](x)


def clip(x: Tensor, /, min: int | float | Tensor | None = None, max: int | float | Tensor | None = None) -> Tensor:
    """Elements below `min` or above `max` replaced by these, which broadcast; of the dtype of `x`."""
    if min is None and max is None:
        return F["positive"](x).clone()
    return F["clamp"](x, min, max).to(x.dtype)
