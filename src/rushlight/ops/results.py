"""What becomes of a body's results: fresh outputs, views, in-place writes; their strides as PyTorch has them."""

from __future__ import annotations

from ..core.engine import Op
from ..ir import build as B
from ..ir.columns import column_strides, natural_strides
from ..ir.dtypes import category
from ..ir.graph import Value
from ..ir.sizes import hint, strides_in_order
from .checks import scalar_type
from .lazy import seen_through
from .views import resolve_view


class Finished:
    """A plan's outputs, before sizes are known.

    `outputs` are tuples as `Plan` takes them, with symbolic sizes; `computed` the Values among them that kernels
    must compute, `strides` and `aliases` what the compiler is told about each, `positions` their places.
    """

    def __init__(self):  # a plain class: dataclasses would cost a third of the package's import time
        self.outputs: list = []
        self.computed: list = []
        self.strides: list = []
        self.aliases: list = []
        self.positions: list = []
        self.form = "single"
        self.differentiable = True
        self.elementwise = False
        self.visible = -1


def finish(called: Op, results, arguments: list, flat: list, tracer, out_layouts: tuple) -> Finished:
    """Decide for each result of `called`'s body where it goes."""
    declaration = called.declaration
    finished = Finished()
    single = not isinstance(results, (tuple, list))
    values = [results] if single else list(results)
    finished.form = "single" if single else "list" if isinstance(results, list) else "tuple"
    finished.visible = -1 if getattr(declaration, "visible", None) is None else declaration.visible
    finished.elementwise = is_elementwise(tracer.graph)
    if called.into >= 0:
        write_into(finished, [as_value(values[0])], [flat[0]], [0], called, tracer)
        finished.form = "single"
        finished.visible = -1
    elif declaration.mutates:
        targets = [v for name in declaration.mutates for v in as_list(arguments[declaration.names.index(name)])]
        positions = [index_of(t, flat) for t in targets]
        write_into(finished, [as_value(v) for v in flatten(values)], targets, positions, called, tracer)
        finished.form = "none"
    elif out_layouts:
        write_out(finished, list(map(as_value, values)), out_layouts, declaration, tracer)
    else:
        for j, value in enumerate(values):
            add_result(finished, value, flat, declaration, j, tracer)
    written = [flat[0]] if called.into >= 0 else map(as_value, flatten(values))  # comparisons in place write numbers
    finished.differentiable = any(value is not None and value.dtype.kind in "fc" for value in written)
    return finished


def flatten(values):
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from flatten(value)
        else:
            yield value


def as_list(argument) -> list:
    if argument is None:
        return []
    return [v for v in argument if v is not None] if isinstance(argument, (list, tuple)) else [argument]


def index_of(value: Value, flat: list) -> int:
    return next(i for i, other in enumerate(flat) if other is value)


def as_value(result):
    """Results may be plain numbers; all-scalar arithmetic yields a 0-dim tensor."""
    if result is None or isinstance(result, Value):
        return result
    return B.full((), result)


def add_result(finished: Finished, value, flat: list, declaration, j: int, tracer) -> None:
    """Result j of an ordinary call: an argument itself, a view of one, or fresh memory."""
    value = as_value(value)
    if value is None:
        finished.outputs.append(("none",))
        return
    if declaration.keeps or declaration.view:
        position = next((i for i, other in enumerate(flat) if other is value and not value.weak), None)
        if position is not None and declaration.keeps:
            finished.outputs.append(("same", position))
            return
        view = view_of(value, flat, declaration, tracer) if declaration.view or declaration.keeps == "view" else None
        if view is not None:
            finished.outputs.append(view)
            return
        if declaration.view == "strict":
            raise RuntimeError(
                "view size is not compatible with input tensor's size and stride (at least one dimension spans across "
                "two contiguous subspaces). Use .reshape(...) instead."
            )
    if getattr(declaration, "by_columns", False) and value.ndim > 1:  # set by the room linalg
        strides = column_strides(value.shape)
    elif finished.elementwise and not declaration.row_major:
        strides = elementwise_strides(value, flat)
    else:
        strides = natural_strides(value) or channels_strides(value, declaration.channels_source(flat, j))
    add_new(finished, value, strides)


def view_of(value: Value, flat: list, declaration, tracer):
    """The output if a result is a view of an input, or None. Only ops declared as views leave conjugates uncomputed."""
    found = resolve_view(value)
    if found is None:
        return None
    origin, shape, strides, offset, bits = found
    position = index_of(origin, tracer.graph.inputs)
    if not declaration.view and bits not in (0, tracer.bits.get(flat[position], 0)):
        return None
    return "view", position, shape, strides, offset, value.dtype, bits


def add_new(finished: Finished, value: Value, strides) -> None:
    if value.weak:
        value = B.cast(value, value.dtype) if value.node is not None else value
    dtype = value.dtype
    finished.positions.append(len(finished.outputs))
    finished.outputs.append(("new", value.shape, strides, dtype))
    finished.computed.append(value)
    finished.strides.append(strides)
    finished.aliases.append(None)


def write_into(finished: Finished, values: list, targets: list, positions: list, called: Op, tracer) -> None:
    """Results that overwrite inputs: cast to the target's dtype, of exactly its shape."""
    for value, target, position in zip(values, targets, positions, strict=True):
        check_fits(called, value, target)
        check_places(target.shape, target.strides)
        finished.positions.append(len(finished.outputs))
        finished.outputs.append(("into", position))
        value = B.cast(value, target.dtype) if value.dtype is not target.dtype else value
        finished.computed.append(seen_through(value, tracer.bits.get(target, 0)))
        finished.strides.append(target.strides)
        finished.aliases.append(position)


def check_places(shape, strides) -> None:
    """Elements to write have places of their own: for others no kernel can be made."""
    static = [n if type(n) is int else None for n in shape]
    repeated = (n != 1 and type(s) is int and s == 0 for n, s in zip(static, strides))
    if 0 not in static and any(repeated):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


class DoesNotFit(Exception):
    """The results have another number, shape or dtype than the tensors that shall receive them."""


def write_out(finished: Finished, values: list, out_layouts: tuple, declaration, tracer) -> None:
    """Results that fill given tensors."""
    geometries = [tracer.geometry(layout) for layout in out_layouts]
    if finished.visible >= 0 or len(values) != len(geometries):
        raise DoesNotFit
    for value, (shape, strides), layout in zip(values, geometries, out_layouts):
        check_places(shape, strides)
        if len(value.shape) != len(shape) or any(a != b for a, b in zip(value.shape, shape)):
            raise DoesNotFit
        if category(value.dtype) > category(layout.dtype) or (declaration.exact and value.dtype is not layout.dtype):
            raise DoesNotFit
        add_new(finished, seen_through(B.cast(value, layout.dtype), layout.bits), strides)


def check_fits(called: Op, value: Value, target: Value) -> None:
    if len(value.shape) != len(target.shape) or any(a != b for a, b in zip(value.shape, target.shape)):
        raise RuntimeError(
            f"{called.name}: output with shape {list(map(hint, target.shape))} doesn't match the broadcast shape "
            f"{list(map(hint, value.shape))}"
        )
    declaration = called.declaration
    if declaration.exact and value.dtype is not target.dtype:
        raise_inexact(called.name, target.dtype, value.dtype)
    if category(value.dtype) > category(target.dtype) and not declaration.narrows:
        raise RuntimeError(
            f"{called.name}: result type {scalar_type(value.dtype)} can't be cast to the desired output type "
            f"{scalar_type(target.dtype)}"
        )


def raise_inexact(name: str, given, needed):
    raise RuntimeError(
        f"the base given to {name} has dtype {given.name} but the operation's result requires dtype {needed.name}"
    )


# -- strides ------------------------------------------------------------------------------------
_SPREADING = {"constant", "expand", "reshape", "iota"}


def is_elementwise(graph) -> bool:
    """Whether the graph only maps elements to elements (with broadcasting)."""
    return all(node.prim.kind == "map" or node.prim.name in _SPREADING for node in graph.nodes)


def elementwise_strides(value: Value, flat: list):
    """The order of dims of the operands, the first that tells two dims apart decides; None for row-major."""
    ndim = len(value.shape)
    sizes = [hint(n) for n in value.shape]
    if ndim < 2 or 0 in sizes:
        return None
    operands = [aligned_strides(operand, sizes) for operand in flat if broadcasts(operand, sizes)]
    order = list(range(ndim))
    for i in range(1, ndim):  # insertion sort, from the outermost dim inwards reversed: as PyTorch's iterator does
        here = i
        for j in range(i - 1, -1, -1):
            before = lies_before(order[ndim - 1 - j], order[ndim - 1 - here], operands, sizes)
            if before < 0:
                break
            if before > 0:
                order[ndim - 1 - j], order[ndim - 1 - here] = order[ndim - 1 - here], order[ndim - 1 - j]
                here = j
    return None if order == list(range(ndim)) else strides_in_order(value.shape, order)


def broadcasts(operand: Value, sizes: list) -> bool:
    """Whether a tensor, as it is, broadcasts to the result; others were reshaped on the way."""
    if operand.strides is None or len(operand.shape) > len(sizes):
        return False
    return all(hint(n) in (1, size) for n, size in zip(operand.shape[::-1], sizes[::-1]))


def aligned_strides(operand: Value, sizes: list) -> list:
    """The strides of an operand for each dim of the result, 0 where it is broadcast."""
    missing = len(sizes) - len(operand.shape)
    own = [
        0 if hint(n) == 1 != size else hint(s) for n, s, size in zip(operand.shape, operand.strides, sizes[missing:])
    ]
    return [0] * missing + own


def lies_before(inner: int, outer: int, operands: list, sizes: list) -> int:
    """-1 if dim `inner` lies closer together in memory than `outer`, 1 if it is the other way, 0 if nothing tells."""
    for strides in operands:
        if strides[inner] == 0 or strides[outer] == 0:
            continue
        if strides[inner] != strides[outer]:
            return -1 if strides[inner] < strides[outer] else 1
        if sizes[inner] > sizes[outer]:
            return 1
    return 0


def dim_order(operand: Value) -> tuple:
    """Dims from outermost to innermost by stride; dims that don't decide stay in place (insertion sort)."""
    order = list(range(len(operand.shape)))
    shape, strides = [hint(n) for n in operand.shape], [hint(n) for n in operand.strides]
    if 0 in shape:
        return tuple(order)
    for i in range(1, len(order)):
        for j in range(i, 0, -1):
            inner, outer = order[j], order[j - 1]
            if shape[inner] == 1 or shape[outer] == 1 or strides[inner] == 0 or strides[outer] == 0:
                break
            if strides[inner] <= strides[outer]:
                break
            order[j], order[j - 1] = outer, inner
    return tuple(order)


def channels_strides(value: Value, source: Value | None):
    """Strides with channels innermost if `source` has them so, else None."""
    ndim = len(value.shape)
    if source is None or source.strides is None or ndim not in (4, 5) or len(source.shape) != ndim:
        return None
    if not lies_channels_last(source):
        return None
    return strides_in_order(value.shape, (0, *range(2, ndim), 1))


def lies_channels_last(source: Value) -> bool:
    """Whether strides grow from the channels outwards; dims of one element count by the strides they have."""
    shape, strides = [hint(n) for n in source.shape], [hint(n) for n in source.strides]
    if 0 in shape or strides[1] == 0:
        return False
    least = 0
    for d in (1, *range(len(shape) - 1, 1, -1), 0):
        if strides[d] < least or (d == 0 and least == strides[1]):
            return False
        least = strides[d] * shape[d]
    return True
