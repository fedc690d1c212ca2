"""Element types that exist by name alone: programs may speak of them, compare them and ask for their limits; no tensor
has them.
"""

from __future__ import annotations

from .dtypes import DType, float16, int8, int32, uint8

# name: kind, bytes
_NAMES = {
    "complex32": ("c", 4),
    **{f"float8_{form}": ("f", 1) for form in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")},
    "float4_e2m1fn_x2": ("f", 1),
    **{f"uint{bits}": ("u", 1) for bits in range(1, 8)},
    **{f"int{bits}": ("i", 1) for bits in range(1, 8)},
    **{name: ("o", size) for name, size in {"bits1x8": 1, "bits2x4": 1, "bits4x2": 1, "bits8": 1, "bits16": 2}.items()},
    **{
        name: ("q", size) for name, size in {"quint8": 1, "qint8": 1, "qint32": 4, "quint4x2": 1, "quint2x4": 1}.items()
    },
}
NAMED = {name: DType(name, kind, itemsize, exists=False) for name, (kind, itemsize) in _NAMES.items()}
NAMED["complex32"].part = float16
# quantized types that tensors have: which integers lie in memory, and what messages and types of old call them
REPRESENTATION = {NAMED["quint8"]: uint8, NAMED["qint8"]: int8, NAMED["qint32"]: int32}
TITLES = {NAMED["quint8"]: "QUInt8", NAMED["qint8"]: "QInt8", NAMED["qint32"]: "QInt32"}

# eps, greatest number, least normal number, least denormal one
FLOAT8_LIMITS = {
    "float8_e4m3fn": (2.0**-3, 448.0, 2.0**-6, 2.0**-9),
    "float8_e5m2": (2.0**-2, 57344.0, 2.0**-14, 2.0**-16),
    "float8_e4m3fnuz": (2.0**-3, 240.0, 2.0**-7, 2.0**-10),
    "float8_e5m2fnuz": (2.0**-3, 57344.0, 2.0**-15, 2.0**-17),
    "float8_e8m0fnu": (1.0, 2.0**127, 2.0**-127, 2.0**-127),
}
