"""The softmax family."""

from __future__ import annotations

import warnings

from ..ir import build as B
from ..ir.sizes import product
from .activation import FUNCTIONAL
from .checks import check_kinds
from .declare import op
from .widths import wide_type


def prepared(x, dim: int, dtype, name: str):
    """The input in the type to compute with, and the dim as a non-negative number."""
    x = x if dtype is None else B.cast(x, dtype)
    d = B.wrap_dim(dim, x.ndim)
    if product(x.shape) != 0:
        check_kinds(f"{name}_kernel_impl", x.dtype, "f")
    return x, d


def shifted(x, dim):
    """x minus its maximum along `dim`, which keeps exponentials in range."""
    if type(x.shape[dim]) is int and x.shape[dim] == 0:
        return x
    return x - B.max(x, (dim,), True)


@op(method=True, out=True)
def softmax(input, dim: int, dtype: Dtype = None):
    """exp(input) / sum(exp(input)) along `dim`.

    >>> rushlight.softmax(rushlight.tensor([0.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
    """
    x, d = prepared(input, dim, dtype, "softmax")
    if x.ndim == 0:
        return B.ones_like(x)
    wide = B.cast(x, wide_type(x.dtype))
    e = B.exp(shifted(wide, d))
    return B.cast(e / B.sum(e, (d,), True), x.dtype)


@softmax.vjp
def _(cotangents, outputs, input, dim, dtype=None):
    y, g = outputs[0], cotangents[0]
    if input.ndim == 0:
        return B.zeros_like(input)
    y, g = B.cast(y, wide_type(y.dtype)), B.cast(g, wide_type(y.dtype))
    return y * (g - B.sum(g * y, (B.wrap_dim(dim, input.ndim),), True))


@op(method=True, out=True)
def log_softmax(input, dim: int, dtype: Dtype = None):
    """log(softmax(input)) along `dim`, without overflow."""
    x, d = prepared(input, dim, dtype, "log_softmax")
    if x.ndim == 0:
        return B.zeros_like(x)
    wide = shifted(B.cast(x, wide_type(x.dtype)), d)
    return B.cast(wide - B.log(B.sum(B.exp(wide), (d,), True)), x.dtype)


@log_softmax.vjp
def _(cotangents, outputs, input, dim, dtype=None):
    y, g = outputs[0], cotangents[0]
    if input.ndim == 0:
        return B.zeros_like(input)
    y, g = B.cast(y, wide_type(y.dtype)), B.cast(g, wide_type(y.dtype))
    return g - B.exp(y) * B.sum(g, (B.wrap_dim(dim, input.ndim),), True)


@op(public=False)
def softmin_of(input, dim: int, dtype: Dtype = None):
    """softmax(-input) along `dim`."""
    return softmax(-input, dim, dtype)


# -- the functional forms ---------------------------------------------------------------------------
def implicit_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dim that old programs leave out: channels of a batch, or of a single sample."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in (0, 1, 3) else 1


def _functional(name: str, declared, word: str) -> None:
    def function(input, dim=None, _stacklevel=3, dtype=None):
        if dim is None:
            dim = implicit_dim(name, input.ndim, _stacklevel)
        return declared(input, dim) if dtype is None else declared(input, dim, dtype)

    function.__name__ = name
    function.__doc__ = f"{word} along `dim`, computed in `dtype` if one is given."
    FUNCTIONAL[name] = function


_functional("softmax", softmax, "exp(input) / sum(exp(input))")
_functional("log_softmax", log_softmax, "log(softmax(input)), without overflow,")
_functional("softmin", softmin_of, "softmax(-input)")
