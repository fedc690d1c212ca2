"""Element types and PyTorch's promotion rules."""

from __future__ import annotations

_BY_NAME: dict[str, DType] = {}
_MODULE = "rushlight"  # what repr() shows before the dot


class DType:
    """An element type: interned, compared by identity.

    `kind` is "b" (bool), "u", "i", "f" or "c" ("o" opaque bits and "q" quantized exist by name alone); `itemsize` is
    in bytes; `code` is a small integer the core uses in tables, -1 for types that no tensor has.
    """

    __slots__ = ("code", "itemsize", "kind", "name", "numpy_name", "part")

    def __init__(self, name: str, kind: str, itemsize: int, exists: bool = True):
        self.name, self.kind, self.itemsize = name, kind, itemsize
        self.numpy_name = None if name == "bfloat16" else name
        self.part = self
        self.code = sum(dtype.code >= 0 for dtype in _BY_NAME.values()) if exists else -1
        _BY_NAME[name] = self

    @property
    def is_floating_point(self) -> bool:
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_signed(self) -> bool:
        if self.kind in "oq":
            raise RuntimeError(f"is_signed: {self.name} is no number, signed or not")
        return self.kind not in "bu"

    def to_complex(self) -> DType:
        """The complex type whose parts have this type (complex64 for half types)."""
        if self.kind not in "fc" or (self.code < 0 and self.kind == "f"):
            raise RuntimeError(f"there is no complex type of parts of type {self.name}")
        return self if self.kind == "c" else (complex128 if self is float64 else complex64)

    def to_real(self) -> DType:
        """The type of a complex type's parts; other types stay."""
        return {complex64: float32, complex128: float64}.get(self, self.part)

    def require(self) -> None:
        """NotImplementedError for types that exist by name alone."""
        if self.kind == "q":
            raise NotImplementedError(
                f"tensors of type {self.name} are not made this way: use quantize_per_tensor(), quantize_per_channel() "
                "or empty_quantized()"
            )
        if self.code < 0:
            instead = {"c": "complex64", "f": "float16 or bfloat16"}.get(self.kind, "uint8, int8 or a wider type")
            raise NotImplementedError(f"there are no tensors of type {self.name} here: use {instead}")

    def __repr__(self) -> str:
        return f"{_MODULE}.{self.name}"

    def __reduce__(self):
        return (dtype_named, (self.name,))


DType.__name__ = DType.__qualname__ = "dtype"  # what users know it as


def dtype_named(name: str) -> DType:
    """The element type called `name`, for example "float32"."""
    if name not in _BY_NAME:
        from . import dtype_names  # noqa: F401 - those that exist by name alone
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
uint16 = DType("uint16", "u", 2)
uint32 = DType("uint32", "u", 4)
uint64 = DType("uint64", "u", 8)

STORED = tuple(_BY_NAME.values())  # all that tensors have
WIDE = (uint16, uint32, uint64)  # PyTorch computes little with them, and promotes them to floats alone
ALL = tuple(d for d in STORED if d not in WIDE)
FLOATS = tuple(d for d in ALL if d.kind == "f")
INTEGERS = tuple(d for d in ALL if d.kind in "ui")

_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3, "o": 1, "q": 1}


def promote_types(a: DType, b: DType) -> DType:
    """The smallest type that holds both, as PyTorch decides it.

    Integers yield to floats of any width; uint8 with a signed integer gives the next wider signed
    one (at least int16); float16 with bfloat16 gives float32. RuntimeError for the wide unsigned types with other
    integers, and for those that exist by name alone.
    """
    if a is b:
        return a
    if a.code < 0 or b.code < 0 or a.code > complex128.code or b.code > complex128.code:
        check_promotion(a, b)
    if _RANK[a.kind] < _RANK[b.kind]:
        a, b = b, a
    if a.kind == "c" and a.code < 0 and (b.kind in "bui" or b is float16):
        return a
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


def check_promotion(a: DType, b: DType) -> None:
    """RuntimeError unless at most complex numbers of half parts and wide unsigned integers by floats are concerned."""
    for dtype, other in ((a, b), (b, a)):
        if dtype.code > complex128.code and other.kind != "f":
            raise RuntimeError(
                "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
                f"{a.name} and {b.name}"
            )
        if dtype.code < 0 and dtype.kind != "c":
            raise RuntimeError(
                f"Promotion of {dtype.name} is not supported, attempted to promote {a.name} and {b.name}"
            )


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
        if real.code < 0:
            self._set_float8(real)
            return
        digits, exponent, decimals = _FLOAT_FORMATS[real]
        self.bits, self.dtype, self.eps = 8 * real.itemsize, real.name, 2.0 ** (1 - digits)
        self.max = (2.0 - 2.0 ** (1 - digits)) * 2.0**exponent
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - exponent)
        self.smallest_subnormal = 2.0 ** (2 - exponent - digits)
        self.resolution = float(f"1e-{decimals}")

    def _set_float8(self, dtype: DType) -> None:
        from .dtype_names import FLOAT8_LIMITS

        if dtype.name not in FLOAT8_LIMITS:
            raise NotImplementedError(f"finfo: the limits of {dtype.name} are not known")
        self.bits, self.dtype, self.resolution = 8, dtype.name, 1.0
        self.eps, self.max, self.smallest_normal, self.smallest_subnormal = FLOAT8_LIMITS[dtype.name]
        self.tiny, self.min = self.smallest_normal, -self.max if "e8m0" not in dtype.name else self.smallest_normal

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        parts = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({parts}, dtype={self.dtype})"


class iinfo:
    """Limits of an integer type: `bits`, `min`, `max`, `dtype` (a name)."""

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, dtype: DType):
        if not isinstance(dtype, DType) or dtype.kind not in "ui" or dtype.code < 0:
            raise TypeError("rushlight.iinfo() requires an integer input type; use rushlight.finfo for floating point")
        self.bits, self.dtype = 8 * dtype.itemsize, dtype.name
        self.max = 2 ** (self.bits - (dtype.kind == "i")) - 1
        self.min = -self.max - 1 if dtype.kind == "i" else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


# significant bits, greatest exponent, decimal digits that always survive
_FLOAT_FORMATS = {float16: (11, 15, 3), bfloat16: (8, 127, 2), float32: (24, 127, 6), float64: (53, 1023, 15)}
