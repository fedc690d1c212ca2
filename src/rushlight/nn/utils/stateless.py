"""Calls of a module with other parameters and buffers than its own."""

from __future__ import annotations

import contextlib
import warnings

from ...core import Tensor


def functional_call(module, parameters_and_buffers: dict, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Deprecated: use `rushlight.func.functional_call`, which does the same."""
    warnings.warn(
        "This API is deprecated and will be removed in a future release. Please use torch.func.functional_call instead "
        "which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return call_with(module, parameters_and_buffers, args, kwargs, tie_weights, strict)


def call_with(module, given: dict, args, kwargs, tie_weights: bool, strict: bool):
    """The module's output with tensors of `given` in the places that its names say."""
    if not isinstance(given, dict):
        raise TypeError(f"functional_call: expected a dict of parameters and buffers, got {type(given).__name__}")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


@contextlib.contextmanager
def replaced(module, given: dict, tie_weights: bool = True, strict: bool = False):
    """A block in which a module holds other tensors. What the module puts in their place goes back into `given`."""
    tensors = with_ties(module, given) if tie_weights else given
    check_names(module, tensors, strict)
    places = {name: place_of(module, name) for name in tensors}
    kept = {}
    try:
        for name, (registry, key) in places.items():
            kept[name] = registry.get(key, places)  # `places` stands for nothing
            registry[key] = tensors[name]
        yield
    finally:
        for name, own in kept.items():
            registry, key = places[name]
            if name in given and isinstance(registry.get(key), Tensor):
                given[name] = registry[key]
            if own is places:
                registry.pop(key, None)
            else:
                registry[key] = own


def place_of(module, name: str) -> tuple:
    """(the dictionary of a submodule that holds a name, the name in it)"""
    path, _, key = name.rpartition(".")
    owner = module.get_submodule(path)
    for registry in (owner._parameters, owner._buffers):
        if key in registry:
            return registry, key
    return owner.__dict__, key


def check_names(module, given: dict, strict: bool) -> None:
    for name, tensor in given.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"functional_call: {name!r} should be a Tensor, got {type(tensor).__name__}")
    if not strict:
        return
    names = [name for name, _ in named_tensors(module)]
    unexpected, missing = sorted(set(given) - set(names)), sorted(set(names) - set(given))
    if unexpected or missing:
        parts = [f"Unexpected key(s): {', '.join(map(repr, unexpected))}."] * bool(unexpected)
        parts += [f"Missing key(s): {', '.join(map(repr, missing))}."] * bool(missing)
        raise RuntimeError("Error(s) in reparametrizing: " + " ".join(parts))


def named_tensors(module) -> list:
    """Parameters and buffers under all of their names."""
    return [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]


def with_ties(module, given: dict) -> dict:
    """`given`, and the same tensors under the other names of what they replace."""
    names: dict[int, list] = {}
    for name, tensor in named_tensors(module):
        names.setdefault(id(tensor), []).append(name)
    found = dict(given)
    for tied in names.values():
        values = [given[name] for name in tied if name in given]
        if any(value is not values[0] for value in values):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using "
                "tie_weights=False"
            )
        if values:
            found |= dict.fromkeys(tied, values[0])
    return found
