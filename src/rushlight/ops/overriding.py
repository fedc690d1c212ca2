"""Overrides: where calls go whose arguments' types have a `__torch_function__`, and those that a mode sees.

The core finds such calls (core/overriding.pxi) and hands them over here with the public function, as it was called.
Most programs have no class that overrides: methods and properties that the core defines begin to look for them when the
first one is defined, or the first mode is entered.
"""

from __future__ import annotations

import types
import warnings

from ..core import engine
from ..core.engine import Attribute, Composite, Tensor
from .activation import FUNCTIONAL
from .declare import FUNCTIONS, METHODS, OPS

# arguments of these do not override them: they make tensors of what they are given, or look at what something is
NOT_OVERRIDABLE = frozenset(
    """
    arange as_subclass as_tensor asarray bartlett_window blackman_window broadcast_shapes can_cast empty empty_strided
    eye from_file from_numpy frombuffer full hamming_window hann_window is_storage is_tensor kaiser_window linspace
    logspace ones promote_types rand randint randn randperm range scalar_tensor tensor tril_indices triu_indices
    typename zeros
    """.split()  # noqa: SIM905
)
_INTERNAL = frozenset(("_attributes", "_layout", "_storage", "_cdata", "_has_symbolic_sizes_strides"))
PLAIN_RESULTS = {Tensor.grad.__get__, Tensor._base.__get__}  # what these give is not made an instance of a subclass


# -- calls ------------------------------------------------------------------------------------------
def overridden(function, args: tuple, kwargs: dict, relevant=None):
    """The result of a call that a mode sees, or the type of an argument (of one of `relevant`, if given) overrides."""
    relevant = (*args, *kwargs.values()) if relevant is None else relevant
    found = overriding_arguments(relevant) if engine.overrides_off() == 0 else []
    kinds = tuple(map(type, found))
    tried = []
    if engine.overrides_off() < 2 and engine.function_modes():
        mode = engine.pop_function_mode()  # what it calls goes to the modes around it
        tried.append(type(mode))
        try:
            result = mode.__torch_function__(function, kinds, args, kwargs)
        finally:
            engine.push_function_mode(mode)
        if result is not NotImplemented:
            return result
    for argument in found:
        result = handler_of(argument)(function, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    raise no_implementation(function, [*tried, *kinds])


class NoImplementation(TypeError):
    """All types that override a call have refused it."""


def no_implementation(function, kinds: list) -> NoImplementation:
    if not kinds:
        return NoImplementation(f"'{qualified_name(function)}': none of the arguments implements __torch_function__")
    names = ", ".join(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)
    return NoImplementation(
        f"no implementation found for '{qualified_name(function)}' on types that implement __torch_function__: "
        f"[{names}]"
    )


def overriding_arguments(values: tuple) -> list:
    """The first argument of each type that overrides, also in lists: from left to right, but subclasses first."""
    found = []
    for value in values:
        for part in value if type(value) in (list, tuple) else (value,):
            kind = type(part)
            if engine.overrides(kind) and all(type(other) is not kind for other in found):
                place = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
                found.insert(place, part)
    return found


def handler_of(argument):
    """The `__torch_function__` of an argument."""
    handler = argument.__torch_function__
    if type(handler) is types.MethodType and handler.__self__ is argument:
        warnings.warn(
            "Defining your `__torch_function__` as a plain method is deprecated and will be an error in future, please "
            "define it as a classmethod.",
            DeprecationWarning,
            stacklevel=4,
        )
    return handler


def qualified_name(function) -> str:
    """The name of a function for errors: with its class, if it is a method or a property."""
    owner = getattr(function, "__self__", None)
    if owner is not None and hasattr(owner, "__objclass__"):
        return f"Tensor.{owner.__name__}.{function.__name__}"
    return getattr(function, "__name__", repr(function))


# -- what subclasses of Tensor do by themselves -------------------------------------------------------
def torch_function(cls, func, types, args=(), kwargs=None):
    """What a call with an instance of a subclass of Tensor does unless that overrides it: `func` runs as with tensors.

    Results that are tensors are made instances of the subclass, in tuples and lists, too; NotImplemented if one of
    `types` is neither `cls` nor a base of it.

    >>> class Length(rushlight.Tensor):
    ...     pass
    >>> type(Length([1.0, 2.0]) * 2).__name__
    'Length'
    """
    for kind in types:
        if not issubclass(cls, kind):
            return NotImplemented
    was = engine.set_overrides_off(max(engine.overrides_off(), 1))
    try:
        result = func(*args, **(kwargs or {}))
    finally:
        engine.set_overrides_off(was)
    return result if func in PLAIN_RESULTS else as_instances(result, cls)


def as_instances(result, cls: type):
    """Plain tensors as instances of a subclass, also in tuples and lists."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else engine.as_subclass(result, cls)
    if isinstance(result, (tuple, list)) and any(isinstance(part, (Tensor, tuple, list)) for part in result):
        return type(result)([as_instances(part, cls) for part in result])
    return result


def new_instance(cls, *args, **kwargs):
    """`Tensor.__new__` as subclasses call it: an instance with the numbers or of the sizes that `Tensor(...)` takes."""
    if not args and not kwargs:
        return engine.unset_tensor(cls)  # `Tensor.__init__` may give it its elements
    from .tensor_types import legacy_constructor

    return Tensor._make_subclass(cls, legacy_constructor(*args, **kwargs))


def init_subclass(cls, **kwargs) -> None:
    """A class that overrides is about to be defined: let methods and properties look for it."""
    super(Tensor, cls).__init_subclass__(**kwargs)
    if engine.overrides(cls):
        observe()


# -- operators --------------------------------------------------------------------------------------
# op: what it is called as, as an operator of its left and of its right operand
_OPERATORS = {
    "sub": ("sub", "__rsub__"),
    "true_divide": ("div", "__rtruediv__"),
    "true_divide_": ("div_", None),
    "floor_divide": ("__floordiv__", "__rfloordiv__"),
    "remainder": ("remainder", "__rmod__"),
    "pow": ("__pow__", "__rpow__"),
    "pow_": ("__ipow__", None),
    "matmul": ("matmul", "__rmatmul__"),
    "bitwise_and": ("__and__", "bitwise_and"),
    "bitwise_or": ("__or__", "bitwise_or"),
    "bitwise_xor": ("__xor__", "bitwise_xor"),
    "bitwise_left_shift": ("__lshift__", "__rlshift__"),
    "bitwise_right_shift": ("__rshift__", "__rrshift__"),
    "eq": ("__eq__", None),
}


def operate(called, left, right):
    """An operator's call that is overridden; NotImplemented, so that Python asks the other operand, if all refuse."""
    names = _OPERATORS.get(called.name, (None, None))
    function = called
    if names[0] is not None:
        reflected = names[1] is not None and not isinstance(left, Tensor)
        function = getattr(Tensor, names[reflected])
        if reflected and names[1].startswith("__"):
            left, right = right, left
    try:
        return overridden(function, (left, right), {})
    except NoImplementation:
        return NotImplemented


# -- methods and properties of the core -----------------------------------------------------------------
_observed = []


def observe() -> None:
    """From now on methods and properties that the core defines look for overrides, as the catalogue always does."""
    if _observed:
        return
    _observed.append(True)
    for name, value in list(vars(Tensor).items()):
        if name in _INTERNAL or name.startswith("__"):
            continue
        if isinstance(value, types.MethodDescriptorType):
            METHODS[name] = Composite(value, name)
            engine.attach_method(name, METHODS[name])
        elif isinstance(value, (types.GetSetDescriptorType, property)):
            engine.attach_method(name, Attribute(value))


def offer_overrides() -> None:
    """Say which functions of the catalogue can be overridden: those with a public name that do not make tensors."""
    public = {id(made) for table in (FUNCTIONS, METHODS, FUNCTIONAL) for made in table.values()}
    for made in OPS.values():
        made.overridable = made.overridable and id(made) in public
    for table in (FUNCTIONS, METHODS):
        for name in NOT_OVERRIDABLE:
            if isinstance(table.get(name), Composite):
                table[name].overridable = False


for _name, _method in {"__torch_function__": torch_function, "__init_subclass__": init_subclass}.items():
    engine.attach_method(_name, classmethod(_method))
engine.attach_method("__format__", Composite(vars(Tensor)["__format__"], "__format__"))
engine.attach_method("__new__", staticmethod(new_instance))
engine.bind("overridden", overridden)
engine.bind("operate", operate)
