"""Names for annotations: what functions that take tensors, numbers, sizes, devices and files accept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, Any

from .core import Device as _Device
from .core import Size, Tensor
from .interop.storage import UntypedStorage as Storage
from .ir.dtypes import DType as _dtype

__all__ = ["Device", "FileLike", "Number", "Size", "Storage", "Tensor"]

Number = int | float | bool
Device = _Device | str | int | None
FileLike = str | os.PathLike[str] | IO[bytes]

IntLikeType, FloatLikeType, BoolLikeType = int, float, bool
PySymType = int | float | bool
py_sym_types = ()  # sizes are plain numbers

_TensorOrTensors = Tensor | Sequence[Tensor]
_dtype, _device, _bool, _int, _float, _complex = _dtype, _Device, bool, int, float, complex
_size = Size | list[int] | tuple[int, ...]
_dispatchkey: Any = str
