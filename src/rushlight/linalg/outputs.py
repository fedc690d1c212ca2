"""What the functions of this room share: `out=`, and whether a gradient is asked for."""

from __future__ import annotations

from ..core.engine import is_grad_enabled
from ..ir.dtypes import category
from ..ops.checks import scalar_type
from ..ops.writing import check_no_gradient, store


def needs_gradient(A) -> bool:
    """Whether a call is recorded, so that a function of values alone should keep the vectors for its derivative."""
    return is_grad_enabled() and A.requires_grad


def check_safe(name: str, words: tuple, results: tuple, out: tuple) -> tuple:
    """Store results in `out`; RuntimeError where its dtype cannot hold them."""
    for word, result, target in zip(words, results, out, strict=True):
        if category(result.dtype) > category(target.dtype):
            raise RuntimeError(
                f"{name}: Expected {word} to be safely castable from {scalar_type(result.dtype)} dtype, but got {word} "
                f"with dtype {scalar_type(target.dtype)}"
            )
    check_no_gradient(name, results, {}, out)
    return tuple(store(target, result.detach(), name) for result, target in zip(results, out))
