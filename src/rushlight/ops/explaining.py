"""What a function of several ops raises for arguments that it cannot take: errors of the kinds that PyTorch's raise.

Functions are plain Python and do not look at every argument first. `Composite` (core) calls them at no cost and comes
here when one has failed.
"""

from __future__ import annotations

import types

from ..core import engine
from ..core.engine import Composite, Tensor
from .declare import ARRIVED, LATE, rename, wrong_type
from .dim_names import refuse_names

VARIADIC = 8  # the flag of code that takes any keyword arguments
UNUSUAL = (AttributeError, ArithmeticError, KeyError, NameError, SystemError, RecursionError)


def explained_call(name: str, function, args: tuple, kwargs: dict, error: Exception) -> Exception:
    """The error to raise in place of one that a function met."""
    if not isinstance(error, UNUSUAL) or not is_ours(error):
        return error
    if isinstance(error, AttributeError) and not isinstance(error.obj, (Tensor, types.ModuleType)):
        return unfit_argument(name, function, args, kwargs, error) or error
    if isinstance(error, (AttributeError, NameError)):
        return error
    return RuntimeError(f"{name}: cannot be computed for these arguments ({type(error).__name__}: {error})")


def is_ours(error: Exception) -> bool:
    """Whether an error arose in this package, not in a function that the user passed."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is None or "rushlight" in place.tb_frame.f_code.co_filename.replace("\\", "/").split("/")


def unfit_argument(name: str, function, args: tuple, kwargs: dict, error: AttributeError):
    """TypeError for the argument that has not the attribute which the function looked for."""
    import inspect

    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError as wrong:
        return TypeError(f"{name}() {wrong}")
    for position, (parameter, value) in enumerate(bound.items()):
        if value is error.obj:
            return wrong_type(name, parameter, position, "Tensor", type(value))
    for parameter, value in bound.items():
        kind = type(error.obj).__name__
        places = [i for i, part in enumerate(value) if part is error.obj] if isinstance(value, (tuple, list)) else []
        if places:
            return TypeError(f"{name}(): expected Tensor as element {places[0]} of '{parameter}', not {kind}")
    return None if isinstance(error.obj, type) else TypeError(f"{name}(): {error}")


OF_ROOMS: dict[str, Composite] = {}  # "linalg.svd" -> the function


def explained(function, name: str):
    """A plain function that raises such errors, and that can be redirected; others as they are.

    `name` has a room's name before it if the function is no part of the catalogue.
    """
    if type(function) is not types.FunctionType:
        return function
    made = Composite(function, name)
    if "." in name:
        OF_ROOMS[name] = made
        made.__name__ = made.__qualname__ = function.__name__
    for announce in ARRIVED:
        announce(name, made)
    return made


def explain_all(table: dict, attach=None) -> None:
    """Let the plain functions of a table raise such errors, and all that are declared from then on."""
    LATE[:] = [explained]
    for name, function in list(table.items()):
        if type(function) is types.FunctionType:
            table[name] = explained(function, name)
            if attach is not None:
                attach(name, table[name])


def respelled(name: str, function, kwargs: dict) -> dict | None:
    """Keyword arguments under the names that a function has for them, or None if it has all, or none for one.

    Raises:
        NotImplementedError: for names of dims
    """
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & VARIADIC:
        return None
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    unknown = [key for key in kwargs if key not in names]
    changed = {rename(key, names): value for key, value in kwargs.items()}
    if "names" in unknown:
        refuse_names(name, changed.pop("names"))
    fits = len(changed) + ("names" in unknown) == len(kwargs) and all(key in names for key in changed)
    return changed if unknown and fits else None


engine.bind("explained_call", explained_call)
engine.bind("respelled", respelled)
