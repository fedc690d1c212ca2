"""What one kernel computes: a graph of expressions over its loops, with every load and store as strides."""

from __future__ import annotations

from ..ir.dtypes import DType
from ..ir.graph import Node, Value
from ..ir.sizes import hint
from .affine import Affine, Dim, access_key
from .cluster import Cluster
from .cost import weight
from .fetches import indexed_dims, is_fetch, split_access
from .fuse import base_of, folded_dims, inserted
from .memory import Memory
from .templates import Array
from .views import is_view, view_access


class Access:
    """Memory read or written along loops: an array, and its stride along each loop in elements."""

    __slots__ = ("array", "offset", "strides")

    def __init__(self, array: Array, strides: dict[Dim, object], offset=0):
        self.array, self.strides, self.offset = array, strides, offset

    @staticmethod
    def of(array: Array, access: tuple[Affine, ...]) -> Access:
        strides: dict = {}
        offset = array.offset
        for affine, stride in zip(access, array.strides):
            affine.resolved()
            offset = offset + affine.const * stride
            for dim, coefficient in affine.terms.items():
                strides[dim] = strides.get(dim, 0) + coefficient * stride
        return Access(array, {d: s for d, s in strides.items() if hint(s) != 0 or s != 0}, offset)

    def stride(self, dim: Dim):
        return self.strides.get(dim, 0)

    def is_unit(self, dim: Dim) -> bool:
        stride = self.strides.get(dim, 0)
        return hint(stride) == 1 and bool(stride == 1)

    def is_reversed(self, dim: Dim) -> bool:
        stride = self.strides.get(dim, 0)
        return hint(stride) == -1 and bool(stride == -1)

    def source(self) -> Array:
        """The array moved to where the access begins."""
        a = self.array
        return Array(a.role, a.index, a.shape, a.strides, a.dtype, self.offset)


class Expr:
    """A value at one point of the loops.

    kind   "load" (data: Access), "fetch" (a load that indices move; data: Access), "constant" (data: number), "size"
           (data: size), "scalar" (data: graph input), "index" (data: Access without an array: strides and offset of a
           number), "map", "reduce" (data: Node)
    dims   the loops it depends on; `stage` counts the reductions that must be complete before it
    cost   of computing it for one vector, from memory
    bounds of a fetch: (size, stride, number) of each dimension that an index points into
    """

    __slots__ = ("args", "bounds", "cost", "data", "dims", "dtype", "kind", "stage")

    def __init__(self, kind: str, dtype: DType, data, args=(), bounds=()):
        self.kind, self.dtype, self.data, self.args = kind, dtype, data, tuple(args)
        self.bounds = bounds
        self.dims: frozenset[Dim] = frozenset()
        self.stage = self.cost = 0

    @property
    def name(self) -> str:
        return self.data.prim.name if self.kind in ("map", "reduce") else self.kind

    def is_spread(self, vector: Dim) -> bool:
        """Whether every lane is read from a place of its own, which indices name."""
        return any(vector in a.dims for a in self.args)

    def is_run(self, vector: Dim) -> bool:
        """Whether what it reads along the vector loop is adjacent."""
        return self.data.is_unit(vector) and not self.is_spread(vector)


MEMORY = ("load", "fetch")  # kinds that read memory


class Body:
    """All expressions of a kernel (operands before what uses them) and the stores of some of them."""

    def __init__(self, cluster: Cluster, memory: Memory):
        self.cluster, self.memory = cluster, memory
        self.exprs: list[Expr] = []
        self.memo: dict[tuple, Expr] = {}
        self.found: dict[Value, Array | None] = {}
        loops = len(cluster.loops())
        self.stores = self.read_stores()
        if len(cluster.loops()) != loops:
            # a reshape has cut loops: what was read before that must be read by the new ones
            self.exprs, self.memo = [], {}
            self.stores = self.read_stores()
        for expr in self.exprs:
            if expr.kind in MEMORY:
                expr.data = Access.of(*expr.data)
            elif expr.kind == "index":
                affine = expr.data.resolved()
                expr.data = Access(None, dict(affine.terms), affine.const)

    def read_stores(self) -> list[tuple[Expr, Access]]:
        return [(self.read(value, access), Access.of(a, access)) for value, access, a in self.cluster.stores]

    def find(self, value: Value) -> Array | None:
        if value not in self.found:
            self.found[value] = self.memory.find(value, self.cluster)
        return self.found[value]

    def accesses(self) -> list[Access]:
        """Everything that has strides."""
        return [e.data for e in self.exprs if e.kind in (*MEMORY, "index")] + [a for _, a in self.stores]

    def loads(self) -> list[Access]:
        return [e.data for e in self.exprs if e.kind in MEMORY]

    def read(self, value: Value, access) -> Expr:
        """The expression of a value at an access."""
        if is_view(value.node):
            array = None if base_of(value) in self.cluster.values else self.find(value)
            if array is None:
                return self.read(value.node.inputs[0], view_access(value.node, access))
        key = (id(value), access_key(access))
        expr = self.memo.get(key)
        if expr is None:
            expr = self.memo[key] = self.make(value, access)
            self.exprs.append(expr)
        return expr

    def make(self, value: Value, access) -> Expr:
        node = value.node
        if node is None and value.weak:
            return Expr("scalar", value.dtype, value)
        if value not in self.cluster.values:
            array = self.find(value)
            if array is not None:
                return Expr("load", value.dtype, (array, access))
        if node.prim.name == "constant":
            number = node.attrs["value"]
            return Expr("constant" if type(number) in (int, float, bool, complex) else "size", value.dtype, number)
        if node.prim.name == "iota":
            return Expr("index", value.dtype, access[node.attrs["dim"]])
        if node.prim.kind == "map":
            return Expr("map", value.dtype, node, [self.read(v, access) for v in node.inputs])
        if is_fetch(node):
            return self.make_fetch(node, access)
        return self.make_reduction(node, access)

    def make_fetch(self, node: Node, access) -> Expr:
        source, *indices = node.inputs
        place, rest = split_access(node, access)
        dims = indexed_dims(node)
        array = self.memory.operand(source)
        kept = [d for d in range(len(array.shape)) if d not in dims]
        shape, strides = (tuple(sizes[d] for d in kept) for sizes in (array.shape, array.strides))
        left = Array(array.role, array.index, shape, strides, array.dtype, array.offset)
        bounds = tuple((array.shape[d], array.strides[d], d) for d in dims)
        return Expr("fetch", node.outputs[0].dtype, (left, rest), [self.read(v, place) for v in indices], bounds)

    def make_reduction(self, node: Node, access) -> Expr:
        source, dims = node.inputs[0], folded_dims(node)
        if node.prim.name == "partial_reduce":
            indices, access = self.cluster.reduced, access[1:]
        else:
            sizes = tuple(source.shape[d] for d in dims)
            indices = self.cluster.fold(access, node.outputs[0].shape, sizes, commit=False)
        inner = inserted(access, dims, indices)
        args = [self.read(source, inner)]
        if reduction_of(node).startswith("arg"):
            # the place of each element, as one more operand
            place = Expr("index", node.outputs[0].dtype, indices[0])
            self.exprs.append(place)
            args.append(place)
        return Expr("reduce", node.outputs[0].dtype, node, args)

    def find_dims(self, inner: set[Dim], along: set[Dim]) -> None:
        """Fill in dims and stages; `inner` are the loops that reductions fold, each for all of `along` at once."""
        for expr in self.exprs:
            if expr.kind in ("load", "index"):
                expr.dims = frozenset(expr.data.strides)
                continue
            expr.dims = frozenset().union(
                *(a.dims for a in expr.args), expr.data.strides if expr.kind == "fetch" else ()
            )
            expr.stage = max((a.stage for a in expr.args), default=0)
            if expr.kind == "reduce":
                expr.stage += 1
                expr.dims = expr.dims - inner | along

    def find_costs(self, inner: set[Dim], vector: Dim | None, lanes: int) -> None:
        """Fill in costs; what does not depend on the inner loops costs nothing, a gathered load one per lane."""
        for expr in self.exprs:
            if not expr.dims & inner:
                continue
            if expr.kind in MEMORY and vector in expr.dims and not expr.is_run(vector):
                expr.cost = lanes + sum(a.cost for a in expr.args)
            elif expr.kind == "map":
                expr.cost = weight(expr.name, expr.data.inputs[0].dtype) + sum(a.cost for a in expr.args)


def reduction_of(node: Node) -> str:
    """The kind of a reduction: reduce_sum, reduce_max, ..., argmax, argmin."""
    return node.attrs["kind"] if node.prim.name == "partial_reduce" else node.prim.name
