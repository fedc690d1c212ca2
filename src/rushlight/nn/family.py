"""Families of layers that differ in the number of spatial dims: one description, three classes."""

from __future__ import annotations

from types import FunctionType


def per_dim(value, dims: int) -> tuple:
    """One number for all dims, or one each, as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


def describe_member(cls: type, family: type) -> None:
    """Gives a class that states its `dims` the family's docstring with {dims} and {sizes} filled in."""
    if "dims" in cls.__dict__ and cls.__doc__ is None:
        cls.__doc__ = family.__doc__.format(dims=cls.dims, sizes=", ".join("DHW"[3 - cls.dims :]))
    name_constructor(cls)


def name_constructor(cls: type) -> None:
    """Lets a public class that has its constructor from a private one be named in Python's errors of arguments."""
    inherited = cls.__init__
    if cls.__name__[0] == "_" or inherited.__qualname__[0] != "_":
        return
    parts = inherited.__code__, inherited.__globals__, "__init__", inherited.__defaults__, inherited.__closure__
    own = FunctionType(*parts)
    own.__kwdefaults__, own.__annotations__ = inherited.__kwdefaults__, inherited.__annotations__
    own.__qualname__, own.__doc__ = f"{cls.__name__}.__init__", inherited.__doc__
    cls.__init__ = own
