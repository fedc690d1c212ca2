"""Tables of roots of unity that transforms read: made once for a length, kept as long as the process lives.

A plan holds the address of a table as it holds that of a kernel, so a table is never moved or freed.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass, field

from ..ir.dtypes import DType, dtype_named
from .index_layout import ONE, ZERO, i64
from .kernel import Kernel
from .math_expression import Expr, where
from .math_trigonometric import kernels
from .registers import memory_type
from .text import Function, Module, V

GRAIN = 1 << 10  # roots that one thread computes at least


@dataclass
class Table:
    """amplitude * exp(-2 pi i e / order) for all exponents e(outer, middle, lane).

    e = (start + min(outer * step, last) + lane * across) * (factor + middle), negative with `conjugate`. In memory
    [outer][middle][2][lane] numbers of the real type `dtype`: for each vector of roots its real, then imaginary parts.
    """

    dtype: DType
    order: int
    shape: tuple[int, int, int]  # outer, middle, lanes
    step: int = 0
    across: int = 0
    start: int = 0
    factor: int = 1
    last: int = 1 << 62
    amplitude: float = 1.0
    conjugate: bool = False
    memory: list = field(default_factory=list, repr=False)

    @property
    def address(self) -> int:
        """Where the roots lie, 64-byte aligned; they are computed at the first request."""
        if not self.memory:
            self.memory.append(self._made())
        # the first one, should two threads have made the table at the same moment
        return -(-ctypes.addressof(self.memory[0]) // 64) * 64

    def _made(self):
        from ..core.engine import launch_kernel

        outer, middle, lanes = self.shape
        size = 2 * outer * middle * lanes * self.dtype.itemsize + 64
        try:
            memory = (ctypes.c_char * size)()
        except MemoryError:
            raise RuntimeError(f"out of memory: could not allocate {size} bytes for a table of roots") from None
        address = -(-ctypes.addressof(memory) // 64) * 64
        numbers = [middle, lanes, self.order, self.step, self.across, self.start, self.factor, self.last]
        kernel = roots_kernel(self.dtype, self.conjugate)
        launch_kernel(
            kernel.address, [address], [*numbers, float(self.amplitude)], outer, GRAIN // (middle * lanes) + 1
        )
        return memory


_tables: dict[tuple, Table] = {}


def table(dtype_name: str, order: int, shape: tuple, **numbers) -> Table:
    """The table of these properties; equal ones share memory."""
    key = (dtype_name, order, shape, *numbers.items())
    if key not in _tables:
        # in one step, so that no table that a plan knows is lost to another thread's
        _tables.setdefault(key, Table(dtype_named(dtype_name), order, shape, **numbers))
    return _tables[key]


@functools.cache
def roots_kernel(dtype: DType, conjugate: bool) -> Kernel:
    """Fills a table; the range counts outer indices."""
    module = Module()
    f = module.kernel("roots")
    target = f.buffer(0)
    middle, lanes, order, step, across, start, factor, last = (f.param(i) for i in range(8))
    amplitude = f.param(8, "double")
    type = memory_type(dtype)
    with f.loop(f.begin, f.end) as a, f.loop(ZERO, middle) as b:
        vector = f.mul(f.add(f.mul(a, middle), b), f.mul(lanes, i64(2)))
        along = f.add(start, f.minimum(f.mul(a, step), last))
        times = f.add(factor, b)
        with f.loop(ZERO, lanes) as lane:
            exponent = f.binary("urem", f.mul(f.add(along, f.mul(lane, across)), times), order)
            real, imaginary = unit_root(f, exponent, order)
            imaginary = imaginary if conjugate else -imaginary
            for part, place in ((real, lane), (imaginary, f.add(lane, lanes))):
                number = (part * Expr(f, amplitude)).v
                number = number if type == "double" else f.cast("fptrunc", number, type)
                f.store(number, f.at(target, type, f.add(vector, place)))
    return Kernel(f.name, str(module))


def unit_root(f: Function, exponent: V, order: V) -> tuple[Expr, Expr]:
    """cos and sin of 2 pi exponent / order, 0 <= exponent < order, as doubles.

    Reduced to an eighth of a turn in integers, so that the angle is exact up to one rounding.
    """
    eighths = f.mul(exponent, i64(8))
    octant = f.binary("udiv", eighths, order)
    rest = f.sub(eighths, f.mul(octant, order))
    odd = f.compare("ne", f.binary("and", octant, ONE), ZERO)
    rest = f.select(odd, f.sub(order, rest), rest)
    whole, part = (Expr(f, f.cast("sitofp", number, "double")) for number in (order, rest))
    angle = part * 0.7853981633974483 / whole
    sine, cosine = (sum(parts[1:], parts[0]) for parts in kernels(angle, None))

    def bit(number: int) -> Expr:
        return Expr(f, f.compare("ne", f.binary("and", octant, i64(number)), ZERO))

    # octants 1, 2, 5, 6 exchange the two; cos is negative in 2..5, sin in 4..7
    exchanged = bit(1) ^ bit(2)
    real, imaginary = where(exchanged, sine, cosine), where(exchanged, cosine, sine)
    return where(bit(2) ^ bit(4), -real, real), where(bit(4), -imaginary, imaginary)
