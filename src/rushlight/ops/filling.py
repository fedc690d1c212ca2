"""Tensors filled with random numbers in place.

Memory is filled in the order it lies in where a tensor is dense, else in row-major order of its elements.
"""

from __future__ import annotations

import functools
import importlib
import math

from ..core import engine
from ..core.engine import Tensor, is_grad_enabled
from ..ir import dtypes
from .checks import every_sample, scalar_type
from .creation import fresh
from .declare import FUNCTIONS, composite


@functools.cache
def source():
    """The module `rushlight.random`, loaded when the first number is drawn."""
    return importlib.import_module("..random", __package__)


def check_generator(name: str, generator) -> None:
    if generator is not None and not hasattr(generator, "state_bytes"):
        raise TypeError(f"{name}(): argument 'generator' must be Generator, not {type(generator).__name__}")


# -- filling tensors --------------------------------------------------------------------------------
def lies_dense(tensor: Tensor) -> bool:
    """Whether memory holds the elements, all of them and nothing else."""
    layout = tensor._layout
    return not layout.bits and (tensor.is_contiguous() or engine.dense_order(layout) is not None)


def drawn_into(tensor: Tensor, draw, *numbers) -> Tensor:
    """Let `draw(tensor, *numbers)` write a dense tensor's memory; others get their numbers from a row-major one."""
    if engine.open_levels():
        from . import batched_random

        return batched_random.drawn_into(tensor, draw, numbers)
    dense = lies_dense(tensor)
    if tensor.requires_grad and is_grad_enabled():
        strides = tensor.stride() if dense else None
        return tensor.copy_(drawn_into(fresh(tuple(tensor.shape), tensor.dtype, strides=strides), draw, *numbers))
    engine.check_writable(tensor)
    if not dense:
        draw = _ONE_BY_ONE.get(draw, draw)
        return tensor.copy_(drawn_into(fresh(tuple(tensor.shape), tensor.dtype), draw, *numbers))
    draw(tensor, *numbers)
    engine.bump_version(tensor)
    return tensor


def drawn(made: Tensor, draw, *numbers, rows: bool = False) -> Tensor:
    """`made`, fresh memory, with what `draw(tensor, *numbers)` writes; under `vmap` as its `randomness` says.

    `rows` says that `draw` fills one sample at a time.
    """
    if engine.open_levels():
        from . import batched_random

        return batched_random.drawn(made, draw, numbers, rows)
    draw(made, *numbers)
    return made


def parts(tensor: Tensor) -> Tensor:
    """Complex numbers, however they lie, are drawn as pairs of real ones."""
    return FUNCTIONS["view_as_real"](tensor)


def draw_uniform(tensor: Tensor, low, high, generator) -> None:
    tensor = parts(tensor) if tensor.dtype.is_complex else tensor
    source().fill_uniform(generator, tensor.data_ptr(), tensor.numel(), tensor.dtype.name, low, high)


def draw_normal(tensor: Tensor, mean, std, generator, serial: bool = False) -> None:
    if tensor.dtype.is_complex:
        tensor, std = parts(tensor), std / math.sqrt(2)
    serial = serial or not tensor.is_contiguous()
    address, name = tensor.data_ptr(), tensor.dtype.name
    source().fill_normal(generator, address, tensor.numel(), name, float(mean), float(std), serial)


def draw_normal_one_by_one(tensor: Tensor, mean, std, generator) -> None:
    """What a tensor gets whose elements lie apart: numbers in pairs, not in blocks."""
    draw_normal(tensor, mean, std, generator, True)


_ONE_BY_ONE = {draw_normal: draw_normal_one_by_one}


def draw_integers(tensor: Tensor, low, high, generator) -> None:
    """Whole numbers in [low, high); up to what the dtype holds if `high` is None, from 0 if `low` is."""
    address, count, name = tensor.data_ptr(), tensor.numel(), tensor.dtype.name
    if high is None and low is None:
        return source().fill_random(generator, address, count, name)
    high = source()._bounds(tensor.dtype)[1] + 1 if high is None else high
    return source().fill_randint(generator, address, count, name, 0 if low is None else int(low), int(high))


def between(name: str, args: tuple, given: dict, low, high) -> tuple:
    """Two numbers called `from` (a word of Python's, so only by place or **) and `to`."""
    if not args and not given:
        return low, high
    if len(args) > 2:
        raise TypeError(f"{name}() takes at most 2 positional arguments but {len(args)} were given")
    bound = dict(zip(("from", "to"), args))
    for key, value in given.items():
        if key not in ("from", "to") or key in bound:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        bound[key] = value
    return bound.get("from", low), bound.get("to", high)


@composite(method=True, public=False)
def uniform_(input, *args, generator=None, **given):
    """Fill with uniform numbers in [from, to): `uniform_(from=0, to=1)`."""
    low, high = between("uniform_", args, given, 0.0, 1.0)
    check_generator("uniform_", generator)
    return drawn_into(input, draw_uniform, low, high, generator)


@composite(method=True, public=False)
def normal_(input, mean=0.0, std=1.0, *, generator=None):
    """Fill with normal numbers of the given mean and standard deviation."""
    check_generator("normal_", generator)
    return drawn_into(input, draw_normal, mean, std, generator)


@composite(method=True, public=False)
def random_(input, *args, generator=None, **given):
    """Fill with whole numbers: `random_()` up to the dtype's largest, `random_(to)`, `random_(from, to)`."""
    if len(args) == 1 and not given:
        args = (None, *args)
    low, high = between("random_", args, given, None, None)
    check_generator("random_", generator)
    return drawn_into(input, draw_integers, low, high, generator)


def _in_place(name: str, defaults: dict, summary: str):
    """A filler whose numbers have names and defaults."""

    def draw(tensor, numbers, generator):
        filler = getattr(source(), "fill_" + name[:-1])
        filler(generator, tensor.data_ptr(), tensor.numel(), tensor.dtype.name, *numbers)

    def method(input, *args, generator=None, **given):
        bound = defaults | dict(zip(defaults, args)) | given
        if len(args) > len(defaults) or len(bound) > len(defaults):
            raise TypeError(f"{name}(): takes {', '.join(defaults)} and generator, got {args} and {given}")
        missing = [key for key, value in bound.items() if value is None]
        if missing:
            raise TypeError(f"{name}() missing required argument: '{missing[0]}'")
        check_generator(name, generator)
        return drawn_into(input, draw, [float(value) for value in bound.values()], generator)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = summary
    return composite(method, method=True, public=False)


exponential_ = _in_place("exponential_", {"lambd": 1.0}, "Fill with numbers of density lambd exp(-lambd x).")
cauchy_ = _in_place("cauchy_", {"median": 0.0, "sigma": 1.0}, "Fill with numbers of the Cauchy distribution.")
log_normal_ = _in_place("log_normal_", {"mean": 1.0, "std": 2.0}, "Fill with exp of normal numbers.")
geometric_ = _in_place("geometric_", {"p": None}, "Fill with the number of trials up to a success of probability p.")


# -- yes or no --------------------------------------------------------------------------------------
@composite(method=True, public=False)
def bernoulli_(input, p=0.5, *, generator=None):
    """Fill with 1 where a trial of probability `p` (a number, or a tensor that broadcasts) succeeds, else 0."""
    check_generator("bernoulli_", generator)
    if not isinstance(p, Tensor):
        return drawn_into(input, draw_trials, float(p), generator)
    if engine.open_levels():
        check_chances(p)
        return input.copy_(uniform_(fresh(tuple(input.shape), dtypes.float64, like=input), generator=generator) < p)
    if p.shape == input.shape and p.is_contiguous() and input.is_contiguous():
        chances = p
    else:
        order = engine.dense_order(input._layout) or range(input.ndim)
        chances = p.detach().expand(input.shape).permute(*order).contiguous() if input.ndim else p.detach().contiguous()
    check_chances(chances)
    return drawn_into(input, draw_trials_of, chances, generator)


def draw_trials_of(tensor: Tensor, chances: Tensor, generator) -> None:
    place = chances.data_ptr(), chances.dtype.name
    source().fill_bernoulli_tensor(generator, tensor.data_ptr(), tensor.numel(), tensor.dtype.name, *place)


def draw_trials(tensor: Tensor, p: float, generator) -> None:
    source().fill_bernoulli(generator, tensor.data_ptr(), tensor.numel(), tensor.dtype.name, p)


def check_chances(p: Tensor) -> None:
    if not p.is_floating_point():
        raise NotImplementedError(f"\"bernoulli_tensor_cpu_p_\" not implemented for '{scalar_type(p.dtype)}'")
    p = every_sample(p)
    if p.numel() and not bool(((p >= 0) & (p <= 1)).all()):
        raise RuntimeError("bernoulli expects all probabilities p to be in [0, 1]")
