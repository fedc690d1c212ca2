"""Random tensors: the catalogue over the generators of `rushlight.random`, with PyTorch's streams.

Memory is filled in the order it lies in where a tensor is dense, else in row-major order of its elements.
"""

from __future__ import annotations

import functools
import importlib
import math

from ..core import engine
from ..core.engine import Tensor, is_grad_enabled
from ..ir import dtypes
from .creation import delivered, dtype_for, fresh, sizes_of, strides_like
from .declare import composite
from .memory_format import preserve_format


@functools.cache
def source():
    """The module `rushlight.random`, loaded when the first number is drawn."""
    return importlib.import_module("..random", __package__)


def check_generator(name: str, generator) -> None:
    if generator is not None and not hasattr(generator, "state_bytes"):
        raise TypeError(f"{name}(): argument 'generator' must be Generator, not {type(generator).__name__}")


# -- filling tensors --------------------------------------------------------------------------------
def lies_dense(tensor: Tensor) -> bool:
    return tensor.is_contiguous() or engine.dense_order(tensor._layout) is not None


def drawn_into(tensor: Tensor, draw, *numbers) -> Tensor:
    """Let `draw(tensor, *numbers)` write a dense tensor's memory; others get their numbers from a row-major one."""
    dense = lies_dense(tensor)
    if tensor.requires_grad and is_grad_enabled():
        strides = tensor.stride() if dense else None
        return tensor.copy_(drawn_into(fresh(tuple(tensor.shape), tensor.dtype, strides=strides), draw, *numbers))
    engine.check_writable(tensor)
    if not dense:
        return tensor.copy_(drawn_into(fresh(tuple(tensor.shape), tensor.dtype), draw, *numbers))
    draw(tensor, *numbers)
    engine.bump_version(tensor)
    return tensor


def parts(tensor: Tensor) -> Tensor:
    """Complex numbers are drawn as pairs of real ones."""
    return tensor.view(tensor.dtype.to_real()) if tensor.ndim else tensor.reshape(1).view(tensor.dtype.to_real())


def draw_uniform(tensor: Tensor, low, high, generator) -> None:
    tensor = parts(tensor) if tensor.dtype.is_complex else tensor
    source().fill_uniform(generator, tensor.data_ptr(), tensor.numel(), tensor.dtype.name, low, high)


def draw_normal(tensor: Tensor, mean, std, generator) -> None:
    if tensor.dtype.is_complex:
        tensor, std = parts(tensor), std / math.sqrt(2)
    serial = not tensor.is_contiguous()
    address, name = tensor.data_ptr(), tensor.dtype.name
    source().fill_normal(generator, address, tensor.numel(), name, float(mean), float(std), serial)


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
        raise NotImplementedError(f'"bernoulli_tensor_cpu_p_" not implemented for {p.dtype.name}')
    if p.numel() and not bool(((p >= 0) & (p <= 1)).all()):
        raise RuntimeError("bernoulli expects all probabilities p to be in [0, 1]")


@composite(method=True)
def bernoulli(input, p=None, *, generator=None, out=None):
    """1 with the probability that the input gives at each place (or `p` everywhere), else 0."""
    made = fresh(tuple(input.shape), input.dtype)
    bernoulli_(made, input if p is None else p, generator=generator)
    return delivered(made, out)


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
        check_generator(name, generator)
        dtype = dtype if out is None else dtype_for(out, dtype)
        made = fresh(sizes_of(sizes, size), dtype, False, device, None, layout)
        draw(made, 0.0, 1.0, generator)
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
    else:
        low, high, size = integer_bounds("randint", args, {"low": low, "high": high, "size": size})
    check_generator("randint", generator)
    dtype = dtype_for(out, dtype) if out is not None or dtype is not None else dtypes.int64
    made = fresh(sizes_of((), size), dtype, False, device, None, layout)
    draw_integers(made, low, high, generator)
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
    source().fill_randperm(generator, made.data_ptr(), int(n), made.dtype.name)
    return delivered(made, out, requires_grad)


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
        made = fresh(tuple(input.shape), dtype or input.dtype, False, device, strides, layout)
        check_generator(name, generator)
        draw(made, 0.0, 1.0, generator)
        return delivered(made, None, requires_grad)

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
    made = fresh(tuple(input.shape), dtype or input.dtype, False, device, strides, layout)
    draw_integers(made, low, high, generator)
    return delivered(made, None, requires_grad)


# -- with parameters --------------------------------------------------------------------------------
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
        return delivered(normal_(made, mean, std, generator=generator), out, requires_grad)
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


def check_weights(weights, count: int, replacement: bool) -> None:
    if not weights.is_floating_point():
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {weights.dtype.name}")
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
    rates = input.detach().contiguous()
    if not rates.is_floating_point():
        raise NotImplementedError(f'"poisson_cpu" not implemented for {rates.dtype.name}')
    if rates.numel() and bool((rates < 0).any()):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    made = fresh(tuple(rates.shape), rates.dtype)
    source().fill_poisson(generator, made.data_ptr(), made.numel(), made.dtype.name, rates.data_ptr())
    return made


@composite
def binomial(count, prob, generator=None):
    """Successes in `count` trials of probability `prob`, two floating point tensors that broadcast."""
    check_generator("binomial", generator)
    for name, x in (("count", count), ("prob", prob)):
        if not x.is_floating_point():
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {x.dtype.name}")
    if count.dtype is not prob.dtype:
        raise RuntimeError(f"Found dtype {prob.dtype.name} but expected {count.dtype.name}")
    shape = joint_shape(count, prob)
    trials, chances = (x.detach().expand(shape).contiguous() for x in (count, prob))
    made = fresh(shape, count.dtype)
    places = trials.data_ptr(), chances.data_ptr()
    source().fill_binomial(generator, made.data_ptr(), made.numel(), made.dtype.name, *places)
    return made
