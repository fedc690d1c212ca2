# Nodes of the autograd graph and their edges. An edge leads to the node that computed an input, or straight to the leaf
# tensor whose `.grad` is to grow.

from .hooks import AccumulateGrad, HookHandle

cdef class Node:
    """A recorded operation: `apply(cotangents of its outputs)` gives cotangents for its edges."""

    cdef list edges          # Node, leaf Tensor or None, one per differentiable input
    cdef list slots          # output number of the edge's node
    cdef readonly int64_t sequence
    cdef readonly int outputs
    cdef list shapes         # layouts of the outputs
    cdef dict watched        # output -> list of hook handles
    cdef dict retained       # output -> tensor whose .grad is kept
    cdef list pre_hooks, post_hooks
    cdef readonly dict metadata
    cdef object __weakref__

    def __init__(self):
        raise TypeError("nodes are made by the operations they record")

    cdef list apply(self, list cotangents):
        raise RuntimeError("abstract node")

    cdef release(self):
        """Drop saved tensors after a backward pass that does not keep the graph."""

    cdef str label(self):
        return type(self).__name__

    def name(self):
        """The kind of operation, as PyTorch names it: "AddBackward0"."""
        return self.label()

    @property
    def next_functions(self):
        found = []
        for edge, slot in zip(self.edges, self.slots):
            found.append((AccumulateGrad(edge), 0) if isinstance(edge, Tensor) else (edge, slot))
        return tuple(found)

    @property
    def output_layouts(self):
        return list(self.shapes or ())

    cdef watch(self, int slot, list hooks):
        """Attach a tensor's list of hooks to one of the outputs."""
        if self.watched is None:
            self.watched = {}
        self.watched.setdefault(slot, []).append(hooks)

    cdef retain(self, int slot, Tensor tensor):
        """Keep the gradient of output `slot` in the tensor's `.grad`."""
        if self.retained is None:
            self.retained = {}
        self.retained[slot] = weakref.ref(tensor)

    def register_hook(self, hook):
        """Call `hook(grad_inputs, grad_outputs)` after this node ran."""
        if self.post_hooks is None:
            self.post_hooks = []
        return HookHandle(self.post_hooks, hook)

    def register_prehook(self, hook):
        """Call `hook(grad_outputs)` before this node runs."""
        if self.pre_hooks is None:
            self.pre_hooks = []
        return HookHandle(self.pre_hooks, hook)

    def __call__(self, *cotangents):
        cdef list given = list(cotangents)
        if self.edges is None:
            raise RuntimeError(f"{self.label()}: the node was made by no operation")
        check_gradients(self, given, self.outputs, "outputs")
        got = self.apply(given)
        return got[0] if len(got) == 1 else tuple(got)

    def __repr__(self):
        return f"<{self.label()} object at {<size_t><void *>self:#x}>"


cdef int check_gradients(Node node, list given, Py_ssize_t count, str of) except -1:
    """Raise unless what a caller or a hook hands to a node is one tensor or None for each of its outputs (or inputs)."""
    if len(given) != count:
        raise RuntimeError(f"{node.label()}: expected a gradient for each of its {count} {of}, got {len(given)}")
    for part in given:
        if part is not None and not isinstance(part, Tensor):
            raise TypeError(f"{node.label()}: expected gradients to be Tensors or None, got {type(part).__name__}")
    return 0


cdef inline bint wants_grad(Tensor t):
    """Whether gradients flow to `t`. A view may begin to want them when its base is written."""
    return t.needs_grad or (t.base is not None and t.base.needs_grad and joined_graph(t))


cdef bint joined_graph(Tensor t):
    """Whether a view of what had no gradient is part of a graph since its base was written."""
    if t.base.node is not None and t.view_version >= 0 and t.lay.floating and t.lay.batch is None:
        current_node(t)
    return t.needs_grad


cdef inline int64_t version_seen(Tensor base, Tensor source):
    """The writes that a view outside of the graph knows of, or -1: it was made without gradients and stays so."""
    if (base.needs_grad and not _grad_mode) or (source is not base and source.view_version < 0):
        return -1
    return base.memory.version


cdef inline object edge_of(Tensor t):
    """Where a gradient with respect to `t` goes: its node, itself as a leaf, or None."""
    if not wants_grad(t):
        return None
    node = current_node(t)
    return t if node is None else node


cdef object current_node(Tensor t):
    """The node of a tensor; for a view whose base was written since, the view of the base's new node."""
    if t.base is not None and t.base.needs_grad and t.view_version != t.memory.version and (
            t.needs_grad or (t.view_version >= 0 and t.base.node is not None)):
        if t.base.node is not None or t.node is not None:
            t.node = view_node(t.base, t.lay, t.start)
            t.slot = 0
        t.needs_grad = True
        t.view_version = t.memory.version
    return t.node


cdef number(Node node):
    global _sequence
    _sequence += 1
    node.sequence = _sequence
    if _anomaly:
        node.metadata = _hooks["node_metadata"]()


@cython.final
cdef class ViewNode(Node):
    """Backward of a view given by its geometry: the cotangent is laid into zeros of the base's shape."""

    cdef Layout base_layout, layout
    cdef int64_t base_start, start
    cdef str title

    cdef list apply(self, list cotangents):
        return [_hooks["view_backward"](cotangents[0], self.base_layout, self.base_start, self.layout, self.start)]

    cdef str label(self):
        return "AsStridedBackward0" if self.title is None else self.title


cdef Node view_node(Tensor base, Layout layout, int64_t start):
    cdef ViewNode node = ViewNode.__new__(ViewNode)
    node.edges, node.slots, node.outputs, node.shapes = [edge_of(base)], [base.slot], 1, [layout]
    number(node)  # after its edge, which may be a new node
    node.base_layout, node.base_start, node.layout, node.start = base.lay, base.start, layout, start
    return node


@cython.final
cdef class CopySlices(Node):
    """Backward of an in-place write into a view: the part that was written goes through the write's node."""

    cdef Layout base_layout, layout
    cdef int64_t base_start, start
    cdef Node write

    cdef list apply(self, list cotangents):
        rest, part = _hooks["split_slice"](cotangents[0], self.base_layout, self.base_start, self.layout, self.start)
        cdef list inner = self.write.apply([part])
        if isinstance(self.write, PythonNode):
            inner = _hooks["validate_cotangents"](self.write, inner, [_target_layout(self, i) for i in range(len(self.edges))])
        if inner[0] is not None:
            rest = _hooks["join_slice"](rest, inner[0], self.base_layout, self.base_start, self.layout, self.start)
        return [rest] + inner[1:]

    cdef release(self):
        self.write.release()

    cdef str label(self):
        return "CopySlices"

    def name(self):
        """The kind of operation, as PyTorch names it."""
        return "torch::autograd::CopySlices"


cdef class PythonNode(Node):
    """A node whose backward is a Python callable: `backward(*cotangents) -> cotangents of the inputs`."""

    cdef public object backward_function, description
    cdef public object context

    cdef list apply(self, list cotangents):
        got = self.backward_function(*cotangents)
        if not isinstance(got, (tuple, list)):
            got = (got,)
        return list(got)

    cdef str label(self):
        return self.description


def python_node(description, inputs, backward):
    """Record a Python function over tensors `inputs` (None entries allowed); attach outputs with `attach`."""
    cdef PythonNode node = PythonNode.__new__(PythonNode)
    node.description, node.backward_function = description, backward
    node.edges, node.slots = [], []
    for t in inputs:
        if isinstance(t, Tensor):
            node.edges.append(edge_of(t))
            node.slots.append((<Tensor>t).slot)
        else:
            node.edges.append(None)
            node.slots.append(0)
    number(node)
    node.shapes = []
    return node


def attach(PythonNode node not None, Tensor output not None):
    """Make `output` the next output of a node made by `python_node`."""
    output.node = node
    output.slot = node.outputs
    output.needs_grad = True
    output.view_version = output.memory.version
    node.shapes.append(output.lay)
    node.outputs += 1


def attach_in_place(PythonNode node not None, Tensor output not None):
    """Make a tensor that a Python function wrote in place the node's next output."""
    node.shapes.append(output.lay)
    node.outputs += 1
    if output.base is None:
        output.node, output.slot, output.needs_grad = node, node.outputs - 1, True
    elif node.outputs == 1:
        _rebase(output, node)
    else:
        raise RuntimeError("a Function that writes into a view must return it as its only output")


def skip_output(PythonNode node not None):
    """Count an output that has no gradient."""
    node.shapes.append(None)
    node.outputs += 1


def joined(Tensor t not None, Node node, int slot):
    """An alias of a saved output that is part of the graph again."""
    cdef Tensor alias = alias_of(t)
    if node is not None and not 0 <= slot < node.outputs:
        raise IndexError(f"{node.label()} has no output {slot}")
    alias.node, alias.slot, alias.needs_grad = node, slot, node is not None
    return alias


cdef _rebase(Tensor t, Node node):
    cdef Tensor base = t.base
    cdef CopySlices slices
    if base is None:
        t.node, t.slot, t.needs_grad = node, 0, True
        return
    if not base.needs_grad and base.is_leaf and not base.lay.floating:
        raise RuntimeError("cannot write a value that requires grad into a view of an integer tensor")
    slices = CopySlices.__new__(CopySlices)
    number(slices)
    slices.edges = [edge_of(base)] + node.edges[1:]
    slices.slots = [base.slot] + node.slots[1:]
    slices.outputs, slices.shapes = 1, [base.lay]
    slices.base_layout, slices.base_start, slices.layout, slices.start = base.lay, base.start, t.lay, t.start
    slices.write = node
    base.node, base.slot, base.needs_grad = slices, 0, True
    t.node, t.slot, t.needs_grad = view_node(base, t.lay, t.start), 0, True
    t.view_version = t.memory.version


cdef check_in_place(Tensor t):
    """What autograd forbids about writing into `t` while recording."""
    if t.needs_grad and current_node(t) is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if t.base is not None and t.base.needs_grad and current_node(t.base) is None:
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")


def check_writable(Tensor t not None):
    """Raise if an in-place write to `t` is not allowed now."""
    if _grad_mode:
        check_in_place(t)
    check_memory_writable(t)


cdef int check_memory_writable(Tensor t) except -1:
    if t.memory.readonly:
        raise RuntimeError("this tensor's memory is read-only; clone() it before writing")
    if t.inference and not _inference_mode:
        raise RuntimeError("Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
                           "normal tensor before doing inplace update.")
    if t.lay.overlapping:
        raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single memory "
                           "location. Please clone() the tensor before performing the operation.")
    return 0


def tangent_of(Tensor t not None, int64_t level):
    """The direction in which forward mode moves `t` at a level, or None."""
    if level and t.tangent_level == level:
        return t.tangent
    return t.outer_tangents.get(level) if t.outer_tangents is not None else None


def tangents_of(Tensor t not None):
    """All directions in which forward mode moves `t`: level -> tangent."""
    found = dict(t.outer_tangents or ())
    if t.tangent_level:
        found[t.tangent_level] = t.tangent
    return found


def set_tangent(Tensor t not None, Tensor tangent, int64_t level):
    """Let `t` move in a direction at a level (None: not at all)."""
    cdef dict found
    if t.outer_tangents is None and (t.tangent_level == level or t.tangent_level == 0):
        t.tangent = tangent
        t.tangent_level = level if tangent is not None else 0
        return
    found = tangents_of(t)
    if tangent is None:
        found.pop(level, None)
    else:
        found[level] = tangent
    t.tangent_level = max(found, default=0)
    t.tangent = found.pop(t.tangent_level, None)
    t.outer_tangents = found or None


def kept_by_node(Tensor t not None, Py_ssize_t position):
    """What the node that computed `t` keeps in the place of a flat input, or (-1) of `t` itself: a tensor or None."""
    cdef Node node = t.node
    if isinstance(node, ViewNode) and t.base is not None and isinstance(t.base.node, CopySlices):
        node = (<CopySlices>t.base.node).write  # the view was written
        if isinstance(node, ShiftedNode):
            node = (<ShiftedNode>node).inner
    if not isinstance(node, OpNode):
        return None
    if position < 0:
        position = (<OpNode>node).n_inputs + t.slot
    cdef list args = (<OpNode>node).args
    kept = args[position] if args is not None and position < len(args) else None
    return kept if isinstance(kept, Tensor) else None
