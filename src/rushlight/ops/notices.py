"""Warnings that name the line which the user wrote, however deep in this package they arise."""

from __future__ import annotations

import sys
import warnings

from ..ir import dtypes

PACKAGE = __name__.partition(".")[0]


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the innermost line outside of this package that led here."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_deprecated(name: str, instead: str) -> None:
    """Warn of a function that another one has replaced."""
    module = dtypes._MODULE
    warn_user(f"{module}.{name} is deprecated in favor of {module}.{instead} and will be removed in a future release.")


def warn_of_cast(source, target) -> None:
    """Warn if numbers of a type lose their imaginary parts on the way to another."""
    if source.is_complex and target.kind not in "cb":
        warn_user("Casting complex values to real discards the imaginary part")


def warn_of_freedom(name: str, size: int, correction) -> None:
    """Warn of a variance of no more elements than the correction takes away."""
    if size <= correction:
        warn_user(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel)."
        )
