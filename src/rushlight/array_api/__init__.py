"""The Python array API standard, version 2023.12 (https://data-apis.org/array-api/2023.12/), over tensors.

`x.__array_namespace__()` gives this module. Names, arguments and meanings are the standard's where they differ from
the torch namespace: `axis` and `keepdims`, reductions over several axes, `var` of the whole population, lists of
arrays. One thing tensors keep: `x.size` is the method of PyTorch; `x.numel()` is the number of elements.
"""

from __future__ import annotations

from ..ops import FUNCTIONS as _F
from . import fft, linalg
from .creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from .data_types import DTYPES as _DTYPES
from .data_types import astype, can_cast, finfo, iinfo, isdtype, result_type
from .elementwise import SAME as _SAME
from .elementwise import clip, round, sign
from .inspection import __array_namespace_info__
from .linalg import matmul, matrix_transpose, tensordot, vecdot
from .manipulation import (
    broadcast_arrays,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from .searching import argmax, argmin, argsort, nonzero, searchsorted, sort, take, where
from .sets import unique_all, unique_counts, unique_inverse, unique_values
from .statistics import all, any, cumulative_sum, max, mean, min, prod, std, sum, var

__array_api_version__ = "2023.12"

e, inf, nan, pi, newaxis = 2.718281828459045, float("inf"), float("nan"), 3.141592653589793, None

globals().update(_DTYPES)
globals().update({name: _F[ours] for name, ours in _SAME.items()})

__all__ = sorted(name for name, value in globals().items() if name[0] != "_" and not isinstance(value, type(linalg)))
__all__.remove("annotations")
__all__ += ["__array_api_version__", "__array_namespace_info__", "fft", "linalg"]
