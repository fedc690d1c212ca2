"""Python's operators and basic indexing on Values. `==` stays identity, so that Values can be keys: use `eq`."""

from __future__ import annotations

from . import build as B
from .graph import Value
from .primitive import fail
from .sizes import Sym

_NUMBERS = (int, float, complex, bool, Value, Sym)


def _attach(name: str, function) -> None:
    def forward(self, other):
        return function(self, other) if isinstance(other, _NUMBERS) else NotImplemented

    def reflected(self, other):
        return function(other, self) if isinstance(other, _NUMBERS) else NotImplemented

    setattr(Value, f"__{name}__", forward)
    if name not in ("lt", "le", "gt", "ge"):
        setattr(Value, f"__r{name}__", reflected)


for _name, _function in {
    "add": B.add,
    "sub": B.sub,
    "mul": B.mul,
    "truediv": B.div,
    "floordiv": B.floor_divide,
    "mod": B.remainder,
    "pow": B.pow,
    "and": B.bit_and,
    "or": B.bit_or,
    "xor": B.bit_xor,
    "lshift": B.shift_left,
    "rshift": B.shift_right,
    "matmul": B.matmul,
    "lt": B.lt,
    "le": B.le,
    "gt": B.gt,
    "ge": B.ge,
}.items():
    _attach(_name, _function)

Value.__neg__ = B.neg
Value.__pos__ = lambda self: self
Value.__abs__ = B.abs
Value.__invert__ = B.bit_not


def getitem(x: Value, index) -> Value:
    """Basic indexing: integers, slices with positive steps, None and `...`; a view of x."""
    index = index if isinstance(index, tuple) else (index,)
    index = _without_ellipsis(x, index)
    starts, sizes, steps, shape = [], [], [], []
    for item in index:
        if item is None:
            shape.append(1)
            continue
        start, size, step, kept = _span(item, len(starts), x.shape[len(starts)])
        starts.append(start), sizes.append(size), steps.append(step)
        shape += [size] if kept else []
    return B.reshape(B.slice(x, starts, sizes, steps), tuple(shape))


def _without_ellipsis(x: Value, index: tuple) -> tuple:
    """The index with `...` written out; every dimension has its item."""
    if sum(item is Ellipsis for item in index) > 1:
        fail("index", "an index can only have a single ellipsis ('...')", IndexError)
    used = sum(item is not None and item is not Ellipsis for item in index)
    if used > x.ndim:
        fail("index", f"too many indices for {x}: got {used}", IndexError)
    rest = (slice(None),) * (x.ndim - used)
    at = next((i for i, item in enumerate(index) if item is Ellipsis), None)
    return index + rest if at is None else index[:at] + rest + index[at + 1 :]


def _span(item, dim: int, size):
    """(start, size, step, whether the dimension stays) for one item of an index."""
    if isinstance(item, slice):
        return (*_slice_span(item, size), True)
    if isinstance(item, bool) or not (isinstance(item, (int, Sym)) or hasattr(item, "__index__")):
        raise TypeError(f"index: expected integers, slices, None or '...', got {type(item).__name__}")
    item = item if isinstance(item, (int, Sym)) else int(item)
    if not -size <= item < size:
        fail("index", f"index {item} is out of bounds for dimension {dim} with size {size}", IndexError)
    return (item + size if item < 0 else item), 1, 1, False


def _slice_span(item: slice, size):
    """start, size and step of a slice, clipped as Python's slices are."""
    step = 1 if item.step is None else item.step
    if step < 1:
        raise ValueError(f"index: slice step must be positive, got {step}")
    if item.start is None and item.stop is None and step == 1:
        return 0, size, 1
    start = _clip(0 if item.start is None else item.start, size)
    stop = size if item.stop is None else _clip(item.stop, size)
    if stop <= start:
        return start, 0, step
    return start, (stop - start if step == 1 else (stop - start + step - 1) // step), step


def _clip(place, size):
    if place < 0:
        place = place + size
        return place if place >= 0 else 0
    return place if place <= size else size


Value.__getitem__ = getitem


__all__ = ["getitem"]
