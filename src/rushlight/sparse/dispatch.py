"""Which function runs when an op meets a sparse tensor.

The core hands over every call with a sparse argument. `implements("add")` registers the sparse form of an op by its
name; the backward of a dense op that gets a sparse cotangent runs on its dense form; every other op refuses.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core import engine
from ..core.engine import Op, Tensor
from .parts import COO, CSC, CSR, kind_of

IMPLEMENTATIONS: dict[str, Callable] = {}
ANYWHERE: set[str] = set()  # ops of which another argument than the first may be the sparse one
UNUSUAL = (AttributeError, ArithmeticError, KeyError, AssertionError)  # what arguments of wrong kinds lead to
_BACKENDS = {COO: "SparseCPU", CSR: "SparseCsrCPU", CSC: "SparseCsrCPU"}


def implements(*names: str, anywhere: bool = False):
    """Register a function as the sparse form of ops, for a sparse first argument or for one `anywhere`."""

    def register(function):
        for name in names:
            IMPLEMENTATIONS[name] = function
            if anywhere:
                ANYWHERE.add(name)
        return function

    return register


def sparse_call(called: Op | None, name: str, args: tuple, kwargs: dict):
    """The result of an op for arguments among which is a sparse tensor."""
    found = IMPLEMENTATIONS.get(name)
    if found is not None and (name in ANYWHERE or is_sparse(args[0] if args else next(iter(kwargs.values())))):
        try:
            return run(found, args, kwargs)
        except UNUSUAL as error:
            raise RuntimeError(f"{name}: cannot be computed for these arguments ({error})") from error
    if called is not None and not hasattr(called.declaration, "names"):  # the backward of a dense op
        return called.call([dense_of(a) for a in args])
    if name.endswith("_") and name[:-1] in IMPLEMENTATIONS and args and kind_of(args[0]):
        return in_place(IMPLEMENTATIONS[name[:-1]], args, kwargs)
    refuse(name, args, kwargs)


def is_sparse(value) -> bool:
    """Whether a value is a sparse tensor, or a list with one."""
    return any(map(kind_of, value)) if isinstance(value, (tuple, list)) else bool(kind_of(value))


def run(function: Callable, args: tuple, kwargs: dict):
    """Call a sparse form; what `out` names then takes the result over."""
    if not kwargs:
        return function(*args)
    if kwargs.get("out") is None:
        kwargs = {name: value for name, value in kwargs.items() if name != "out"}
        return function(*args, **kwargs)
    kwargs = dict(kwargs)
    out = kwargs.pop("out")
    return store(out, function(*args, **kwargs))


def store(out: Tensor, result: Tensor) -> Tensor:
    """Put a result in the tensor given as `out`, which must have its layout."""
    if kind_of(out) != kind_of(result):
        raise RuntimeError(f"out: expected a tensor of layout {result.layout}, got {out.layout}")
    if kind_of(result):
        return engine.become_sparse(out, result.to(out.dtype))
    from ..ops.writing import store as store_dense

    return store_dense(out, result)


def in_place(function: Callable, args: tuple, kwargs: dict) -> Tensor:
    """The in-place form of an op on a sparse tensor, which takes over the parts of the result."""
    target = args[0]
    result = run(function, args, kwargs)
    if tuple(result.shape) != tuple(target.shape):
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(result.shape)}"
        )
    if result.dtype is not target.dtype:
        from ..ir.dtypes import category

        if category(result.dtype) > category(target.dtype):
            raise RuntimeError(
                f"result type {result.dtype.name} can't be cast to the desired output type {target.dtype.name}"
            )
        result = result.to(target.dtype)
    return engine.become_sparse(target, result)


def dense_of(value):
    """A sparse tensor in memory; anything else stays."""
    return value.to_dense() if kind_of(value) else value


def refuse(name: str, args: tuple, kwargs: dict) -> None:
    """NotImplementedError, with the layout that the op does not take."""
    parts = [p for v in (*args, *kwargs.values()) for p in (v if isinstance(v, (list, tuple)) else (v,))]
    kind = next(kind_of(p) for p in parts if kind_of(p))
    raise NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{_BACKENDS[kind]}' backend: there is no form of it for "
        "sparse tensors. Use Tensor.to_dense() first, or work on Tensor.values()."
    )


engine.bind("sparse_call", sparse_call)
