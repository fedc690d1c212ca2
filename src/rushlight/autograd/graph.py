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


# -- hooks on several tensors ----------------------------------------------------------------------------
class MultiHandle:
    """Several hooks that `remove()` takes away together."""

    def __init__(self, handles):
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Unregister the hooks."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> MultiHandle:
        return self

    def __exit__(self, *exc) -> None:
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode: str = "all") -> MultiHandle:
    """Call `fn` once in each backward pass that computes gradients of the tensors.

    With mode "all" when all gradients that the pass computes are there: `fn(gradients)`, None for those that it does
    not. With "any" at the first: `fn(gradient)`.

    >>> a, b = (rushlight.ones(2, requires_grad=True) for _ in range(2))
    >>> handle = rushlight.autograd.graph.register_multi_grad_hook((a, b), lambda found: print(len(found)))
    >>> (a * b).sum().backward()
    2
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    watch = _watch_all if mode == "all" else _watch_any
    return MultiHandle(tensor.register_hook(hook) for tensor, hook in zip(tensors, watch(tensors, fn)))


def _watch_all(tensors: tuple, fn):
    passes: dict[int, list] = {}  # walk -> gradients so far, and how many are still to come
    lock = threading.Lock()

    def make(place: int):
        def hook(gradient) -> None:
            walk = engine.current_walk()
            with lock:
                if walk not in passes:
                    passes[walk] = [[None] * len(tensors), sum(map(engine.is_reached, tensors))]
                found = passes[walk]
                found[0][place] = gradient
                found[1] -= 1
                complete = not found[1]
                if complete:
                    del passes[walk]
            if complete:
                fn(found[0])

        return hook

    return map(make, range(len(tensors)))


def _watch_any(tensors: tuple, fn):
    seen = [0]  # the walk that has called last
    lock = threading.Lock()

    def hook(gradient) -> None:
        walk = engine.current_walk()
        with lock:
            first, seen[0] = seen[0] != walk, walk
        if first:
            fn(gradient)

    return [hook] * len(tensors)


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
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
