"""The language between ops and kernels: values, nodes and graphs in SSA form.

A `Graph` is a list of nodes, each the application of a primitive to values. Shapes may hold
symbolic sizes (see `sizes`). A graph's inputs are tensors, which carry strides, or scalars: run-time
numbers of shape (), which reach kernels as parameters and take part in promotion as Python numbers.
"""

from __future__ import annotations

from _thread import _local  # threading.local, without loading threading

from .dtypes import DType


class Value:
    """A tensor that is being traced: shape and dtype are known, the numbers are not.

    `node` is the application that yields it (None for graph inputs), `index` its place among the
    node's outputs. `strides` (in elements) is set on tensor inputs of a graph and None elsewhere.
    `weak` marks run-time Python numbers, which promote like literals.
    """

    __slots__ = ("dtype", "index", "name", "node", "shape", "strides", "weak")

    def __init__(self, shape, dtype: DType, node: Node | None = None, index: int = 0, *, strides=None, weak=False):
        if dtype.code < 0:
            dtype.require()
        self.shape, self.dtype = tuple(shape), dtype
        self.node, self.index = node, index
        self.strides, self.weak, self.name = strides, weak, None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def size(self, dim: int | None = None):
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        return len(self.shape)

    def numel(self):
        from .sizes import product

        return product(self.shape)

    @property
    def is_scalar_input(self) -> bool:
        return self.node is None and self.weak

    def __repr__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"  # as users know it: messages of bodies show it

    def __bool__(self):
        raise TypeError(
            "the truth of a traced tensor is not known while an op is planned; "
            "use where(), or decide on shapes and dtypes"
        )

    def __iter__(self):
        if not self.shape:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(int(self.shape[0])))

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return int(self.shape[0])


class Node:
    """One application of a primitive: `prim`, `inputs`, static `attrs` and the output values."""

    __slots__ = ("attrs", "inputs", "outputs", "prim")

    def __init__(self, prim, inputs, attrs: dict, outputs):
        self.prim, self.inputs, self.attrs = prim, tuple(inputs), attrs
        self.outputs = tuple(Value(shape, dtype, self, i) for i, (shape, dtype) in enumerate(outputs))

    def __repr__(self) -> str:
        return f"Node({self.prim.name})"


class Graph:
    """Inputs, nodes in execution order, outputs.

    `output_strides[j]` is the layout that output j must get (None: contiguous). `aliases[j]` is the
    index of the input whose memory output j overwrites exactly (same address, shape and strides), or
    None when it has memory of its own.
    """

    def __init__(self, scope=None):
        self.scope = scope
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.outputs: list[Value] = []
        self.output_strides: list = []
        self.aliases: list = []

    def tensor(self, shape, dtype: DType, strides=None) -> Value:
        """Add a tensor input (contiguous if no strides are given)."""
        from .sizes import contiguous_strides

        value = Value(shape, dtype, strides=contiguous_strides(shape) if strides is None else tuple(strides))
        self.inputs.append(value)
        return value

    def scalar(self, dtype: DType) -> Value:
        """Add a run-time number as input."""
        value = Value((), dtype, weak=True)
        self.inputs.append(value)
        return value

    def returns(self, outputs, strides=None, aliases=None) -> Graph:
        """Set the outputs and drop nodes that none of them needs."""
        self.outputs = list(outputs)
        self.output_strides = list(strides) if strides is not None else [None] * len(self.outputs)
        self.aliases = list(aliases) if aliases is not None else [None] * len(self.outputs)
        self.prune()
        return self

    def prune(self) -> None:
        needed = {id(v) for v in self.outputs}
        kept = []
        for node in reversed(self.nodes):
            if any(id(v) in needed for v in node.outputs):
                kept.append(node)
                needed.update(id(v) for v in node.inputs)
        self.nodes = kept[::-1]

    def __enter__(self) -> Graph:
        """Record primitives applied in this thread's `with` block."""
        _tracing.stack.append(self)
        return self

    def __exit__(self, *exc) -> None:
        _tracing.stack.pop()

    def __str__(self) -> str:
        from .printing import format_graph

        return format_graph(self)


class _Tracing(_local):
    def __init__(self):
        self.stack: list[Graph] = []


_tracing = _Tracing()


def current_graph() -> Graph:
    """The graph that records in this thread."""
    if not _tracing.stack:
        raise RuntimeError("a primitive was applied outside of tracing; call the public op instead")
    return _tracing.stack[-1]
