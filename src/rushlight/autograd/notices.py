"""What autograd tells users: an error and a warning whose occasions the core finds."""

from __future__ import annotations

import sys
import warnings

from ..core import engine
from ..ir import dtypes
from ..ops.notices import PACKAGE


def modified(tensor, expected: int, origin: tuple | None = None) -> RuntimeError:
    """The error for a tensor that a node keeps and that was written since; `origin`: (name of a node, its output)."""
    made_by = "" if origin is None else f", which is output {origin[1]} of {origin[0]},"
    hint = (
        "the backtrace further above shows the operation that failed to compute its gradient. The variable in question "
        "was changed in there or anywhere later."
        if engine.anomaly_mode()[0]
        else "enable anomaly detection to find the operation that failed to compute its gradient, with "
        f"{dtypes._MODULE}.autograd.set_detect_anomaly(True)."
    )
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{tensor.type()} {list(tensor.shape)}]{made_by} is at version {tensor._version}; expected version {expected} "
        f"instead. Hint: {hint}"
    )


def warn_of_grad() -> None:
    """Say that the `.grad` which a user reads will never be set; this package may look without a word."""
    if sys._getframe(1).f_globals.get("__name__", "").startswith(f"{PACKAGE}."):
        return
    warnings.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead.",
        stacklevel=2,
    )


engine.bind("modified", modified)
engine.bind("warn_of_grad", warn_of_grad)
