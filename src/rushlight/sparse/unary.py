"""Functions of single elements that map zero to zero: they act on the values alone."""

from __future__ import annotations

from .. import ops
from ..core.engine import Tensor
from ..ops.declare import FUNCTIONS, METHODS
from . import graph
from .convert import coalesce
from .dispatch import implements
from .parts import COO, kind_of, parts_of

# of sums: values of equal indices must be added before
_OF_ELEMENTS = (
    "abs", "angle", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "erf", "erfinv", "expm1", "floor",
    "frac", "isinf", "isnan", "isneginf", "isposinf", "log1p", "nan_to_num", "rad2deg", "relu", "round", "sgn",
    "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
# linear ones, which may be taken of the summands
_LINEAR = ["neg", "positive", "conj", "resolve_conj", "resolve_neg", "conj_physical"]


def merged(input: Tensor) -> Tensor:
    """The tensor with each place once; compressed ones are taken to be so."""
    return coalesce(input) if kind_of(input) == COO else input


def title(name: str) -> str:
    from ..ops.titles import title_of

    return title_of(name, ())


def _of_values(name: str, function, linear: bool):
    def apply(input, *args, **kwargs):
        source = input if linear else merged(input)
        return graph.rebuilt(source.detach(), function(graph.values(source), *args, **kwargs), title(name))

    return apply


def _register() -> None:
    for names, linear in ((_OF_ELEMENTS, False), (_LINEAR, True)):
        for name in names:
            function = FUNCTIONS.get(name) or METHODS.get(name)
            if function is not None:
                implements(name)(_of_values(name, function, linear))


_register()


@implements("real")
def real(input: Tensor) -> Tensor:
    """The real part; real tensors are their own."""
    if not input.is_complex():
        return input
    return graph.rebuilt(input.detach(), ops.real(graph.values(input)), "SelectBackward0")


@implements("imag")
def imag(input: Tensor) -> Tensor:
    """The imaginary part of a complex tensor."""
    if not input.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return graph.rebuilt(input.detach(), ops.imag(graph.values(input)), "SelectBackward0")


@implements("pow")
def pow(input, exponent) -> Tensor:
    """Powers with a positive number as exponent (any other would fill the tensor, or be infinite at zeros)."""
    if kind_of(exponent) or not kind_of(input) or (isinstance(exponent, Tensor) and exponent.ndim):
        raise NotImplementedError(
            "Could not run 'aten::pow.Tensor_Tensor' with arguments from the 'SparseCPU' backend: a sparse tensor is "
            "raised to a number"
        )
    number = exponent.item() if isinstance(exponent, Tensor) else exponent
    if number == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    source = merged(input)
    return graph.rebuilt(source.detach(), graph.values(source) ** exponent, "PowBackward0")


# -- copies and dtypes --------------------------------------------------------------------------
@implements("clone")
def clone(input: Tensor, *, memory_format=None) -> Tensor:
    """A copy whose parts are copies."""
    from .parts import Compressed, compressed, coo

    parts = parts_of(input)
    if isinstance(parts, Compressed):
        made = compressed(
            kind_of(input), parts.pointers.clone(), parts.places.clone(), parts.values.clone(), input.shape
        )
    else:
        made = coo(parts.indices.clone(), parts.values.clone(), input.shape, parts.coalesced)
    return graph.record(made, "CloneBackward0", [input], lambda g: (g,))


def converted(input: Tensor, dtype) -> Tensor:
    """The tensor in another dtype; itself if it has that dtype."""
    if input.dtype is dtype:
        return input
    return graph.rebuilt(input.detach(), graph.values(input).to(dtype), "ToCopyBackward0")


@implements("converted")
def converted_to(input: Tensor, dtype) -> Tensor:
    """See `Tensor.to`."""
    return converted(input, dtype)


def _register_casts() -> None:
    from ..ir import dtypes

    casts = {
        "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
        "int": dtypes.int32, "long": dtypes.int64, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8,
        "bool": dtypes.bool_, "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
    }  # fmt: skip
    for name, dtype in casts.items():
        implements(name)(lambda input, memory_format=None, dtype=dtype: converted(input, dtype))


_register_casts()


@implements("to", anywhere=True)
def to(input: Tensor, *args, device=None, dtype=None, non_blocking=False, copy=False, memory_format=None) -> Tensor:
    """The tensor in another dtype; see `Tensor.to`."""
    from ..ops.copying import destination
    from ..ops.dtypes import dtype_argument
    from .construct import check_device

    if not kind_of(input):  # dense.to(sparse): the dtype of the other
        return input.to(args[0].dtype, *args[1:], copy=copy)
    if args:
        device, dtype, copy = destination(args, device, dtype, copy)
    check_device(device)
    result = input if dtype is None else converted(input, dtype_argument(dtype))
    return clone(result) if copy and result is input else result


@implements("type_as", anywhere=True)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of `other`."""
    return converted(input, other.dtype) if kind_of(input) else input.to(other.dtype)


@implements("type")
def type_of(input: Tensor, dtype=None, non_blocking=False, **kwargs):
    """The type's name, such as "torch.sparse.FloatTensor", or the tensor in another dtype."""
    from ..ir import dtypes
    from ..ops import tensor_types

    if dtype is not None:
        return tensor_types.type_(input, dtype)
    if kind_of(input) != COO:
        raise RuntimeError("Unimplemented backend SparseCsrCPU")
    return f"{dtypes._MODULE}.sparse.{tensor_types._BY_DTYPE[input.dtype]}"
