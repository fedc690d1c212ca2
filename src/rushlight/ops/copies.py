"""Views copied: `view_copy`, `select_copy`, ..: what the view functions give, in fresh memory."""

from __future__ import annotations

from . import complex, facts, joining, shape  # noqa: F401 - the views are declared there
from .declare import FUNCTIONS, METHODS, composite
from .memory_format import contiguous_format

_VIEWS = """
    as_strided diagonal expand narrow permute select slice split split_with_sizes squeeze t transpose unbind unfold
    unsqueeze view view_as_complex view_as_real detach alias
""".split()  # noqa: SIM905


def slice_(input, dim=0, start=None, end=None, step=1):
    """Every `step`-th slice of `dim` from `start` to before `end`."""
    dim = dim + input.ndim if dim < 0 else dim
    return input[(slice(None),) * dim + (slice(start, end, step),)]


def _copying(name: str, function):
    def copied(input, *args, out=None, **kwargs):
        found = function(input, *args, **kwargs)
        if isinstance(found, (tuple, list)):
            return type(found)(part.clone(memory_format=contiguous_format) for part in found)
        if out is None:
            return found.clone(memory_format=contiguous_format)
        from .writing import store

        return store(out, found, f"{name}_copy")

    copied.__name__ = f"{name}_copy"
    copied.__doc__ = f"What `{name}` shows, in fresh memory."
    return composite(copied)


def _same(input):
    return input


def _viewed(input, *sizes, dtype=None, size=None):
    """Another shape, or dtype; strides that allow no view do not matter to a copy."""
    if dtype is not None or (len(sizes) == 1 and not isinstance(sizes[0], (int, tuple, list))):
        return input.view(sizes[0] if dtype is None else dtype)
    return input.reshape(*sizes) if size is None else input.reshape(size)


def _detached(input):
    return input.detach()


def _real(input):
    return FUNCTIONS["view_as_real"](input.resolve_conj())


def _complex(input):
    return FUNCTIONS["view_as_complex"](input.resolve_neg().contiguous())


_OWN = {  # copies need neither strides that fit nor conjugates that are computed
    "slice": slice_,
    "alias": _same,
    "detach": _detached,
    "view": _viewed,
    "view_as_real": _real,
    "view_as_complex": _complex,
}
for _name in _VIEWS:
    _own = _OWN.get(_name)
    _copying(_name, _own or METHODS.get(_name) or FUNCTIONS[_name])
