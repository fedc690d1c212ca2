"""`rushlight.overrides`: what libraries need that let types override the functions of this package, and theirs.

A type overrides if it has a class method `__torch_function__(cls, func, types, args=(), kwargs=None)`. A call with one
of its instances, anywhere among the arguments or in a list of them, goes there: `func` is the public function, `types`
are the types that override, subclasses first, else from left to right. NotImplemented passes the call on to the next.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import types

from .core import engine
from .core.engine import Attribute, Composite, Op, Tensor
from .ir import dtypes
from .ops.overriding import NOT_OVERRIDABLE, observe, overridden

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]


_SPECIAL_METHODS = frozenset(
    """
    __bool__ __complex__ __contains__ __deepcopy__ __float__ __getitem__ __index__ __int__ __len__ __reduce_ex__
    __repr__ __setitem__
    """.split()  # noqa: SIM905
)


# -- functions that can be overridden -----------------------------------------------------------------
def has_torch_function(relevant_args) -> bool:
    """Whether a call with these arguments is overridden: by the type of one of them, or by a mode.

    >>> rushlight.overrides.has_torch_function((rushlight.ones(2), 3))
    False
    """
    off = engine.overrides_off()
    if off < 2 and engine.function_modes():
        return True
    return off == 0 and any(engine.overrides(type(value)) for value in relevant_args)


def has_torch_function_unary(relevant_arg) -> bool:
    """The same for one argument."""
    return has_torch_function((relevant_arg,))


def has_torch_function_variadic(*relevant_args) -> bool:
    """The same for any number of arguments."""
    return has_torch_function(relevant_args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """The result of a call of the function `public_api` with `args` and `kwargs` that `relevant_args` override.

    Raises:
        TypeError: none of the types that override the call takes it
    """
    return overridden(public_api, args, kwargs, tuple(relevant_args))


def wrap_torch_function(dispatcher):
    """A decorator that lets the types of arguments override a function.

    `dispatcher`, called as the function is, gives the arguments to look at.

    >>> @rushlight.overrides.wrap_torch_function(lambda a, factor: (a,))
    ... def scaled(a, factor):
    ...     return a * factor
    >>> scaled(rushlight.ones(2), 3)
    tensor([3., 3.])
    """

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


# -- modes ------------------------------------------------------------------------------------------
class TorchFunctionMode:
    """A context in which all calls of public functions and methods go to its `__torch_function__`.

    While that runs the mode is not in force: what it calls goes to the modes around it. Modes nest; the innermost sees
    a call first, before the types of its arguments do.

    >>> class Count(rushlight.overrides.TorchFunctionMode):
    ...     seen = 0
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         self.seen += 1
    ...         return func(*args, **(kwargs or {}))
    >>> with Count() as mode:
    ...     total = rushlight.ones(3).sum()
    >>> mode.seen
    2
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        """What becomes of a call; every mode defines it."""
        raise NotImplementedError(f"{type(self).__name__} must define __torch_function__")

    def __enter__(self):
        observe()
        engine.push_function_mode(self)
        return self

    def __exit__(self, *exception) -> None:
        engine.pop_function_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        """A mode made of these arguments, to be entered: an older way of writing `cls(...)`."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        """Calls the function."""
        return func(*args, **(kwargs or {}))


def _get_current_function_mode():
    """The innermost mode, or None."""
    return (engine.function_modes() or [None])[-1]


def _get_current_function_mode_stack() -> list:
    """The modes in force, outermost first."""
    return engine.function_modes()


@contextlib.contextmanager
def _pop_mode_temporarily():
    """A context in which the innermost mode is not in force."""
    mode = engine.pop_function_mode()
    try:
        yield mode
    finally:
        engine.push_function_mode(mode)


# -- what there is ------------------------------------------------------------------------------------
def is_tensor_like(inp) -> bool:
    """Whether a value is a tensor, or of a type that overrides functions as one.

    >>> rushlight.overrides.is_tensor_like(rushlight.ones(2)), rushlight.overrides.is_tensor_like([1.0])
    (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func) -> bool:
    """Whether a function that `__torch_function__` was given is a method of tensors, or gets or sets a property.

    Functions that are methods at the same time (`add`) are methods.
    """
    return getattr(func, "__name__", "") in ("__get__", "__set__", "__delete__") or func in _methods()


@functools.cache
def _methods() -> frozenset:
    return frozenset(value for value in vars(Tensor).values() if callable(value))


def resolve_name(f) -> str | None:
    """The name of a function with its namespace, or None for one that is not public here.

    >>> rushlight.overrides.resolve_name(rushlight.ones_like)
    'rushlight.ones_like'
    """
    return _names().get(f)


def owners() -> list:
    """The namespaces that have public functions, with their names."""
    name = dtypes._MODULE
    spaces = ["", "nn.functional", "linalg", "fft", "special"]
    found = [
        (importlib.import_module(f"rushlight.{space}".rstrip(".")), f"{name}.{space}".rstrip(".")) for space in spaces
    ]
    return [found[0], (Tensor, f"{name}.Tensor"), *found[1:]]


@functools.cache
def _names() -> dict:
    names = {}
    for owner, prefix in owners():
        for name, value in members(owner).items():
            if isinstance(value, (types.GetSetDescriptorType, property)):
                for action in ("__get__", "__set__"):
                    names.setdefault(getattr(value, action), f"{prefix}.{name}.{action}")
            elif callable(value) and (value not in names or value.__name__ == name != names[value].rpartition(".")[2]):
                names[value] = f"{prefix}.{name}"
    return names


def members(owner) -> dict:
    """The public names of a namespace or class, with what they mean."""
    names = [name for name in dir(owner) if not name.startswith("_") or owner is Tensor]
    found = {}
    for name in names:
        with contextlib.suppress(AttributeError, RuntimeError, NotImplementedError):
            found[name] = getattr(owner, name)
    return found


def can_be_overridden(value) -> bool:
    return isinstance(value, (Op, Composite)) and value.overridable


def get_overridable_functions() -> dict:
    """All functions that types can override, by the namespace (or by the property of Tensor) that has them.

    >>> rushlight.add in rushlight.overrides.get_overridable_functions()[rushlight]
    True
    """
    observe()
    found = {}
    for owner, _ in owners():
        for name, value in members(owner).items():
            if can_be_overridden(value):
                found.setdefault(owner, []).append(value)
            elif isinstance(vars(owner).get(name), Attribute):
                found[value] = [value.__get__]
            elif owner is Tensor and isinstance(value, types.WrapperDescriptorType) and name in _SPECIAL_METHODS:
                found.setdefault(owner, []).append(value)
    return found


def get_ignored_functions() -> set:
    """Public functions that no type can override: they make tensors, or do not take any."""
    found = set()
    for owner, _ in owners():
        for name, value in members(owner).items():
            if isinstance(value, (Op, Composite)) and not value.overridable and name in NOT_OVERRIDABLE:
                found.add(value)
    return found


def get_testing_overrides() -> dict:
    """For each function that can be overridden one of the same signature that returns -1: for tests of types that do.

    >>> rushlight.overrides.get_testing_overrides()[rushlight.add](1, 2)
    -1
    """
    found = {}
    for functions in get_overridable_functions().values():
        for function in functions:
            found[function] = minus_one_for(function)
    return found


def minus_one_for(function):
    signature = signature_of(function)

    def dummy(*args, **kwargs):
        signature.bind(*args, **kwargs)
        return -1

    dummy.__signature__ = signature
    dummy.__name__ = getattr(function, "__name__", "dummy")
    return dummy


def signature_of(function) -> inspect.Signature:
    """The signature of a public function; that of any call where it has none to show."""
    if isinstance(function, Op):
        return op_signature(function)
    with contextlib.suppress(TypeError, ValueError):
        return inspect.signature(function)
    any_number = [("args", inspect.Parameter.VAR_POSITIONAL), ("kwargs", inspect.Parameter.VAR_KEYWORD)]
    return inspect.Signature([inspect.Parameter(name, kind) for name, kind in any_number])


def op_signature(function: Op) -> inspect.Signature:
    """An op's parameters, and `out` where it takes that."""
    declared = function.declaration
    parameters = []
    for i, name in enumerate(declared.names):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if i < declared.positional else inspect.Parameter.KEYWORD_ONLY
        default = declared.defaults.get(name, inspect.Parameter.empty)
        parameters.append(inspect.Parameter(name, kind, default=default))
    if function.accepts_out and "out" not in declared.names:
        parameters.append(inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)
