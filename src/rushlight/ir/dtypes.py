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


class finfo:
    """Limits of a floating point type (of the parts, for a complex one); of the default type if none is given.

    `bits`, `eps` (1 + eps is the next number after 1), `max`, `min` (= -max), `tiny` = `smallest_normal`,
    `smallest_subnormal`, `resolution` (10**-digits), `dtype` (a name).
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "smallest_subnormal", "tiny")

    def __init__(self, dtype: DType | None = None):
        dtype = default if dtype is None else dtype
        if not isinstance(dtype, DType) or dtype.kind not in "fc":
            raise TypeError("rushlight.finfo() requires a floating point input type; use rushlight.iinfo for integers")
        real = dtype.to_real()
        digits, exponent, decimals = _FLOAT_FORMATS[real]
        self.bits, self.dtype, self.eps = 8 * real.itemsize, real.name, 2.0 ** (1 - digits)
        self.max = (2.0 - 2.0 ** (1 - digits)) * 2.0**exponent
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - exponent)
        self.smallest_subnormal = 2.0 ** (2 - exponent - digits)
        self.resolution = float(f"1e-{decimals}")

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        parts = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({parts}, dtype={self.dtype})"


class iinfo:
    """Limits of an integer type: `bits`, `min`, `max`, `dtype` (a name)."""

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, dtype: DType):
        if not isinstance(dtype, DType) or dtype.kind not in "ui":
            raise TypeError("rushlight.iinfo() requires an integer input type; use rushlight.finfo for floating point")
        self.bits, self.dtype = 8 * dtype.itemsize, dtype.name
        self.max = 2 ** (self.bits - (dtype.kind == "i")) - 1
        self.min = -self.max - 1 if dtype.kind == "i" else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


# significant bits, greatest exponent, decimal digits that always survive
_FLOAT_FORMATS = {float16: (11, 15, 3), bfloat16: (8, 127, 2), float32: (24, 127, 6), float64: (53, 1023, 15)}
