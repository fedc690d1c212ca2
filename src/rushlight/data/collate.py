"""From a list of samples to a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import ops
from ..core import Tensor
from ..ir.dtypes import float64

NUMPY_OBJECTS = ("S", "U", "O", "V")  # kinds of array elements that are no numbers


def default_collate(batch: list):
    """Joins samples of equal structure into one with a batch dimension in front.

    Tensors and NumPy arrays are stacked (sizes must agree); numbers become a tensor, floats of dtype float64; strings
    stay a list; dictionaries, named tuples, tuples and lists are joined entry by entry. TypeError for anything else.
    """
    first = batch[0]
    kind = type(first)
    if isinstance(first, Tensor):
        return ops.stack(batch)
    if kind.__module__ == "numpy" and hasattr(first, "dtype"):
        return _collate_numpy(batch)
    if isinstance(first, float):
        return ops.tensor(batch, dtype=float64)
    if isinstance(first, int):
        return ops.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _same_mapping(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*map(default_collate, zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = list(map(default_collate, zip(*batch)))
        return columns if isinstance(first, tuple) else _same_sequence(first, columns)
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}")


def _collate_numpy(batch: list):
    first = batch[0]
    if first.dtype.kind in NUMPY_OBJECTS:
        raise TypeError(
            f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {first.dtype}"
        )
    if first.shape == ():  # scalars, whose memory can not be shared
        return ops.as_tensor(batch)
    return ops.stack([ops.as_tensor(array) for array in batch])


def default_convert(data):
    """NumPy arrays inside of a sample as tensors; what `DataLoader` does without batches."""
    kind = type(data)
    if isinstance(data, Tensor):
        return data
    if kind.__module__ == "numpy" and hasattr(data, "dtype"):
        return data if kind.__name__ == "ndarray" and data.dtype.kind in NUMPY_OBJECTS else ops.as_tensor(data)
    if isinstance(data, Mapping):
        return _same_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*(default_convert(value) for value in data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        converted = [default_convert(value) for value in data]
        return converted if isinstance(data, tuple) else _same_sequence(data, converted)
    return data


def _same_mapping(original: Mapping, values: dict):
    """The values in a mapping of the original's type, if it can be made from a dictionary."""
    if type(original) is dict:
        return values
    try:
        return type(original)(values)
    except TypeError:
        return values


def _same_sequence(original: Sequence, values: list):
    if type(original) is list:
        return values
    try:
        return type(original)(values)
    except TypeError:
        return values
