"""Tensors of evenly spaced numbers, the identity, and what is made of powers."""

from __future__ import annotations

import math
import warnings

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from .checks import scalar_type
from .creation import check_options, delivered, dtype_for, fresh
from .declare import composite, op


@op(inplace=True, narrows=True, public=False)
def ramp(input, start, step):
    """start + i * step at place i, computed in int64 or double precision."""
    kind = dtypes.int64 if input.dtype.kind in "ui" else dtypes.float64
    return B.cast(start + step * B.iota(input.shape, 0, kind), input.dtype)


def ramped(count: int, start, step, dtype, requires_grad, device, layout) -> Tensor:
    made = fresh((count,), dtype, False, device, None, layout)
    if count:
        ramp.in_place(made, start, step)
    return made.requires_grad_() if requires_grad else made


def number(name: str, value):
    """A real number, given as such or as a tensor of one element."""
    if isinstance(value, Tensor) or (hasattr(value, "item") and hasattr(value, "dtype")):
        value = value.item()
    if isinstance(value, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    if not isinstance(value, (int, float)):
        raise TypeError(f"{name}(): expected a number, got {type(value).__name__}")
    return int(value) if isinstance(value, bool) else value


# -- arange -----------------------------------------------------------------------------------------
@composite
def arange(
    *args,
    start=None,
    end=None,
    step=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """start, start + step, ... below end (above it for a negative step): `arange(end)`, `arange(start, end[, step])`.

    The dtype is int64 if all numbers are integers, else the default floating point type.

    >>> rushlight.arange(1, 2, 0.25)
    tensor([1.0000, 1.2500, 1.5000, 1.7500])
    """
    if len(args) == 1 and type(args[0]) is int and args[0] >= 0 and start is end is step is dtype is out is None:
        return ramped(args[0], 0, 1, dtypes.int64, requires_grad, device, layout)
    start, end, step = bounds("arange", args, start, end, step)
    dtype = dtype_for(out, dtype) or common_kind(start, end, step)
    check_kind("arange", dtype)
    if dtype.kind in "ui":
        check_steps(start, end, step)
        if dtype is dtypes.int64:
            if int(step) == 0:
                raise ValueError(f"step must be nonzero: {step} is 0 as int64")
            start, end, step = int(start), int(end), int(step)
        count = steps_between(start, end, step)
        start, step = int(start), int(step)
    else:
        count = steps_between(start, end, step)
    made = ramped(count, start, step, dtype, False, device, layout)
    return delivered(made, out, requires_grad)


def bounds(name: str, args: tuple, start, end, step) -> tuple:
    """The three numbers of a range, given by place or by name."""
    if len(args) > 3:
        raise TypeError(f"{name}() takes at most 3 positional arguments but {len(args)} were given")
    if len(args) == 1 and end is None and start is None:
        end = args[0]
    else:
        names = ["start", "end", "step"]
        given = {"start": start, "end": end, "step": step}
        for value in args:
            place = names.pop(0)
            if given[place] is not None:
                raise TypeError(f"{name}() got multiple values for argument '{place}'")
            given[place] = value
        start, end, step = given.values()
    if end is None:
        raise TypeError(f"{name}() missing required argument: 'end'")
    start, step = (0 if start is None else start), (1 if step is None else step)
    return number(name, start), number(name, end), number(name, step)


def common_kind(*numbers):
    return dtypes.int64 if all(isinstance(n, int) for n in numbers) else dtypes.default


def check_kind(name: str, dtype, kinds: str = "uif") -> None:
    if dtype.kind not in kinds:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{scalar_type(dtype)}'")


def check_steps(start, end, step) -> None:
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def steps_between(start, end, step) -> int:
    """How many numbers lie in [start, end)."""
    check_steps(start, end, step)
    if all(isinstance(n, int) for n in (start, end, step)):
        return -((start - end) // step)
    return math.ceil((float(end) - float(start)) / float(step))


@composite
def range(
    start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """start, start + step, ... up to and including end. Deprecated: use `arange`."""
    warnings.warn(
        "range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use arange, which produces values in [start, end).",
        stacklevel=2,
    )
    if end is None:
        start, end = 0, start
    start, end, step = number("range", start), number("range", end), number("range", step)
    dtype = dtype_for(out, dtype) or dtypes.default
    check_kind("range", dtype)
    check_steps(start, end, step)
    count = int((end - start) / step) + 1
    start, step = (int(start), int(step)) if dtype.kind in "ui" else (start, step)
    return delivered(ramped(count, start, step, dtype, False, device, layout), out, requires_grad)


# -- a number of steps ------------------------------------------------------------------------------
def halves(input, steps, start, end, wide):
    """Evenly spaced numbers, counted from the nearer end, so that both ends are met."""
    i = B.iota(input.shape, 0)
    left, right = B.cast(i, wide), B.cast(steps - 1 - i, wide)
    start, end = B.full((), start, wide), B.full((), end, wide)
    step = (end - start) / B.cast(B.full((), steps - 1), wide)
    return B.where(B.lt(i, steps // 2), start + step * left, end - step * right)


@op(inplace=True, narrows=True, public=False)
def line(input, start, end):
    """Evenly spaced numbers that fill `input` from start to end."""
    wide = dtypes.float64 if input.dtype.kind in "ui" else input.dtype
    if input.dtype.itemsize == 2:
        wide = dtypes.float32 if input.dtype.kind == "f" else wide
    return B.cast(halves(input, input.shape[0], start, end, wide), input.dtype)


@op(inplace=True, narrows=True, public=False)
def powers(input, start, end, base):
    """base to the power of evenly spaced numbers."""
    if input.dtype.is_complex:
        exponent = halves(input, input.shape[0], start, end, dtypes.complex128)
        return B.cast(B.pow(B.full((), base, dtypes.complex128), exponent), input.dtype)
    wide = input.dtype if input.dtype.itemsize > 2 and input.dtype.kind == "f" else dtypes.float32
    exponent = B.cast(halves(input, input.shape[0], start, end, wide), dtypes.float64)
    return B.cast(B.pow(B.full((), base, dtypes.float64), exponent), input.dtype)


def spaced(name: str, start, end, steps, fill, out, dtype, layout, device, requires_grad) -> Tensor:
    if not hasattr(steps, "__index__"):
        raise TypeError(f"{name}(): argument 'steps' must be int, not {type(steps).__name__}")
    steps = steps.__index__()
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = end_of_line(name, start), end_of_line(name, end)
    complex_ends = isinstance(start, complex) or isinstance(end, complex)
    dtype = dtype_for(out, dtype) or (dtypes.default_complex() if complex_ends else dtypes.default)
    if complex_ends and not dtype.is_complex:
        raise RuntimeError(
            f"{name}(): inferred dtype {dtypes.default_complex().name} can't be cast to {scalar_type(dtype)}"
        )
    check_kind(name, dtype, "uifc")
    check_options(layout, device)
    made = fresh((steps,), dtype)
    if steps:
        if dtype.kind in "ui":
            start, end = int(start), int(end)
        fill(made, start, end)
    return delivered(made, out, requires_grad)


def end_of_line(name: str, value):
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, got {value.ndim} dimension(s)"
            )
        return value.item()
    if not isinstance(value, (int, float, complex)):
        raise TypeError(f"{name}(): expected a number or 0-dim tensor, got {type(value).__name__}")
    return value


@composite
def linspace(
    start, end, steps, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """`steps` evenly spaced numbers from start to end, both included.

    >>> rushlight.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """

    def fill(made, start, end):
        line.in_place(made, start, end) if len(made) > 1 else made.fill_(start)

    return spaced("linspace", start, end, steps, fill, out, dtype, layout, device, requires_grad)


@composite
def logspace(
    start,
    end,
    steps,
    base=10.0,
    *,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """base to the powers of `steps` evenly spaced numbers from start to end.

    >>> rushlight.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """

    def fill(made, start, end):
        powers.in_place(made, start, end, base) if len(made) > 1 else made.fill_(base**start)

    return spaced("logspace", start, end, steps, fill, out, dtype, layout, device, requires_grad)


# -- matrices ---------------------------------------------------------------------------------------
@op(inplace=True, narrows=True, public=False)
def identity(input):
    """1 on the diagonal, 0 elsewhere."""
    return B.cast(B.eq(*B.places(input.shape, 0, 1)), input.dtype)


@composite
def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """The matrix of n rows and m columns (n unless given) with ones on the diagonal.

    >>> rushlight.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    m = n if m is None else m
    for name, size in (("n", n), ("m", m)):
        if not hasattr(size, "__index__"):
            raise TypeError(f"eye(): argument '{name}' must be int, not {type(size).__name__}")
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    made = fresh((int(n), int(m)), dtype_for(out, dtype), False, device, None, layout)
    if made.numel():
        identity.in_place(made)
    return delivered(made, out, requires_grad)


@op(public=False)
def powers_of(x, count: int, increasing: bool = False):
    """Columns x ** 0, x ** 1, ... of a vector, in falling order unless `increasing`."""
    rows = B.expand(B.unsqueeze(x, 1), (x.shape[0], max(count - 1, 0)))
    made = B.cumprod(B.concat([B.ones((x.shape[0], min(count, 1)), x.dtype), rows], 1), 1, x.dtype)
    return made if increasing else B.flip(made, (1,))


@composite
def vander(x, N=None, increasing=False):
    """The Vandermonde matrix of a vector: its powers as N columns (as many as elements unless given).

    >>> rushlight.vander(rushlight.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    if x.dtype.kind in "bui":
        x = x.long()
    return powers_of(x, count, increasing)
