"""Names of dims, which PyTorch has as a prototype: they are not supported, and say so."""

from __future__ import annotations

from ..core import engine
from .declare import add_method, composite

METHODS = ("align_as", "align_to", "refine_names", "rename", "rename_")


def refuse_names(name: str, names) -> None:
    """NotImplementedError for anything but None."""
    if names is not None:
        raise NotImplementedError(f"{name}: named tensors are not supported; give dims by their numbers") from None


def _refusing(name: str):
    def method(input, *args, **kwargs):
        if name.startswith("rename") and args == (None,) and not kwargs:  # without names, as all tensors are
            return input
        refuse_names(name, name)

    method.__name__ = name
    method.__doc__ = "NotImplementedError: named tensors are not supported."
    return method


for _name in METHODS:
    add_method(_name, _refusing(_name))


@composite
def align_tensors(*tensors):
    """NotImplementedError: named tensors are not supported."""
    refuse_names("align_tensors", tensors)


@composite(method=True, public=False)
def has_names(input) -> bool:
    """False: no dim has a name."""
    return False


def _names(input) -> tuple:
    """None for each dim: no dim has a name."""
    return (None,) * input.ndim


engine.attach_method("names", property(_names, lambda input, names: refuse_names("names", names)))
engine.attach_method("name", property(lambda input: None))
