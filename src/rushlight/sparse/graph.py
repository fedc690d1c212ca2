"""Sparse tensors in the graph: two bridges to dense values, through which all derivatives go.

`values(s)` leads from a sparse tensor to the dense tensor of its values, `rebuilt(like, v)` from values back to a
sparse tensor. What lies between is written in dense ops, so derivatives of every order follow from theirs. Cotangents
of sparse tensors may be sparse or dense.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core import engine
from ..core.engine import Tensor, is_grad_enabled
from . import lookup
from .parts import coo, kind_of, parts_of, same_pattern, with_parts


def record(result: Tensor, title: str, inputs: Sequence, rule: Callable, saved: Sequence = ()) -> Tensor:
    """Record how `result`, computed outside of any graph, depends on `inputs`.

    `rule(cotangent, *saved)` gives one cotangent (or None) for each input.
    """
    check_still(*inputs)
    if not (is_grad_enabled() and result._layout.floating and any(requires_grad(t) for t in inputs)):
        return result
    versions = [t._version for t in saved]

    def run(cotangent):
        check_versions(title, saved, versions)
        return rule(cotangent, *saved) if cotangent is not None else (None,) * len(inputs)

    engine.attach(engine.python_node(title, list(inputs), run), result)
    return result


def requires_grad(value) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def check_still(*tensors) -> None:
    """NotImplementedError for a tensor that forward mode follows: it cannot be followed into a sparse tensor."""
    level = engine.dual_level()
    if level and any(isinstance(t, Tensor) and engine.tangent_of(t, level) is not None for t in tensors):
        raise NotImplementedError(
            "forward mode does not follow sparse tensors, only dense factors of products with them: use reverse mode"
        )


def check_versions(title: str, saved: Sequence, versions: list) -> None:
    """RuntimeError if a tensor that a derivative reads was written since."""
    for tensor, version in zip(saved, versions):
        if tensor._version != version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"[{tensor.dtype.name} {list(tensor.shape)}] is at version {tensor._version}; expected version "
                f"{version} instead ({title} needs it)"
            )


def values(tensor: Tensor, title: str = "ValuesBackward0") -> Tensor:
    """The values of a sparse tensor as they are, part of its graph; they share its memory."""
    check_still(tensor)
    if not tensor.requires_grad:
        return parts_of(tensor).values.detach()
    pattern = tensor.detach()
    return record(parts_of(tensor).values.detach(), title, [tensor], lambda g: (cotangent_of(pattern, g),))


def cotangent_of(pattern: Tensor, g: Tensor) -> Tensor:
    """The cotangent of a sparse tensor, given those of its values.

    Values of one place are summands, whose cotangents are all that of their sum: it is kept once.
    """
    if lookup.is_distinct(pattern):
        return rebuilt(pattern, g)
    indices, mean = lookup.mean_by_place(pattern, g)
    return wrapped(coo(indices, mean, pattern.shape, True), mean, "SparseCooTensorWithDimsAndTensorsBackward0")


def rebuilt(like: Tensor, new: Tensor, title: str = "SparseCooTensorWithDimsAndTensorsBackward0") -> Tensor:
    """A sparse tensor with the places of `like` and the values `new`, part of their graph."""
    made = with_parts(like, new)
    return wrapped(made, new, title)


def wrapped(made: Tensor, new: Tensor, title: str) -> Tensor:
    """A sparse tensor made of the values `new`, as part of their graph."""
    pattern = made.detach()
    return record(made, title, [new], lambda g: (at_places(g, pattern),))


def at_places(grad: Tensor, pattern: Tensor) -> Tensor:
    """The elements of a tensor, sparse or dense, at the places of a sparse one, in the order of its values."""
    if kind_of(grad) and same_pattern(grad, pattern) and lookup.is_distinct(pattern):
        return values(grad)
    if kind_of(grad):
        return lookup.found_in(grad, pattern)
    return grad[lookup.coordinates(pattern)]
