"""What modules pass on to the functions that make their tensors."""

from __future__ import annotations

_NAMES = {"device", "dtype", "memory_format"}


def factory_kwargs(kwargs: dict | None) -> dict:
    """`device`, `dtype` and `memory_format` of a module's keyword arguments, for functions such as `empty`.

    They may also stand in a dict `factory_kwargs` among them. TypeError for any other name, or one given twice.

    >>> rushlight.nn.factory_kwargs({"dtype": rushlight.float64})
    {'dtype': rushlight.float64}
    """
    if kwargs is None:
        return {}
    plain = {name: value for name, value in kwargs.items() if name != "factory_kwargs"}
    if plain.keys() - _NAMES:
        raise TypeError(f"unexpected kwargs {plain.keys() - _NAMES}")
    found = dict(kwargs.get("factory_kwargs", {}))
    if found.keys() - _NAMES:
        raise TypeError(f"unexpected factory_kwargs {found.keys() - _NAMES}")
    if found.keys() & plain.keys():
        raise TypeError(f"{sorted(found.keys() & plain.keys())[0]} specified twice, in **kwargs and in factory_kwargs")
    return found | plain
