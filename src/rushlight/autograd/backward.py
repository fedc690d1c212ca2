"""`backward` and `grad`: where a walk through the graph starts and what it yields."""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor, is_grad_enabled, run_backward


def as_tensors(value, what: str) -> list:
    if isinstance(value, Tensor):
        return [value]
    found = list(value)
    for tensor in found:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{what}: expected tensors, got {type(tensor).__name__}")
    return found


def starting_cotangents(roots: list, given) -> list:
    """The cotangents to start from: ones for scalars, unless given."""
    given = [None] * len(roots) if given is None else [given] if isinstance(given, Tensor) else list(given)
    if len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    return [starting_cotangent(root, cotangent) for root, cotangent in zip(roots, given)]


def starting_cotangent(root: Tensor, cotangent):
    if cotangent is not None:
        if not isinstance(cotangent, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(cotangent).__name__}")
        if cotangent.shape != root.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output has a shape of {cotangent.shape} and output has a shape of "
                f"{root.shape}."
            )
        if cotangent.is_complex() != root.is_complex():
            raise RuntimeError("For complex Tensors, both grad_output and output are required to have the same dtype.")
        return cotangent
    if not root.requires_grad:
        return None
    if root.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if root.is_complex() and root.detach().item().imag != 0:
        raise RuntimeError("grad can be implicitly created only for real scalar outputs but got " + str(root.dtype))
    return ops.creation.ones_for(root)


def backward(
    tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None
) -> None:
    """Sum gradients of `tensors` with respect to the leaves of their graph into the leaves' `.grad`.

    tensors       a tensor or several; each needs a gradient in `grad_tensors` unless it has one element
    retain_graph  keep what the graph saved, to walk it again (default: `create_graph`)
    create_graph  record the walk itself, for derivatives of higher order
    inputs        accumulate only into these tensors
    """
    roots = as_tensors(tensors, "backward")
    if grad_tensors is None:
        grad_tensors = grad_variables
    if not roots:
        return
    for root in roots:
        if not root.requires_grad:
            raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    cotangents = starting_cotangents(roots, grad_tensors)
    keep = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        run_backward(roots, cotangents, bool(keep), bool(create_graph), None, True)
        return
    wanted = as_tensors(inputs, "backward")
    if not wanted:
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    for tensor in wanted:
        if not tensor.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    found = run_backward(roots, cotangents, bool(keep), bool(create_graph), wanted, True)
    for tensor, gradient in zip(wanted, found):
        if not tensor.is_leaf and gradient is not None:
            tensor.grad = gradient if tensor.grad is None else tensor.grad + gradient


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
) -> tuple:
    """Gradients of `outputs` with respect to `inputs`, as a tuple; leaves' `.grad` stay as they are.

    is_grads_batched   `grad_outputs` have one more dimension in front, and so have the gradients
    materialize_grads  zeros instead of None for inputs that are not used

    >>> x = rushlight.tensor(3.0, requires_grad=True)
    >>> rushlight.autograd.grad(x * x, x)
    (tensor(6.),)
    """
    if is_grads_batched:
        return batched_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads)
    roots, wanted = as_tensors(outputs, "grad"), as_tensors(inputs, "grad")
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    for tensor in wanted:
        if not tensor.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    for root in roots:
        if not root.requires_grad:
            raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    cotangents = starting_cotangents(roots, grad_outputs)
    keep = create_graph if retain_graph is None else retain_graph
    found = run_backward(roots, cotangents, bool(keep), bool(create_graph), wanted, False)
    if allow_unused is None:
        allow_unused = materialize_grads
    for i, gradient in enumerate(found):
        if gradient is None:
            if not allow_unused:
                raise RuntimeError(
                    "One of the differentiated Tensors appears to not have been used in the graph. Set "
                    "allow_unused=True "
                    "if this is the desired behavior."
                )
            if materialize_grads:
                found[i] = ops.creation.zeros_for(wanted[i])
    return tuple(found)


def batched_grad(outputs, inputs, cotangents, retain_graph, create_graph, allow_unused, materialize_grads) -> tuple:
    """`grad` for cotangents with one more dimension in front: one walk for all of them."""
    from .levels import Level, enter, leave

    roots, wanted = as_tensors(outputs, "grad"), as_tensors(inputs, "grad")
    given = [cotangents] if isinstance(cotangents, Tensor) else list(cotangents or ())
    counts = {len(c) for c in given if c is not None}
    if len(counts) != 1:
        raise RuntimeError(f"grad(is_grads_batched=True): expected cotangents of one batch size, got {sorted(counts)}")
    check_batches(roots, given)
    (count,) = counts
    with Level(count) as level:
        samples = [None if c is None else enter(c, 0, level) for c in given]
        found = grad(
            roots,
            wanted,
            samples,
            retain_graph,
            create_graph,
            allow_unused=allow_unused,
            materialize_grads=materialize_grads,
        )
        return tuple(None if g is None else leave(g, 0, level) for g in found)


def check_batches(roots: list, cotangents: list) -> None:
    for root, cotangent in zip(roots, cotangents):
        if cotangent is not None and cotangent.shape[1:] != root.shape:
            raise RuntimeError(
                f"If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                f"dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output has a shape of {cotangent.shape} and output has a "
                f"shape of {root.shape}."
            )


def tensor_backward(tensor, gradient, retain_graph, create_graph, inputs) -> None:
    backward(tensor, gradient, retain_graph, create_graph, inputs=inputs)


# -- views and in-place writes, for the engine -------------------------------------------------------
def view_backward(cotangent, base, base_start, view, start):
    """The cotangent of a base whose view has `cotangent`: zeros with the cotangent laid in."""
    return ops.shape.strided_scatter(dense(cotangent), base, base_start, view, start)


def split_slice(cotangent, base, base_start, view, start):
    """What an in-place write into a view passes on unseen, and the part that the write sees."""
    whole = ops.shape.copied_to_layout(dense(cotangent), base, base_start, view, start)
    part = ops.shape.part_of_copy(whole, base_start, view, start)
    seen = part.clone()
    part.zero_()
    return whole, seen


def join_slice(rest, seen, base, base_start, view, start):
    """Lay the cotangent of the old part back into the rest."""
    ops.shape.part_of_copy(rest, base_start, view, start).copy_(seen)
    return rest


def dense(cotangent):
    """A cotangent that lies in memory: sparse ones come from embeddings and from sparse tensors."""
    return cotangent.to_dense() if cotangent._layout.sparse else cotangent


def clone_like(gradient, leaf):
    """A gradient that nobody else holds; dense ones have the leaf's layout."""
    if gradient._layout.sparse or gradient._layout.batch or leaf._layout.batch:
        return gradient.detach().clone()
    layout = dense_layout(leaf)
    if gradient.dtype is not layout.dtype:  # as the leaf's grad_dtype wants it
        layout = engine.layout_of(layout.shape, layout.strides, gradient.dtype)
    made = engine.empty_tensor(layout)
    made.copy_(gradient.detach())
    return made


def dense_layout(leaf):
    layout = leaf._layout
    return (
        layout
        if not layout.sparse and engine.dense_order(layout) is not None
        else engine.layout_of(layout.shape, None, layout.dtype)
    )


def validate_cotangents(node, found: list, layouts: list) -> list:
    """Check what a Python backward returned: as many as inputs, of fitting shape; cast to the inputs' dtype."""
    if len(found) < len(layouts):
        raise RuntimeError(
            f"function {node.name()} returned an incorrect number of gradients (expected {len(layouts)}, got "
            f"{len(found)})"
        )
    for extra in found[len(layouts) :]:
        if extra is not None:
            raise RuntimeError(
                f"function {node.name()} returned an incorrect number of gradients (expected {len(layouts)}, got "
                f"{len(found)})"
            )
    return [validated(node, i, gradient, layout) for i, (gradient, layout) in enumerate(zip(found, layouts))]


def validated(node, i: int, gradient, layout):
    if gradient is None or layout is None:
        return None if layout is None else gradient
    if not isinstance(gradient, Tensor):
        raise TypeError(f"expected Variable or None (got {type(gradient).__name__})")
    if tuple(gradient.shape) != layout.shape:
        if not expands(layout.shape, tuple(gradient.shape)):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {i} - got {list(gradient.shape)} but "
                f"expected "
                f"shape compatible with {list(layout.shape)}"
            )
        gradient = ops.shape.sum_to_size(gradient, layout.shape)
    if gradient._layout.batch:
        gradient = of_own_samples(node, gradient, layout)
    if gradient.dtype is not layout.dtype:
        gradient = ops.copying.cast_for_gradient(gradient, layout.dtype)
    return gradient


def of_own_samples(node, gradient, layout):
    """The gradient of what is one for all samples of a `vmap` that the node is part of: the sum over them."""
    own = {level for level, _, _ in layout.batch or ()}
    of_node = {level for part in node.output_layouts if part is not None for level, _, _ in part.batch or ()}
    for level, _, _ in gradient._layout.batch:
        if level in of_node and level not in own:
            gradient = ops.reduction.sum(engine.reveal(gradient, 0, level), 0)
    return gradient


def expands(shape: tuple, target: tuple) -> bool:
    """Whether `shape` broadcasts to `target`."""
    return len(shape) <= len(target) and all(a in (1, b) for a, b in zip(shape[::-1], target[::-1]))


for _name, _function in {
    "backward": tensor_backward,
    "view_backward": view_backward,
    "split_slice": split_slice,
    "join_slice": join_slice,
    "clone_like": clone_like,
    "validate_cotangents": validate_cotangents,
    "cast_gradient": ops.copying.cast_for_gradient,
}.items():
    engine.bind(_name, _function)

__all__ = ["backward", "grad", "is_grad_enabled"]
