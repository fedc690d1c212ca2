"""What can be done to a recorded graph: hooks on the tensors it keeps, and where gradients go.

Hooks see each tensor that a node keeps for the backward pass, as it is kept and as it is used again.
"""

from __future__ import annotations

import threading

from ..core import engine
from ..core.engine import Node, Tensor, is_grad_enabled


class _Stack(threading.local):
    def __init__(self):
        self.pairs: list = []
        self.refusal: str | None = None  # why hooks are not allowed now


_stack = _Stack()


class saved_tensors_hooks:
    """Within the block, `pack_hook(tensor)` decides what a node keeps in place of a tensor, `unpack_hook(packed)`
    gives it back.

    The innermost pair counts. What `unpack_hook` returns must hold the same numbers as the tensor did. Packing a tensor
    must not modify it.

    >>> with rushlight.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True), rushlight.from_numpy):
    ...     y = rushlight.ones(2, requires_grad=True).exp()
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pair = (pack_hook, unpack_hook)

    def __enter__(self):
        if _stack.refusal is not None:
            raise RuntimeError(_stack.refusal)
        _stack.pairs.append(self.pair)
        engine.set_saving_hooks(len(_stack.pairs))

    def __exit__(self, *exc):
        _stack.pairs.pop()
        engine.set_saving_hooks(len(_stack.pairs))


class save_on_cpu(saved_tensors_hooks):
    """Keep copies of saved tensors in main memory, which is where they are; `pin_memory` has no effect."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cpu"):
        super().__init__(lambda tensor: tensor.detach().clone(), lambda packed: packed)


class disable_saved_tensors_hooks:
    """Within the block, hooks on saved tensors raise an error with the given message."""

    def __init__(self, error_message: str):
        self.error_message = error_message

    def __enter__(self):
        if _stack.pairs:
            raise RuntimeError(self.error_message)
        self.was, _stack.refusal = _stack.refusal, self.error_message

    def __exit__(self, *exc):
        _stack.refusal = self.was


class Packed:
    """What a node keeps in place of a tensor, with the way back to the tensor's place in the graph."""

    __slots__ = ("content", "leaf", "node", "slot", "unpack")

    def __init__(self, content, unpack, tensor: Tensor):
        self.content, self.unpack = content, unpack
        self.node, self.slot = tensor.grad_fn, tensor.output_nr
        self.leaf = tensor if tensor.requires_grad and self.node is None else None


def hooks_are_active() -> bool:
    """Whether a pair of hooks looks after what is saved now."""
    return bool(_stack.pairs)


def pack_saved(tensor: Tensor) -> Packed:
    """Apply the innermost pack hook, with recording off."""
    pack, unpack = _stack.pairs[-1]
    packed = Packed(None, unpack, tensor)
    was = engine.set_grad_mode(False)
    held = engine.set_saving_hooks(0)
    try:
        packed.content = pack(tensor.detach() if packed.leaf is None else tensor)
    finally:
        engine.set_grad_mode(was)
        engine.set_saving_hooks(held)
    return packed


def unpack_saved(packed: Packed) -> Tensor:
    """Apply the unpack hook; in a pass that is recorded, the tensor has its place in the graph again."""
    tensor = packed.unpack(packed.content)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(tensor).__name__}"
        )
    if not is_grad_enabled() or tensor is packed.leaf:
        return tensor
    if packed.leaf is not None:
        node = engine.python_node("UnpackBackward", [packed.leaf], lambda gradient: gradient)
        tensor = tensor.detach()
        engine.attach(node, tensor)
        return tensor
    return tensor if packed.node is None else engine.joined(tensor, packed.node, packed.slot)


# -- ends of edges -------------------------------------------------------------------------------------
class GradientEdge:
    """Where a gradient flows: output `output_nr` of a node."""

    __slots__ = ("node", "output_nr")

    def __init__(self, node, output_nr: int):
        self.node, self.output_nr = node, output_nr

    def __iter__(self):
        return iter((self.node, self.output_nr))

    def __repr__(self) -> str:
        return f"GradientEdge(node={self.node}, output_nr={self.output_nr})"


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge through which the gradient of a tensor arrives."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    return GradientEdge(engine.AccumulateGrad(tensor) if node is None else node, tensor.output_nr)


def increment_version(tensor) -> None:
    """Count a write that autograd did not see."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        engine.bump_version(t)


engine.bind("pack_saved", pack_saved)
engine.bind("unpack_saved", unpack_saved)

__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "save_on_cpu",
    "saved_tensors_hooks",
]
