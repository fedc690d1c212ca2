"""`out=`: results written into tensors that the caller gives.

Where shapes and dtypes fit and the outputs share no memory with the operands, the kernels write the outputs
themselves; otherwise the results are computed and copied.
"""

from __future__ import annotations

import warnings

from ..core import engine
from ..core.engine import Size, Tensor, is_grad_enabled, missing
from ..ir.dtypes import DType, category
from .checks import scalar_type
from .declare import DATA, LIST
from .results import DoesNotFit, raise_inexact

MOST_PLANS = 2000  # kept per op
_NUMBERS = {int, float, bool, complex}
_STATIC = {int, bool, str, type(None), float, Size, DType}


def call_out(called, args, kwargs, out):
    """Run an op with its result(s) in `out`, resized if it has another shape."""
    if not called.accepts_out:
        raise TypeError(f"{called.name}() got an unexpected keyword argument 'out'")
    if isinstance(out, (tuple, list)) and len(out) == 1:
        raise TypeError(f"{called.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    outputs = list(out) if isinstance(out, (tuple, list)) else [out]
    for tensor in outputs:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{called.name}(): argument 'out' must be Tensor, not {type(tensor).__name__}")
    given = kwargs
    if called.accepts_out == "dtype" and kwargs.get("dtype") is None:
        kwargs = {**kwargs, "dtype": outputs[0].dtype}
    check_no_gradient(called.name, args, kwargs, outputs)
    if engine.dual_level():
        check_still(called.name, [*args, *kwargs.values(), *outputs])
    if called.accepts_out == "apart":
        check_apart(called.name, outputs, [*args, *kwargs.values()])
    if write_directly(called, args, kwargs, outputs, given):
        return out
    with_modes = engine.set_grad_mode(False)
    try:
        results = called(*args, **kwargs)
    finally:
        engine.set_grad_mode(with_modes)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    if len(results) != len(outputs):
        raise TypeError(f"{called.name}(): expected {len(results)} tensors in out, got {len(outputs)}")
    for tensor, result in zip(outputs, results):
        if called.declaration.exact and result.dtype is not tensor.dtype:
            raise_inexact(called.name, tensor.dtype, result.dtype)
        store(tensor, result, called.name)
    return out


def check_no_gradient(name: str, args, kwargs, outputs) -> None:
    if is_grad_enabled() and (
        any_requires_grad(args)
        or any_requires_grad(kwargs.values())
        or any_requires_grad(outputs)
        or any(t._base is not None and t._base.requires_grad for t in outputs)
    ):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            f"arguments "
            "requires grad."
        )


def check_still(name: str, arguments) -> None:
    """Forward mode does not follow what is written over: NotImplementedError if one of the tensors moves."""
    for value in arguments:
        for tensor in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(tensor, Tensor) and engine.tangents_of(tensor):
                raise NotImplementedError(
                    f"Trying to use forward AD with {name}_out that does not support it because it is an out= function"
                )


def check_apart(name: str, outputs, arguments) -> None:
    """Outputs must not share memory with tensors that are read."""
    for value in arguments:
        for tensor in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(tensor, Tensor) and any(engine.is_alias(tensor, out) for out in outputs):
                raise RuntimeError(
                    f"{name}: unsupported operation: some elements of the input tensor and the written-to tensor "
                    f"refer to a "
                    "single memory location. Please clone() the tensor before performing the operation."
                )


def any_requires_grad(values) -> bool:
    return any(
        (isinstance(v, Tensor) and v.requires_grad) or (isinstance(v, (list, tuple)) and any_requires_grad(v))
        for v in values
    )


# -- without a copy ---------------------------------------------------------------------------------
def write_directly(called, args, kwargs, outputs: list, given) -> bool:
    """Run the op on the outputs' memory; False where it must be computed elsewhere first.

    The plan is kept for the keywords `given` too: with one output, the core finds it there when the call comes again.
    """
    if any(isinstance(v, (tuple, list)) and len(v) > called.most for v in args):
        return False
    found = key_of(called.declaration, args, kwargs)
    if found is None or not outputs or any(tensor.numel() == 0 for tensor in outputs):
        return False
    key, flat = found
    layouts, plans = tuple([tensor._layout for tensor in outputs]), called.out_plans
    plan = plans.get((key, layouts), missing)
    if plan is missing:
        if len(plans) >= MOST_PLANS:
            plans.clear()
        plan = plans[key, layouts] = out_plan(called, key, flat, layouts)
    elif plan is not None and list(map(type, key)) != list(map(type, plan.info)):  # 1 and True are equal keys
        called.declaration.check_tensors(key)
    if plan is None or overlapping(outputs) or must_be_separate(plan, outputs, flat):
        return False
    called.run_into(outputs, plan, flat)
    if given is not kwargs:
        plans[key_of(called.declaration, args, given)[0], layouts] = plan
    return True


def key_of(declaration, args, kwargs):
    """The plan key of a call and its flat data, or None if an argument is none that the fast path takes."""
    if len(args) > declaration.positional or not all(name in declaration.names for name in kwargs):
        return None
    given = dict(zip(declaration.names, args)) | kwargs
    if len(given) != len(args) + len(kwargs) or any(n not in given for n in declaration.names[: declaration.required]):
        return None
    key, flat = [], []
    last = max((i for i, name in enumerate(declaration.names) if name in given), default=-1)
    for name, kind in zip(declaration.names[: last + 1], declaration.kinds):
        value = given.get(name, missing)
        if value is missing or value is None:
            key.append(value)
        elif kind == DATA and isinstance(value, Tensor):
            key.append(value._layout), flat.append(value)
        elif kind == DATA and type(value) in _NUMBERS:
            key.append(type(value)), flat.append(value)
        elif kind == LIST and isinstance(value, (list, tuple)) and all(isinstance(v, Tensor) for v in value):
            key.append(tuple([v._layout for v in value])), flat.extend(value)
        elif kind not in (DATA, LIST) and (type(value) in _STATIC or is_plain_tuple(value)):
            key.append(value)
        else:
            return None
    return tuple(key), flat


def is_plain_tuple(value) -> bool:
    return type(value) is tuple and all(type(v) in _STATIC for v in value)


def out_plan(called, key: tuple, flat: list, layouts: tuple):
    """A plan that writes tensors of the given layouts, or None if the results do not fit them."""
    from .planning import plan_call

    try:
        return plan_call(called, key, flat, layouts)
    except DoesNotFit:
        return None


def overlapping(outputs: list) -> bool:
    """Whether an output's elements, or two outputs, share memory."""
    return any(tensor._layout.overlapping for tensor in outputs) or any(
        engine.is_alias(a, b) for i, a in enumerate(outputs) for b in outputs[:i]
    )


def must_be_separate(plan, outputs: list, flat: list) -> bool:
    """Whether the op would overwrite what it has yet to read. (An elementwise one may write what it reads.)"""
    from .planning import is_elementwise

    shared = any(engine.is_alias(a, b) for a in outputs for b in flat if isinstance(b, Tensor))
    return shared and not is_elementwise(plan)


# -- several results ---------------------------------------------------------------------------------
def targets(name: str, out, count: int) -> tuple:
    """`out` as a tuple of as many tensors as there are results; TypeError for anything else."""
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    if len(out) != count:
        raise TypeError(f"{name}(): argument 'out' must be a tuple of {count} Tensors, but it has {len(out)} elements")
    for i, tensor in enumerate(out):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name}(): expected Tensor as element {i} of 'out', not {type(tensor).__name__}")
    return tuple(out)


def store_all(name: str, out, results) -> tuple:
    """Copy results into the tensors of `out`."""
    return tuple(store(target, result, name) for target, result in zip(targets(name, out, len(results)), results))


# -- by a copy --------------------------------------------------------------------------------------
def store(out: Tensor, result: Tensor, name: str = "out") -> Tensor:
    """Copy a result into `out`, resizing it first if needed; RuntimeError if one of them requires a gradient."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    check_no_gradient(name, (result,), {}, (out,))
    if category(result.dtype) > category(out.dtype):
        raise RuntimeError(
            f"{name}: result type {scalar_type(result.dtype)} can't be cast to the desired output type "
            f"{scalar_type(out.dtype)}"
        )
    if out.shape != result.shape:
        if out.numel():
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does "
                f"not match the "
                f"required output shape {list(result.shape)}.",
                stacklevel=4,
            )
        engine.resize(out, tuple(result.shape))
        if not result.is_contiguous() and not result._layout.overlapping:
            engine.become_view(out, out.as_strided(result.shape, result.stride()))
    return out.copy_(result)
