"""Random tensors: the catalogue over the generators of `rushlight.random`, with PyTorch's streams."""

from __future__ import annotations

import math

from ..core import engine
from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from .checks import scalar_type
from .creation import delivered, dtype_for, fresh, place_of, sizes_of, strides_like
from .declare import composite, op
from .filling import (
    bernoulli_,
    check_generator,
    draw_integers,
    draw_normal,
    draw_uniform,
    drawn,
    exponential_,
    normal_,
    source,
)
from .memory_format import preserve_format


# -- from sizes -------------------------------------------------------------------------------------
def _sized(name: str, draw, summary: str):
    def function(
        *sizes,
        size=None,
        generator=None,
        out=None,
        dtype=None,
        layout=None,
        device=None,
        requires_grad=False,
        pin_memory=False,
    ):
        if generator is size is out is layout is device is None and not requires_grad:
            made = engine.filled_tensor(sizes, None, dtypes.default if dtype is None else dtype)
            if made is not None:
                return drawn(made, draw, 0.0, 1.0, None)
        check_generator(name, generator)
        dtype = dtype if out is None else dtype_for(out, dtype)
        made = drawn(fresh(sizes_of(sizes, size), dtype, False, device, None, layout), draw, 0.0, 1.0, generator)
        return delivered(made, out, requires_grad) if out is not None or requires_grad else made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return composite(function)


rand = _sized("rand", draw_uniform, "Uniform numbers in [0, 1).")
randn = _sized("randn", draw_normal, "Normal numbers of mean 0 and standard deviation 1.")


@composite
def randint(
    *args,
    low=None,
    high=None,
    size=None,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """Whole numbers in [low, high), int64 unless a dtype is given: `randint([low,] high, size)`."""
    if len(args) == 2 and type(args[0]) is int and low is high is size is None:
        low, (high, size) = 0, args
    elif len(args) == 3 and type(args[0]) is type(args[1]) is int and low is high is size is None:
        low, high, size = args
    else:
        low, high, size = integer_bounds("randint", args, {"low": low, "high": high, "size": size})
    check_generator("randint", generator)
    dtype = dtype_for(out, dtype) if out is not None or dtype is not None else dtypes.int64
    made = fresh(sizes_of((), size), dtype, False, device, None, layout)
    made = drawn(made, draw_integers, low, high, generator)
    return delivered(made, out, requires_grad)


def integer_bounds(name: str, args: tuple, given: dict) -> list:
    """`f(high, ...)` or `f(low, high, ...)`, by place or name; low is 0 unless given."""
    names = list(given)
    given = {key: value for key, value in given.items() if value is not None}
    free = [key for key in names if key not in given]
    if len(args) < len(free):
        free = [key for key in free if key != "low"]
    if len(args) != len(free):
        raise TypeError(
            f"{name}() received an invalid combination of arguments: {len(args)} by place, {list(given)} by name"
        )
    given |= dict(zip(free, args))
    for key in ("low", "high"):
        value = given.setdefault(key, 0)
        if not hasattr(value, "__index__"):
            raise TypeError(f"{name}(): argument '{key}' must be int, not {type(value).__name__}")
        given[key] = value.__index__()
    return [given[key] for key in names]


@composite
def randperm(
    n,
    *,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """A random permutation of 0 to n - 1, int64 unless a dtype is given."""
    check_generator("randperm", generator)
    made = fresh((int(n),), dtype_for(out, dtype) or dtypes.int64, False, device, None, layout)
    return delivered(drawn(made, draw_permutation, generator, rows=True), out, requires_grad)


def draw_permutation(made: Tensor, generator) -> None:
    source().fill_randperm(generator, made.data_ptr(), made.numel(), made.dtype.name)


# -- like another tensor ----------------------------------------------------------------------------
def _like(name: str, draw, summary: str):
    def function(
        input,
        *,
        generator=None,
        dtype=None,
        layout=None,
        device=None,
        requires_grad=False,
        pin_memory=False,
        memory_format=preserve_format,
    ):
        strides = strides_like(input, memory_format)
        made = fresh(tuple(input.shape), dtype or input.dtype, False, place_of(input, device), strides, layout)
        check_generator(name, generator)
        return delivered(drawn(made, draw, 0.0, 1.0, generator), None, requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return composite(function)


rand_like = _like("rand_like", draw_uniform, "Uniform numbers in [0, 1), of the shape and dtype of `input`.")
randn_like = _like("randn_like", draw_normal, "Standard normal numbers, of the shape and dtype of `input`.")


@composite
def randint_like(
    input,
    *args,
    low=None,
    high=None,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
    memory_format=preserve_format,
):
    """Whole numbers in [low, high), of the shape and dtype of `input`: `randint_like(input, [low,] high)`."""
    low, high = integer_bounds("randint_like", args, {"low": low, "high": high})
    check_generator("randint_like", generator)
    strides = strides_like(input, memory_format)
    made = fresh(tuple(input.shape), dtype or input.dtype, False, place_of(input, device), strides, layout)
    return delivered(drawn(made, draw_integers, low, high, generator), None, requires_grad)


# -- outcomes: functions of probabilities and rates, of slope zero ----------------------------------
def _outcome(name: str):
    def body(input, made: Tensor):
        return made

    body.__name__, body.__doc__ = name, "What was drawn, recorded beside the probabilities that it was drawn with."
    recorded = op(body, public=False, row_major=True)

    @recorded.vjp
    def _(cotangents, outputs, input, made):
        return B.zeros_like(input), None

    return recorded


bernoulli_outcome, poisson_outcome = _outcome("bernoulli_outcome"), _outcome("poisson_outcome")


# -- with parameters --------------------------------------------------------------------------------
@composite(method=True)
def bernoulli(input, p=None, *, generator=None, out=None):
    """1 with the probability that the input gives at each place (or `p` everywhere), else 0."""
    if engine.open_levels():
        return delivered(over_batch(lambda x, p: bernoulli(x, p, generator=generator), input, p), out)
    made = fresh(tuple(input.shape), input.dtype)
    bernoulli_(made, input if p is None else p, generator=generator)
    if out is None and input.requires_grad and engine.is_grad_enabled():
        return bernoulli_outcome(input, made)
    return delivered(made, out)


@composite
def normal(
    mean,
    std=None,
    size=None,
    *,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """Normal numbers; mean and standard deviation are tensors that broadcast, or numbers (then `size` is needed)."""
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        if size is None or std is None:
            raise TypeError("normal() received an invalid combination of arguments: two numbers need a size")
        made = fresh(sizes_of((size,)), dtype_for(out, dtype), False, device, None, layout)
        return delivered(drawn(made, draw_normal, mean, std, generator), out, requires_grad)
    if engine.open_levels():
        return delivered(over_batch(lambda *given: normal(*given, generator=generator), mean, std), out)
    std = 1.0 if std is None else std
    mean = mean.detach() if isinstance(mean, Tensor) else mean
    if not isinstance(std, Tensor):
        made = normal_(empty_as(mean), 0.0, std, generator=generator)
        return delivered(made.add_(mean), out)
    std = std.detach()
    if std.numel() and bool((std < 0).any()):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    if isinstance(mean, Tensor) and mean.shape != std.shape:
        made = fresh(joint_shape(mean, std), mean.dtype)
    else:
        made = empty_as(mean if isinstance(mean, Tensor) else std)
    return delivered(normal_(made, generator=generator).mul_(std).add_(mean), out)


def empty_as(tensor: Tensor) -> Tensor:
    return fresh(tuple(tensor.shape), tensor.dtype, strides=strides_like(tensor, preserve_format))


def joint_shape(a: Tensor, b: Tensor) -> tuple:
    from ..ir.promote import broadcast_shapes

    return broadcast_shapes(tuple(a.shape), tuple(b.shape))


@composite(method=True)
def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    """Indices (int64) of `num_samples` categories drawn in proportion to the weights of each row.

    input: (categories,) or (rows, categories), floating point, not negative, no row all zero.
    """
    if engine.open_levels():
        return delivered(over_batch(lambda x: of_rows(x, num_samples, replacement, generator), input), out)
    check_weights(input, num_samples, replacement)
    weights = input.detach()
    if replacement and num_samples > 1:
        return delivered(with_replacement(weights, num_samples, generator), out)
    if not bool(((weights < math.inf) & (weights >= 0)).all()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if bool((weights.sum(-1) == 0).any()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    # the largest of weights over exponential numbers: each category wins in proportion to its weight
    ratios = weights / exponential_(empty_as(weights), generator=generator)
    if num_samples == 1:
        return delivered(ratios.argmax(-1, True), out)
    return delivered(ratios.topk(num_samples)[1], out)


def over_batch(function, *tensors) -> Tensor:
    """A sampler's numbers under `vmap`."""
    from .batched_random import sampled

    return sampled(function, *tensors)


def of_rows(weights: Tensor, count: int, replacement: bool, generator) -> Tensor:
    """`multinomial` of the last dim, whatever comes before it."""
    if weights.ndim < 3:
        return multinomial(weights, count, replacement, generator=generator)
    found = multinomial(weights.reshape((-1, weights.shape[-1])), count, replacement, generator=generator)
    return found.reshape((*weights.shape[:-1], count))


def check_weights(weights, count: int, replacement: bool) -> None:
    if not weights.is_floating_point():
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {scalar_type(weights.dtype)}"
        )
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if count <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and count > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if weights.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")


def with_replacement(weights: Tensor, count: int, generator) -> Tensor:
    if not bool((weights >= 0).all()):
        raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
    if not bool((weights < math.inf).all()):
        raise RuntimeError("invalid multinomial distribution (encountering probability entry = infinity or NaN)")
    if bool((weights.sum(-1) <= 0).any()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    weights = weights.contiguous()
    made = fresh((*weights.shape[:-1], count), dtypes.int64)
    rows, categories = weights.numel() // weights.shape[-1], weights.shape[-1]
    source().fill_multinomial(
        generator, made.data_ptr(), weights.data_ptr(), weights.dtype.name, rows, categories, count
    )
    return made


# -- numbers of events ------------------------------------------------------------------------------
@composite
def poisson(input, generator=None):
    """Numbers of events of the rates that the input gives (not negative), each of its dtype."""
    check_generator("poisson", generator)
    if engine.open_levels():
        return over_batch(lambda x: poisson(x, generator), input)
    rates = input.detach().contiguous()
    if not rates.is_floating_point():
        raise NotImplementedError(f"\"poisson_cpu\" not implemented for '{scalar_type(rates.dtype)}'")
    if rates.numel() and bool((rates < 0).any()):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    made = fresh(tuple(rates.shape), rates.dtype)
    source().fill_poisson(generator, made.data_ptr(), made.numel(), made.dtype.name, rates.data_ptr())
    return poisson_outcome(input, made) if input.requires_grad and engine.is_grad_enabled() else made


@composite
def binomial(count, prob, generator=None):
    """Successes in `count` trials of probability `prob`, two floating point tensors that broadcast."""
    check_generator("binomial", generator)
    if engine.open_levels():
        return over_batch(lambda n, p: binomial(n, p, generator), count, prob)
    for name, x in (("count", count), ("prob", prob)):
        if not x.is_floating_point():
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {scalar_type(x.dtype)}")
    if count.dtype is not prob.dtype:
        raise RuntimeError(f"Found dtype {scalar_type(prob.dtype)} but expected {scalar_type(count.dtype)}")
    shape = joint_shape(count, prob)
    trials, chances = (x.detach().expand(shape).contiguous() for x in (count, prob))
    made = fresh(shape, count.dtype)
    places = trials.data_ptr(), chances.data_ptr()
    source().fill_binomial(generator, made.data_ptr(), made.numel(), made.dtype.name, *places)
    return made
