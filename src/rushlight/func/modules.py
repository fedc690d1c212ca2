"""Modules as functions of their parameters: `functional_call`, `stack_module_state`."""

from __future__ import annotations

from ..nn.utils.stateless import call_with
from ..ops.declare import FUNCTIONS


def functional_call(
    module,
    parameter_and_buffer_dicts: dict | tuple | list,
    args=None,
    kwargs: dict | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
):
    """The module's output with other parameters and buffers, given by name in a dict or several.

    args         positional arguments: a tuple, or a single one
    tie_weights  a parameter that the module has under several names is replaced under all of them
    strict       RuntimeError unless the dicts name all parameters and buffers and nothing else

    The module itself is unchanged after. What it writes into buffers is written into those given.

    >>> from rushlight.func import functional_call, grad
    >>> model = nn.Linear(2, 1)
    >>> parameters = {"weight": rushlight.tensor([[1.0, 2.0]]), "bias": rushlight.zeros(1)}
    >>> functional_call(model, parameters, rushlight.ones(2))
    tensor([3.])
    >>> grad(lambda p: functional_call(model, p, rushlight.ones(2)).sum())(parameters)["weight"]
    tensor([[1., 1.]])
    """
    if isinstance(parameter_and_buffer_dicts, (tuple, list)):
        parameter_and_buffer_dicts = joined(parameter_and_buffer_dicts)
    elif not isinstance(parameter_and_buffer_dicts, dict):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    return call_with(module, parameter_and_buffer_dicts, args, kwargs, tie_weights, strict)


def joined(dicts) -> dict:
    found: dict = {}
    for part in dicts:
        if not isinstance(part, dict):
            raise ValueError(
                f"Expected all elements of parameter_and_buffer_dicts to be dictionaries, got {type(part)}"
            )
        for key in part:
            if key in found:
                raise ValueError(f"{key} appears in multiple dictionaries; behavior of functional call is ambiguous")
        found |= part
    return found


def stack_module_state(models) -> tuple[dict, dict]:
    """(parameters, buffers) of modules of one kind, each stacked along a new dim 0: an ensemble for `vmap`.

    >>> from rushlight.func import functional_call, stack_module_state, vmap
    >>> models = [nn.Linear(3, 2) for _ in range(4)]
    >>> parameters, buffers = stack_module_state(models)
    >>> def call(p, b, x):
    ...     return functional_call(models[0], (p, b), (x,))
    >>> vmap(call, in_dims=(0, 0, None))(parameters, buffers, rushlight.ones(5, 3)).shape
    rushlight.Size([4, 5, 2])
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(m.training != models[0].training for m in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = [dict(m.named_parameters()) for m in models]
    buffers = [dict(m.named_buffers()) for m in models]
    return (
        {name: stacked(name, [p[name] for p in parameters]) for name in parameters[0]},
        {name: stacked(name, [b[name] for b in buffers]) for name in buffers[0]},
    )


def stacked(name: str, tensors: list):
    """A leaf that holds all of them."""
    if any(t.requires_grad != tensors[0].requires_grad for t in tensors):
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return FUNCTIONS["stack"]([t.detach() for t in tensors]).requires_grad_(tensors[0].requires_grad)
