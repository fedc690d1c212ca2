"""How tensors are shown: only the elements that appear are read."""

from __future__ import annotations

import math
from contextlib import contextmanager

from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from .declare import composite


class Options:
    """What `set_printoptions` sets. A plain class: dataclasses would cost a fifth of the import time."""

    def __init__(self):
        self.precision: int = 4
        self.threshold: float = 1000
        self.edgeitems: int = 3
        self.linewidth: int = 80
        self.sci_mode: bool | None = None


_options = Options()
_PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


@composite
def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Set how tensors are printed.

    Args:
        precision: digits after the point (4)
        threshold: tensors of more elements are shown in part (1000)
        edgeitems: how many elements of each end of a dim are shown then (3)
        linewidth: characters per line (80)
        profile: "default", "short" or "full": values for all of these
        sci_mode: scientific notation always (True), never (False) or where it serves (None)
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    values = dict(_PROFILES.get(profile.lower(), {})) if profile is not None else {}
    values |= {name: value for name, value in given.items() if value is not None}
    for name, value in values.items():
        setattr(_options, name, value)
    _options.sci_mode = sci_mode


def get_printoptions() -> dict:
    """The present options, as `set_printoptions` takes them."""
    return dict(vars(_options))


@contextmanager
def printoptions(**options):
    """A block with other options."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


# -- numbers ----------------------------------------------------------------------------------------
class Integers:
    """Writes integers and bools, aligned at the right."""

    def __init__(self, values):
        self.width = max((len(str(v)) for v in values), default=1)

    def __call__(self, value) -> str:
        return str(value).rjust(self.width)


class Reals:
    """Writes floats in one of three styles that suits all of them: "12.", "1.2346" or "1.2346e+08"."""

    def __init__(self, values):
        values = [v for v in values if v != 0 and math.isfinite(v)]
        least, most = min(map(abs, values), default=1.0), max(map(abs, values), default=1.0)
        self.whole = all(v.is_integer() for v in values)
        scientific = most / least > 1000.0 or most > 1e8 or (not self.whole and least < 1e-4)
        wanted = _options.sci_mode
        self.style = "e" if (scientific if wanted is None else wanted) else "f"
        self.width = max((len(self.digits(v)) for v in values), default=1)

    def digits(self, value: float) -> str:
        if self.style == "e" or not self.whole:
            return f"{value:.{_options.precision}{self.style}}"
        return f"{value:.0f}" + ("." if math.isfinite(value) else "")

    def __call__(self, value: float) -> str:
        return self.digits(value).rjust(self.width)


class Complexes:
    """Writes complex numbers, each part in the style of its own."""

    def __init__(self, values):
        values = list(values)
        self.real, self.imag = Reals([v.real for v in values]), Reals([v.imag for v in values])
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, value: complex) -> str:
        imag = self.imag(value.imag).lstrip()
        return f"{self.real(value.real)}{'' if imag[0] in '+-' else '+'}{imag}j"


def writer_for(dtype, values):
    """The way numbers of a tensor are written, decided by those that are shown."""
    return {"f": Reals, "c": Complexes}.get(dtype.kind, Integers)(values)


# -- elements ---------------------------------------------------------------------------------------
def shown(tensor: Tensor, summarised: bool) -> object:
    """Nested lists of what appears, with `...` for what is left out."""
    if tensor.ndim == 0 or not summarised:
        return tensor.tolist()
    size, edge = tensor.shape[0], _options.edgeitems
    if size <= 2 * edge:
        return [shown(tensor[i], True) for i in range(size)]
    if tensor.ndim == 1:
        return [*tensor[:edge].tolist(), ..., *(tensor[-edge:].tolist() if edge else ())]
    ends = [shown(tensor[i], True) for i in (*range(edge), *range(-edge, 0))]
    return [*ends[:edge], ..., *ends[edge:]]


def numbers(nested):
    """The numbers in nested lists."""
    if isinstance(nested, list):
        for part in nested:
            yield from numbers(part)
    elif nested is not ...:
        yield nested


def layers(nested, depth: int, indent: int, write) -> str:
    """Nested lists in brackets, one row a line, blank lines between matrices."""
    if depth == 0:
        return write(nested)
    if depth == 1:
        return row(nested, indent, write)
    parts = ["..." if part is ... else layers(part, depth - 1, indent + 1, write) for part in nested]
    return "[" + ("," + "\n" * (depth - 1) + " " * (indent + 1)).join(parts) + "]"


def row(values: list, indent: int, write) -> str:
    """Numbers in brackets, broken into lines of the right width."""
    per_line = max(1, (_options.linewidth - indent) // (write.width + 2))
    left_out = " ..." if len(values) > 1 else "..."
    texts = [left_out if v is ... else write(v) for v in values]
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


# -- tensors ----------------------------------------------------------------------------------------
def show(tensor: Tensor, *, tensor_contents=None) -> str:
    """`repr` of a tensor: its numbers, then what is not as usual: size, dtype, grad_fn, requires_grad."""
    if tensor._layout.batch:
        from .batched_views import shown as shown_batch

        return shown_batch(tensor, show)
    name = "tensor" if plain(type(tensor)) else type(tensor).__name__
    indent = len(name) + 1
    contents = elements(tensor.detach(), indent) if tensor_contents is None else tensor_contents
    return with_facts(f"{name}({contents}", facts(tensor), indent)


def plain(kind: type) -> bool:
    return kind is Tensor or (
        kind.__name__ == "Parameter" and kind.__module__.startswith(__package__.partition(".")[0])
    )


def elements(tensor: Tensor, indent: int) -> str:
    """The part in brackets."""
    if not tensor.numel():
        return "[]"
    nested = shown(tensor, tensor.numel() > _options.threshold)
    return layers(nested, tensor.ndim, indent, writer_for(tensor.dtype, numbers(nested)))


def is_usual(dtype) -> bool:
    """Whether numbers alone tell the dtype."""
    return dtype in (dtypes.default, dtypes.default_complex(), dtypes.int64, dtypes.bool_)


def facts(tensor: Tensor):
    """What is told after the numbers."""
    dtype = tensor.dtype
    if tensor.numel() > _options.threshold and not _options.edgeitems:
        yield f"size={tuple(tensor.shape)}"
    if tensor.numel() == 0:
        if tensor.ndim != 1:
            yield f"size={tuple(tensor.shape)}"
        if dtype is not dtypes.default:
            yield f"dtype={dtype}"
    elif not is_usual(dtype):
        yield f"dtype={dtype}"
    if tensor.grad_fn is not None:
        yield f"grad_fn=<{tensor.grad_fn.name().rpartition('::')[2]}>"
    elif tensor.requires_grad:
        yield "requires_grad=True"


def with_facts(text: str, facts, indent: int) -> str:
    """Append facts, on a new line where they don't fit."""
    length = len(text) - text.rfind("\n") + 1
    for fact in facts:
        if length + len(fact) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + fact
            length = indent + len(fact)
        else:
            text += ", " + fact
            length += len(fact) + 2
    return text + ")"


def formatted(tensor: Tensor, spec: str) -> str:
    """`format`: plain tensors without dims are formatted as their number."""
    if tensor.ndim == 0 and type(tensor) is Tensor:
        return format(tensor.item(), spec)
    if spec:
        raise TypeError(f"unsupported format string passed to {type(tensor).__name__}.__format__")
    return str(tensor)


engine.bind("repr", show)
engine.attach_method("__format__", formatted)
