"""Element types and PyTorch's promotion rules."""

from __future__ import annotations

_BY_NAME: dict[str, DType] = {}
_MODULE = "rushlight"  # what repr() shows before the dot


class DType:
    """An element type: interned, compared by identity.

    `kind` is "b" (bool), "u", "i", "f" or "c"; `itemsize` is in bytes; `code` is a small integer
    the core uses in tables.
    """

    __slots__ = ("code", "itemsize", "kind", "name", "numpy_name")

    def __init__(self, name: str, kind: str, itemsize: int):
        self.name, self.kind, self.itemsize = name, kind, itemsize
        self.numpy_name = None if name == "bfloat16" else name
        self.code = len(_BY_NAME)
        _BY_NAME[name] = self

    @property
    def is_floating_point(self) -> bool:
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_signed(self) -> bool:
        return self.kind not in "bu"

    def to_complex(self) -> DType:
        """The complex type whose parts have this type (complex64 for half types)."""
        return self if self.kind == "c" else (complex128 if self is float64 else complex64)

    def to_real(self) -> DType:
        """The type of a complex type's parts; other types stay."""
        return {complex64: float32, complex128: float64}.get(self, self)

    def __repr__(self) -> str:
        return f"{_MODULE}.{self.name}"

    def __reduce__(self):
        return (dtype_named, (self.name,))


def dtype_named(name: str) -> DType:
    """The element type called `name`, for example "float32"."""
    return _BY_NAME[name]


bool_ = DType("bool", "b", 1)
uint8 = DType("uint8", "u", 1)
int8 = DType("int8", "i", 1)
int16 = DType("int16", "i", 2)
int32 = DType("int32", "i", 4)
int64 = DType("int64", "i", 8)
float16 = DType("float16", "f", 2)
bfloat16 = DType("bfloat16", "f", 2)
float32 = DType("float32", "f", 4)
float64 = DType("float64", "f", 8)
complex64 = DType("complex64", "c", 8)
complex128 = DType("complex128", "c", 16)

ALL = tuple(_BY_NAME.values())
FLOATS = tuple(d for d in ALL if d.kind == "f")
INTEGERS = tuple(d for d in ALL if d.kind in "ui")

_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def promote_types(a: DType, b: DType) -> DType:
    """The smallest type that holds both, as PyTorch decides it.

    Integers yield to floats of any width; uint8 with a signed integer gives the next wider signed
    one (at least int16); float16 with bfloat16 gives float32.
    """
    if a is b:
        return a
    if _RANK[a.kind] < _RANK[b.kind]:
        a, b = b, a
    if a.kind == "c":
        return complex128 if float64 in (a.to_real(), b) or b is complex128 else complex64
    if _RANK[a.kind] > _RANK[b.kind]:
        return a
    if a.kind == "f":
        if a.itemsize == b.itemsize:
            return float32
        return a if a.itemsize > b.itemsize else b
    if a.kind == b.kind:
        return a if a.itemsize > b.itemsize else b
    signed = a if a.kind == "i" else b
    return int16 if signed is int8 else signed


def category(dtype: DType) -> int:
    """0 bool, 1 integer, 2 floating point, 3 complex: what a 0-dim or Python operand may raise."""
    return _RANK[dtype.kind]


default: DType = float32  # set by set_default_dtype; read it as `dtypes.default`


def default_complex() -> DType:
    return default.to_complex()


def result_type(*operands: tuple[DType, bool, bool]) -> DType:
    """The common type of operands given as (dtype, has no dimensions, is a Python number).

    Tensors with dimensions decide; 0-dim tensors and then Python numbers change the result only when
    they are of a higher category (bool < integer < float < complex).
    """
    dims = zero = number = None
    for dtype, dim0, is_number in operands:
        if is_number:
            dtype = {"f": default, "c": default_complex()}.get(dtype.kind, dtype)
            number = dtype if number is None else promote_types(number, dtype)
        elif dim0:
            zero = dtype if zero is None else promote_types(zero, dtype)
        else:
            dims = dtype if dims is None else promote_types(dims, dtype)
    return _combine(dims, _combine(zero, number))


def _combine(higher: DType | None, lower: DType | None) -> DType | None:
    if higher is None or lower is None:
        return lower if higher is None else higher
    if category(lower) <= category(higher):
        return higher
    return higher.to_complex() if lower.kind == "c" and higher.kind == "f" else promote_types(higher, lower)


def can_cast(source: DType, target: DType) -> bool:
    """Whether an in-place or `out=` result of type `source` may be stored as `target`."""
    if target.kind == "u" and source.kind == "i":
        return True
    return category(source) <= category(target)
