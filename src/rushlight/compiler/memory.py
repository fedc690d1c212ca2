"""Where the values of a graph lie: its inputs, its outputs and the temporaries between kernels."""

from __future__ import annotations

from ..ir.columns import natural_strides
from ..ir.graph import Graph, Node, Value
from ..ir.sizes import contiguous_strides
from .templates import Array, Context
from .views import is_view, view_array


class Memory:
    """Gives values a home: an `Array` they are stored to by one kernel and loaded from by others."""

    def __init__(self, graph: Graph, context: Context):
        self.graph, self.context = graph, context
        self.homes: dict[Value, Array] = {}
        self.packed: dict[Value, tuple] = {}  # contiguous copies, the kernels that make them and those that wait
        self.copies: dict[Value, Array] = {}  # of views and numbers, for templates alone
        self.work: dict[tuple[Node, int], Array] = {}  # copies of one node's operands, which it may overwrite
        self.places: dict[Value, list[int]] = {}
        self.numbers: dict[Value, int] = {}  # which input each run-time number is
        for i, value in enumerate(graph.inputs):
            if value.weak:
                self.numbers[value] = i
            else:
                self.homes[value] = Array("input", i, value.shape, value.strides, value.dtype)
        for j, value in enumerate(graph.outputs):
            self.places.setdefault(value, []).append(j)
        self.outputs = [self._output(j) for j in range(len(graph.outputs))]

    def _output(self, j: int) -> Array:
        value, strides, alias = self.graph.outputs[j], self.graph.output_strides[j], self.graph.aliases[j]
        if strides is None and alias is not None:
            strides = self.graph.inputs[alias].strides
        strides = contiguous_strides(value.shape) if strides is None else tuple(strides)
        return Array("output", j, value.shape, strides, value.dtype)

    def home(self, value: Value) -> Array:
        """The home of a value that some kernel stores: the graph's output if it is one, else a temporary."""
        array = self.homes.get(value)
        if array is None:
            places = self.places.get(value)
            array = self.outputs[places[0]] if places else self.context.temp(value.shape, value.dtype)
            if not places:
                array.strides = natural_strides(value) or array.strides
            self.homes[value] = array
        return array

    def other_outputs(self, value: Value) -> list[Array]:
        """The outputs that need the value besides its home."""
        home = self.homes.get(value)
        return [self.outputs[j] for j in self.places.get(value, ()) if self.outputs[j] is not home]

    def operand(self, value: Value) -> Array:
        """A template's operand in memory."""
        return self.copies[value] if value in self.copies else self.find(value)

    def operands(self, node: Node) -> list[Array]:
        """What a template reads, where it shall read it."""
        return [self.work.get((node, i)) or self.operand(v) for i, v in enumerate(node.inputs)]

    def could_find(self, value: Value, base: Value) -> bool:
        """Whether a value is its base, or a view of it, once the base has a home."""
        if base in self.homes or base in self.places:
            self.home(base)
            return self.find(value) is not None
        # a home that nothing is stored to would mislead later readers
        self.homes[base] = Array("temp", -1, base.shape, contiguous_strides(base.shape), base.dtype)
        found = self.find(value) is not None
        del self.homes[base]
        return found

    def find(self, value: Value, reader=None) -> Array | None:
        """A value in memory: its home, or strides over the home of what it is a view of.

        The kernel `reader` may also find it in the contiguous copy that was made for it.
        """
        array = self.homes.get(value)
        if array is not None or not is_view(value.node):
            return array
        base = value.node.inputs[0]
        array = self.find(base, reader)
        view = None if array is None else view_array(value.node, array)
        if view is None and base in self.packed:
            copy, _, readers = self.packed[base]
            if any(step.find() is reader for step in readers):
                view = view_array(value.node, copy)
        return view
