"""NumPy arrays in files, as the bytes of a storage: states of generators, tables beside a model."""

from __future__ import annotations

import math

from ..core.engine import Tensor

KINDS = {
    "bool": "|b1",
    **{f"{kind}{8 * size}": f"<{kind[0]}{size}" for kind in ("int", "uint") for size in (1, 2, 4, 8)},
}
KINDS |= {"float16": "<f2", "float32": "<f4", "float64": "<f8", "complex64": "<c8", "complex128": "<c16"}


def is_array(value) -> bool:
    """Whether a value is a NumPy array of numbers, without loading NumPy."""
    cls = type(value)
    return cls.__module__ == "numpy" and cls.__name__ == "ndarray" and value.dtype.name in KINDS


def describe_array(array, tensor_of) -> dict:
    """An array's description; `tensor_of` describes the tensor of its bytes."""
    import numpy as np

    from ..interop.arrays import from_numpy

    flat = np.array(array, dtype=KINDS[array.dtype.name], order="C", copy=True).reshape(-1)
    described = {"kind": "array", "name": array.dtype.name, "shape": list(array.shape)}
    return described | {"bytes": tensor_of(from_numpy(flat.view(np.uint8)))}


def build_array(name, shape: list[int], content: Tensor):
    """The array; ValueError if its parts do not fit."""
    import numpy as np

    if not isinstance(name, str) or name not in KINDS:
        raise ValueError(f"an array of unknown type {str(name)[:40]!r}")
    dtype = np.dtype(KINDS[name])
    if content.dtype.name != "uint8" or content.ndim != 1 or len(content) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"an array of shape {shape[:8]} whose bytes do not fit")
    return content.numpy().copy().view(dtype).reshape(shape)
