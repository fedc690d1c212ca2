"""How sparse tensors are shown: their parts, then what dense tensors tell, too."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ops import printing
from .dispatch import implements
from .invariants import names
from .parts import COO, kind_of, parts_of


@implements("repr")
def show(tensor: Tensor) -> str:
    """`repr` of a sparse tensor."""
    name = "tensor" if printing.plain(type(tensor)) else type(tensor).__name__
    indent = len(name) + 1
    parts = parts_of(tensor)
    if kind_of(tensor) == COO:
        shown = [part("indices", parts.indices, indent), part("values", parts.values, indent)]
        text = f",\n{' ' * indent}".join([*shown, ""]) + f"size={tuple(tensor.shape)}"
        rest = facts(tensor)[1:]
    else:
        outer, inner = names(kind_of(tensor))
        shown = [part(outer, parts.pointers, indent), part(inner, parts.places, indent)]
        text = f",\n{' ' * indent}".join([*shown, part("values", parts.values, indent)])
        rest = facts(tensor)
    return printing.with_facts(f"{name}({text}", rest, indent)


def part(name: str, tensor: Tensor, indent: int) -> str:
    """One of the parts: the numbers, and the size if there are none."""
    start = f"{name}=tensor("
    text = printing.elements(tensor, indent + len(start))
    size = "" if tensor.numel() else f", size={tuple(tensor.shape)}"
    return f"{start}{text}{size})"


def facts(tensor: Tensor) -> list[str]:
    """What is told after the parts."""
    found = [f"size={tuple(tensor.shape)}", f"nnz={parts_of(tensor).values.shape[0]}"]
    found += [f"dtype={tensor.dtype}"] if not printing.is_usual(tensor.dtype) else []
    found.append(f"layout={tensor.layout}")
    if tensor.grad_fn is not None:
        found.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        found.append("requires_grad=True")
    return found
