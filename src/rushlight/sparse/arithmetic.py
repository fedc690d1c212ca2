"""Sums, differences, products and quotients of sparse tensors, with each other, with dense tensors and with numbers."""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from . import graph, lookup
from .convert import added_at, as_coo, coalesce, dense_of, from_coordinates
from .dispatch import implements, in_place
from .parts import COO, kind_of, parts_of, same_pattern, with_parts
from .unary import converted


def is_number(value) -> bool:
    """Whether a value is a number, or a dense 0-dim tensor."""
    return not isinstance(value, Tensor) or (value.ndim == 0 and not kind_of(value))


def common_dtype(a, b):
    return ops.result_type(proxy(a), proxy(b))


def proxy(value):
    """What promotes as the value does: of sparse tensors one element of their values."""
    if not kind_of(value):
        return value
    return parts_of(value).values.new_zeros((1,) * max(value.ndim, 1))


# -- sums ---------------------------------------------------------------------------------------
@implements("add", anywhere=True)
def add(input, other, *, alpha=1) -> Tensor:
    """input + alpha * other. Sparse + sparse is sparse, dense + sparse dense."""
    if kind_of(input) and kind_of(other):
        return sum_of_sparse(input, other, alpha)
    if kind_of(input) == COO:
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if kind_of(input):
        return dense_sum(scaled(other, alpha), input, 1)
    return dense_sum(input, other, alpha)


@implements("sub", anywhere=True)
def sub(input, other, *, alpha=1) -> Tensor:
    """input - alpha * other."""
    return add(input, other, alpha=-alpha)


@implements("rsub", anywhere=True)
def rsub(input, other, *, alpha=1) -> Tensor:
    """other - alpha * input."""
    return add(other, input, alpha=-alpha)


def scaled(value, alpha):
    return value if type(alpha) is int and alpha == 1 else value * alpha


def check_alpha(alpha, *operands) -> None:
    """RuntimeError for a factor that the operands' dtype cannot hold."""
    kind = common_dtype(*operands).kind
    if isinstance(alpha, complex) and kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if isinstance(alpha, float) and kind in "bui":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")


def dense_sum(dense, sparse: Tensor, alpha) -> Tensor:
    """dense + alpha * sparse, dense."""
    if not isinstance(dense, Tensor) or dense.shape != sparse.shape:
        shape = list(dense.shape) if isinstance(dense, Tensor) else []
        raise RuntimeError(
            "add: expected 'self' to be a dense tensor of the size of 'other', but self has size "
            f"{shape} while other has size {list(sparse.shape)} (dense + sparse does not broadcast)"
        )
    check_alpha(alpha, dense, sparse)
    dtype = common_dtype(dense, sparse)
    pattern = sparse.detach()
    made = dense.detach().to(dtype, copy=True)
    added_at(made, pattern, scaled(parts_of(pattern).values.to(dtype), alpha))
    factor = conjugate(alpha)
    return graph.record(made, "AddBackward0", [dense, sparse], lambda g: (g, scaled(g, factor)))


def conjugate(number):
    return number.conjugate() if isinstance(number, complex) else number


@implements("add_", anywhere=True)
def add_(input, other, *, alpha=1) -> Tensor:
    """In-place form of `add`: a dense tensor stays dense, and only the elements that `other` holds are written."""
    if kind_of(input):
        return in_place(add, (input, other), {"alpha": alpha})
    if input.shape != other.shape:
        dense_sum(input, other, alpha)
    check_alpha(alpha, input, other)
    check_result(common_dtype(input, other), input)
    source = as_coo(other)
    new = scaled(graph.values(source).to(input.dtype), alpha)
    return added_at(input, source.detach(), new)


@implements("sub_", anywhere=True)
def sub_(input, other, *, alpha=1) -> Tensor:
    """In-place form of `sub`."""
    return add_(input, other, alpha=-alpha)


def check_result(dtype, target: Tensor) -> None:
    from ..ir.dtypes import category

    if category(dtype) > category(target.dtype):
        raise RuntimeError(f"result type {dtype.name} can't be cast to the desired output type {target.dtype.name}")


def sum_of_sparse(a: Tensor, b: Tensor, alpha) -> Tensor:
    """a + alpha * b: the elements of both, added up where both tensors (or the very indices) allow it."""
    if a.shape != b.shape:
        raise RuntimeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(a.shape)} != {list(b.shape)}"
        )
    check_alpha(alpha, a, b)
    dtype = common_dtype(a, b)
    made = united(converted(a.detach(), dtype), converted(b.detach(), dtype), alpha)
    factor = conjugate(alpha)
    return graph.record(made, "AddBackward0", [a, b], lambda g: (g, scaled(g, factor)))


def united(a: Tensor, b: Tensor, alpha) -> Tensor:
    """The sum of two sparse tensors of one dtype, outside of any graph, in the layout of the first."""
    if same_pattern(a, b) or same_places(a, b):
        return with_parts(a, ops.add(parts_of(a).values, parts_of(b).values, alpha=alpha))
    kind = kind_of(a)
    if kind != COO:
        return from_coordinates(coalesce(united(as_coo(a), as_coo(b), alpha)), kind).detach()
    b = as_coo(b)
    p, q = parts_of(a), parts_of(b)
    if p.values.ndim != q.values.ndim:
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same number of sparse dimensions, but {p.indices.shape[0]} != "
            f"{q.indices.shape[0]}"
        )
    from .convert import coalesced
    from .parts import coo

    indices = ops.cat([p.indices, q.indices], 1)
    new = ops.cat([p.values, scaled(q.values, alpha)])
    if p.coalesced and q.coalesced:
        return coalesced(indices, new, tuple(a.shape))
    return coo(indices, new, a.shape)


def same_places(a: Tensor, b: Tensor) -> bool:
    """Whether the elements of two COO tensors lie at the same places in the same order."""
    p, q = parts_of(a), parts_of(b)
    if kind_of(a) != COO or kind_of(b) != COO or p.values.shape != q.values.shape:
        return False
    return ops.equal(p.indices, q.indices)


# -- products -----------------------------------------------------------------------------------
@implements("mul", anywhere=True)
def mul(input, other) -> Tensor:
    """The product of a sparse tensor with a number, a dense tensor (which broadcasts) or a sparse one: sparse."""
    if kind_of(input) and kind_of(other):
        return product_of_sparse(input, other)
    sparse, factor = (input, other) if kind_of(input) else (other, input)
    return times(sparse, factor, "MulBackward0")


def times(sparse: Tensor, factor, title: str) -> Tensor:
    """A sparse tensor times a number or a dense tensor."""
    pattern = sparse.detach()
    if is_number(factor):
        return graph.rebuilt(pattern, graph.values(sparse) * factor, title)
    return graph.rebuilt(pattern, graph.values(sparse) * dense_at(factor, pattern, title), title)


def dense_at(dense: Tensor, pattern: Tensor, title: str) -> Tensor:
    """A dense tensor, broadcast to the size of a sparse one, at its places."""
    try:
        spread = ops.broadcast_to(dense, tuple(pattern.shape))
    except RuntimeError:
        raise RuntimeError(
            f"{title}: a dense operand of size {list(dense.shape)} does not broadcast to the sparse operand's size "
            f"{list(pattern.shape)}"
        ) from None
    return graph.at_places(spread, pattern)


def product_of_sparse(a: Tensor, b: Tensor) -> Tensor:
    """The elements that both tensors hold, multiplied."""
    for x, y in ((a, b), (b, a)):
        if x.ndim == 0 and y.ndim:
            return times(y, dense_of(x), "MulBackward0")
    if a.shape != b.shape:
        raise RuntimeError(
            f"mul: expected 'self' and 'other' to be of same size, but {list(a.shape)} != {list(b.shape)}"
        )
    if same_pattern(a, b) and (kind_of(a) != COO or parts_of(a).coalesced):
        return graph.rebuilt(a.detach(), graph.values(a) * graph.values(b), "MulBackward0")
    kind = kind_of(a)
    if kind != COO:
        return from_coordinates(coalesce(product_of_sparse(as_coo(a), as_coo(b))), kind)
    b = as_coo(b)
    if parts_of(b).coalesced or not parts_of(a).coalesced:
        return met(a, coalesce(b))
    return met(b, a)


def met(a: Tensor, b: Tensor) -> Tensor:
    """The elements of `a` whose places the coalesced `b` has, times those of `b`."""
    from .parts import coo

    if parts_of(a).indices.shape[0] != parts_of(b).indices.shape[0]:
        raise RuntimeError("mul: expected 'self' and 'other' to have the same number of sparse dimensions")
    if not parts_of(b).values.shape[0]:
        keep = place = ops.zeros(0, dtype=parts_of(a).indices.dtype)
    else:
        place, there = lookup.places_in(lookup.key_of(b), lookup.key_of(a))
        keep = ops.nonzero(there).reshape(-1)
        place = place.index_select(0, keep)
    indices, left = lookup.take(a, keep)
    new = left * graph.values(b).index_select(0, place)
    made = coo(indices, new, a.shape, parts_of(a).coalesced)
    return graph.wrapped(made, new, "MulBackward0")


@implements("mul_", anywhere=True)
def mul_(input, other) -> Tensor:
    """In-place form of `mul`; a dense tensor stays dense."""
    if kind_of(input):
        return in_place(mul, (input, other), {})
    check_result(common_dtype(input, other), input)
    return input.mul_(dense_of(other))


# -- quotients ----------------------------------------------------------------------------------
def check_divisor(input, other) -> None:
    if not kind_of(input):
        raise NotImplementedError(
            "Could not run 'aten::reciprocal' with arguments from the 'SparseCPU' backend: 1 / 0 would fill the tensor"
        )
    if not is_number(other) and not (kind_of(other) and other.ndim == 0):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(other.shape)} for divisor)"
        )


@implements("div", anywhere=True)
def div(input, other, *, rounding_mode=None) -> Tensor:
    """A sparse tensor divided by a number; rounded quotients are of coalesced values."""
    check_divisor(input, other)
    source = coalesce(input) if rounding_mode is not None and kind_of(input) == COO else input
    new = ops.div(graph.values(source), dense_of(other), rounding_mode=rounding_mode)
    return graph.rebuilt(source.detach(), new, "DivBackward0")


@implements("true_divide", anywhere=True)
def true_divide(input, other) -> Tensor:
    """See `div`."""
    return div(input, other)


@implements("floor_divide", anywhere=True)
def floor_divide(input, other) -> Tensor:
    """The quotient by a number, rounded down."""
    return div(input, other, rounding_mode="floor")


@implements("copy_", anywhere=True)
def copy_(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Let a sparse tensor have the elements of another one."""
    if not (kind_of(input) and kind_of(src)):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self layout = "
            f"{input.layout} and src layout = {src.layout}"
        )
    if kind_of(input) != kind_of(src):
        raise RuntimeError(f"copy_: expected a tensor of layout {input.layout}, got {src.layout}")
    if input.shape != src.shape:
        raise RuntimeError(f"copy_: cannot copy size {list(src.shape)} into size {list(input.shape)}")
    from .unary import clone

    return engine.become_sparse(input, clone(converted(src, input.dtype)))
