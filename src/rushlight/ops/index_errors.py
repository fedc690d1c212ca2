"""What to raise once a kernel has found an index out of bounds: errors that name the number which the user gave.

Kernels see indices after negative ones have been counted from the end; a call comes here only when it has failed.
"""

from __future__ import annotations

from ..core import engine
from ..core.engine import IndexOutOfRange, Plan, Tensor
from .checks import every_sample

WRAPPING = {"take_at", "put_at", "fill_slices", "gather_along"}  # indices from the end are counted in the body
FLAT = {"take", "put", "put_places"}  # indices count the elements of the flattened input
TARGETS = {"nll_of", "cross_entropy_classes", "multi_margin_of", "multilabel_margin_of"}


def out_of_bounds(plan: Plan, flat: list, index: int, dim: int, size: int) -> Exception:
    """The error for a call with flat arguments `flat` whose kernel met an index that a dim has no place for."""
    structure = getattr(plan.derive, "__self__", None)
    name = getattr(getattr(getattr(structure, "called", None), "declaration", None), "name", "")
    if name in FLAT:
        return flat_error(*flat[:2])
    if name == "masked_scatter":
        return IndexOutOfRange("masked_scatter: Number of elements of source < number of ones in mask")
    if name in TARGETS:
        return IndexOutOfRange(f"Target {index} is out of bounds.")
    if name in WRAPPING and index < 0:
        index -= size
    return IndexOutOfRange(f"index {index} is out of bounds for dimension {dim} with size {size}")


def flat_error(input: Tensor, index: Tensor) -> IndexOutOfRange:
    """The error that names one of the places which a tensor does not have."""
    count, places = input.numel(), every_sample(index).reshape((-1,)).tolist()
    place = next(place for place in places if not -count <= place < count)
    return IndexOutOfRange(f"out of range: tried to access index {place} on a tensor of {count} elements.")


engine.bind("out_of_bounds", out_of_bounds)
