"""`make_tensor`: random tensors of any dtype, for tests."""

from __future__ import annotations

import math

from ..core.engine import Tensor
from ..ir import dtypes
from ..ops.declare import FUNCTIONS
from ..ops.dtypes import finfo, iinfo


def make_tensor(
    *shape,
    dtype,
    device="cpu",
    low=None,
    high=None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format=None,
) -> Tensor:
    """A tensor of uniform random numbers in [low, high).

    Without bounds: [-9, 9) for floating point and complex (real and imaginary part), [-9, 10) for signed integers,
    [0, 10) for
    uint8, both values for bool.

    noncontiguous  every second element of a larger tensor (no effect with fewer than two elements)
    exclude_zero   zeros are replaced by the smallest positive number

    Raises ValueError for bounds that leave nothing, and for `noncontiguous` together with `memory_format`.
    """
    if noncontiguous and memory_format is not None:
        raise ValueError(
            f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, got {memory_format}"
        )
    shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    if requires_grad and dtype.kind not in "fc":
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype}")
    low, high = bounds(dtype, low, high)
    spread = noncontiguous and math.prod(shape) > 1
    made = drawn((*shape[:-1], 2 * shape[-1]) if spread else shape, dtype, low, high)
    if exclude_zero:
        smallest = finfo(dtype).tiny if dtype.kind in "fc" else 1
        made = FUNCTIONS["where"](made == 0, smallest, made).to(dtype)
    if spread:
        made = made[..., ::2]
    if memory_format is not None:
        made = made.clone(memory_format=memory_format)
    return made.requires_grad_() if requires_grad else made


def bounds(dtype, low, high) -> tuple:
    """The bounds to draw between: the dtype's defaults, and what it can hold."""
    if dtype.kind == "b":
        least, most, usual = 0, 2, (0, 2)
    elif dtype.kind in "iu":
        least, most = iinfo(dtype).min, iinfo(dtype).max + 1
        usual = (0, 10) if dtype.kind == "u" else (-9, 10)
    else:
        least, most, usual = finfo(dtype).min, finfo(dtype).max, (-9, 9)
    low, high = (u if given is None else given for u, given in zip(usual, (low, high)))
    for name, bound in (("low", low), ("high", high)):
        if isinstance(bound, float) and math.isnan(bound):
            raise ValueError(f"`{name}` cannot be NaN, but got {low=} and {high=}")
    if low > high or (low == high and dtype.kind not in "fc"):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high < least or low >= most:
        raise ValueError(f"the bounds [{low}, {high}) leave nothing of {dtype}")
    return max(low, least), min(high, most)


def drawn(shape: tuple, dtype, low, high) -> Tensor:
    if dtype.kind in "biu":
        return FUNCTIONS["randint"](math.ceil(low), math.ceil(high), shape, dtype=dtype)
    if dtype.kind == "c":
        real = dtypes.float32 if dtype is dtypes.complex64 else dtypes.float64
        re, im = (FUNCTIONS["rand"](shape, dtype=real) * (high - low) + low for _ in range(2))
        return re + im * FUNCTIONS["tensor"](1j, dtype=dtype)
    # drawn in double precision: the product with a wide interval would leave the half types
    return (FUNCTIONS["rand"](shape, dtype=dtypes.float64) * (high - low) + low).to(dtype)
