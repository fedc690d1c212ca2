"""What half types compute in."""

from __future__ import annotations

import functools

from ..ir import build as B
from ..ir.dtypes import float32


def wide_type(dtype):
    """Half types compute in float32."""
    return float32 if dtype.name in ("float16", "bfloat16") else dtype


def rounded_once(body):
    """An op's body of which, for half types, only the result is rounded."""

    @functools.wraps(body)
    def rounded(input, *args, **kwargs):
        dtype = wide_type(input.dtype)
        if dtype is input.dtype:
            return body(input, *args, **kwargs)
        return B.cast(body(B.cast(input, dtype), *args, **kwargs), input.dtype)

    return rounded
