"""Families of layers that differ in the number of spatial dims: one description, three classes."""

from __future__ import annotations


def per_dim(value, dims: int) -> tuple:
    """One number for all dims, or one each, as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


def describe_member(cls: type, family: type) -> None:
    """Gives a class that states its `dims` the family's docstring with {dims} and {sizes} filled in."""
    if "dims" in cls.__dict__ and cls.__doc__ is None:
        cls.__doc__ = family.__doc__.format(dims=cls.dims, sizes=", ".join("DHW"[3 - cls.dims :]))
