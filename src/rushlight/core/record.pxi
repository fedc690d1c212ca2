# Recording op calls: the node of a call, what it keeps, and how its derivative runs.


@cython.final
cdef class GradientPlan:
    """How a recorded call is differentiated: which op computes the cotangents and what it must be given."""

    cdef Op op                # called with flat inputs (saved ones, or layouts), outputs likewise, cotangents
    cdef bytes save_inputs    # per flat input: 1 to keep the tensor
    cdef bytes save_outputs
    cdef bytes differentiable # per output
    cdef tuple wanted         # flat inputs that get cotangents, in the order the op returns them
    cdef bint saves
    cdef readonly str name
    cdef dict partial         # flags of the cotangents that are needed -> op that computes no others

    def __init__(self, op, save_inputs, save_outputs, differentiable, wanted, name):
        self.op, self.save_inputs, self.save_outputs = op, bytes(save_inputs), bytes(save_outputs)
        self.differentiable, self.wanted, self.name = bytes(differentiable), tuple(wanted), name
        self.saves = any(save_inputs) or any(save_outputs)
        self.partial = {}

    cdef Op op_for(self, bytes needed):
        """The op that computes the cotangents flagged in `needed`, one flag for each of `wanted`."""
        found = self.partial.get(needed)
        if found is None:
            found = self.partial[needed] = <Op?>_hooks["partial_backward"](self.op, needed)
        return <Op>found


@cython.final
cdef class OpNode(Node):
    """The backward of one op call."""

    cdef GradientPlan plan
    cdef list args        # flat inputs and outputs: tensors, numbers, or layouts of what is not kept
    cdef list versions    # storage version of each kept tensor when it was kept; None elsewhere
    cdef Py_ssize_t n_inputs

    cdef list apply(self, list cotangents):
        return self._run(cotangents, None)

    cdef list apply_needed(self, list cotangents, bytes needed):
        """`apply`, with None for cotangents that are not flagged: they are not computed."""
        cdef list found = self._run(cotangents, needed), laid = [None] * len(needed)
        cdef Py_ssize_t i, given = 0
        for i in range(len(needed)):
            if needed[i]:
                laid[i] = found[given]
                given += 1
        return laid

    cdef list _run(self, list cotangents, bytes needed):
        cdef PyObject *local[MAX_FLAT]
        cdef PyObject **args = local
        cdef Py_ssize_t i, n
        cdef list keep
        cdef Op op
        if self.args is None or self.plan is None:
            raise RuntimeError("Trying to backward through the graph a second time (or directly access saved tensors after they "
                               "have already been freed). Saved intermediate values of the graph are freed when you call "
                               ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
                               "the graph a second time or if you need to access saved tensors after calling backward.")
        op = self.plan.op if needed is None else self.plan.op_for(needed)
        keep = list(self.args)  # another thread may release the node meanwhile
        n = len(keep)
        for i in range(n):
            if self.versions[i] is not None:
                keep[i] = self._kept(i, keep[i])
        keep.extend(cotangents)
        n = len(keep)
        if n > MAX_FLAT:
            args = <PyObject **>_calloc(n, sizeof(PyObject *))
        for i in range(n):
            args[i] = <PyObject *>keep[i]
        try:
            found = call_op(op, args, n, None)
        finally:
            if args != local:
                free(args)
        return found

    cdef object _kept(self, Py_ssize_t i, kept):
        cdef Tensor t, alias
        cdef bint packed = not isinstance(kept, Tensor)
        t = _hooks["unpack_saved"](kept) if packed else kept
        if not packed and t.memory.version != <int64_t>self.versions[i]:
            raise _hooks["modified"](t, self.versions[i], self._origin(i))
        if i >= self.n_inputs and _grad_mode:
            # an output kept without its node, lest the node hold itself: join them again
            alias = alias_of(t)
            if self.plan.differentiable[i - self.n_inputs]:
                alias.node, alias.slot, alias.needs_grad = self, <int>(i - self.n_inputs), True
            return alias
        return t

    cdef object _origin(self, Py_ssize_t i):
        """(name of the node, output) that yielded what is kept at place i; None if nothing recorded did."""
        cdef Py_ssize_t k
        if i >= self.n_inputs:
            return self.plan.name, i - self.n_inputs
        if i not in self.plan.wanted:
            return None
        k = self.plan.wanted.index(i) + len(self.edges) - len(self.plan.wanted)  # a view's base may come first
        edge = self.edges[k]
        return ((<Node>edge).label(), self.slots[k]) if isinstance(edge, Node) else None

    cdef release(self):
        if self.plan is not None and self.plan.saves:
            self.args = None

    cdef str label(self):
        return "OpNode" if self.plan is None else self.plan.name

    @property
    def saved_tensors(self):
        """The tensors kept for the backward pass."""
        cdef list args = self.args
        if args is None:
            raise RuntimeError("the saved tensors of this node have been freed")
        return tuple([self._kept(i, args[i]) for i in range(len(args)) if self.versions[i] is not None])


cdef object needs_mask(PyObject **flat, Py_ssize_t n_flat):
    cdef unsigned long long mask = 0
    cdef Py_ssize_t i
    if n_flat <= 60:
        for i in range(n_flat):
            if isinstance(<object>flat[i], Tensor) and (<Tensor>flat[i]).needs_grad:
                mask |= (<unsigned long long>1) << i
        return mask
    flags = bytearray(n_flat)
    for i in range(n_flat):
        if isinstance(<object>flat[i], Tensor) and (<Tensor>flat[i]).needs_grad:
            flags[i] = 1
    return bytes(flags)


cdef GradientPlan gradient_plan(Plan plan, PyObject **flat, Py_ssize_t n_flat):
    cdef unsigned long long mask = 0
    cdef Py_ssize_t i
    if n_flat <= 60:
        for i in range(n_flat):
            if isinstance(<object>flat[i], Tensor) and (<Tensor>flat[i]).needs_grad:
                mask |= (<unsigned long long>1) << i
        if plan.last_gradient is not None and mask == plan.last_mask:
            return <GradientPlan>plan.last_gradient
    cdef object key = needs_mask(flat, n_flat)
    found = plan.gradients.get(key)
    if found is None:
        flags = [isinstance(<object>flat[i], Tensor) and (<Tensor>flat[i]).needs_grad for i in range(n_flat)]
        found = <GradientPlan?>plan.derive(plan, flags)
        if len((<GradientPlan>found).save_inputs) != n_flat or max((<GradientPlan>found).wanted, default=-1) >= n_flat:
            raise ValueError(f"{(<GradientPlan>found).name}: a gradient plan for another number of arguments")
        plan.gradients[key] = found
    if n_flat <= 60:
        plan.last_mask, plan.last_gradient = mask, found
        plan.constant_args = plan.constant_versions = None
    return <GradientPlan>found


cdef OpNode make_node(GradientPlan gradient, PyObject **flat, Py_ssize_t n_flat, bint with_args):
    """A node with its edges and, unless all it holds is known, what it keeps of the inputs."""
    cdef OpNode node = OpNode.__new__(OpNode)
    cdef Py_ssize_t i, position
    cdef Tensor t
    cdef bint plain = True
    cdef list args, versions, edges = []
    node.plan, node.n_inputs = gradient, n_flat
    if with_args:
        args, versions = [None] * n_flat, [None] * n_flat
        for i in range(n_flat):
            value = <object>flat[i]
            if isinstance(value, Tensor):
                t = <Tensor>value
                if gradient.save_inputs[i]:
                    args[i] = t if _saving_hooks == 0 else _hooks["pack_saved"](t)
                    versions[i] = t.memory.version
                else:
                    args[i] = t.lay
            else:
                args[i] = value
        node.args, node.versions = args, versions
    for position in gradient.wanted:
        t = <Tensor>flat[position]
        edges.append(edge_of(t))
        plain &= t.slot == 0
    node.edges = edges
    if plain:
        node.slots = no_slots(len(edges))
    else:
        node.slots = [(<Tensor>flat[<Py_ssize_t>position]).slot for position in gradient.wanted]
    number(node)  # after its edges: a view whose base was written gets a new node from edge_of
    return node


cdef list _no_slots = [[0] * n for n in range(8)]


cdef inline list no_slots(Py_ssize_t n):
    """Slots of edges to first outputs: shared, never written."""
    return <list>_no_slots[n] if n < 8 else [0] * n


cdef keep_output(OpNode node, Py_ssize_t j, Tensor t):
    if t is None:
        node.args.append(None)
        node.versions.append(None)
    elif node.plan.save_outputs[j]:
        node.args.append(alias_of(t) if _saving_hooks == 0 else _hooks["pack_saved"](alias_of(t)))
        node.versions.append(t.memory.version)
    else:
        node.args.append(t.lay)
        node.versions.append(None)


cdef record_call(Op op, Plan plan, PyObject **flat, Py_ssize_t n_flat, object result):
    cdef GradientPlan gradient = gradient_plan(plan, flat, n_flat)
    cdef OpNode node
    cdef Tensor t
    cdef Py_ssize_t j
    if gradient is None or not gradient.wanted or (plan.form == FORM_SINGLE and plan.out_kinds[0] == OUT_SAME):
        return  # an argument handed back stays what it was
    cdef bint constant = plan.constant_args is not None
    node = make_node(gradient, flat, n_flat, not constant)
    if plan.form == FORM_SINGLE:
        t = <Tensor>result
        node.outputs = 1
        node.shapes = plan.out_layouts if plan.out_kinds[0] == OUT_NEW else [t.lay]
        if not constant:
            keep_output(node, 0, t)
        if gradient.differentiable[0]:
            t.node, t.slot, t.needs_grad, t.view_version = node, 0, True, t.memory.version
    else:
        node.outputs = <int>len(result)
        node.shapes = [None if t is None else (<Tensor>t).lay for t in result]
        for j in range(node.outputs):
            t = <Tensor>result[j]
            if not constant:
                keep_output(node, j, t)
            if gradient.differentiable[j] and plan.out_kinds[j] != OUT_SAME:
                t.node, t.slot, t.needs_grad, t.view_version = node, <int>j, True, t.memory.version
    if constant:
        node.args, node.versions = plan.constant_args, plan.constant_versions
    elif not gradient.saves and plan.last_gradient is gradient and only_layouts(node.args):
        plan.constant_args, plan.constant_versions = node.args, node.versions


cdef bint only_layouts(list args):
    for value in args:
        if value is not None and type(value) is not Layout:
            return False
    return True


cdef record_in_place(Op op, Plan plan, PyObject **flat, Py_ssize_t n_flat, Tensor target, Tensor previous):
    cdef GradientPlan gradient = gradient_plan(plan, flat, n_flat)
    cdef OpNode node
    if gradient is None or not gradient.wanted:
        return
    node = make_node(gradient, flat, n_flat, True)
    for i in range(n_flat):
        if i != op.into and isinstance(node.args[i], Tensor) and (<Tensor>node.args[i]).memory is target.memory:
            node.versions[i] = target.memory.version - 1  # kept before the write
    if target.base is not None and (not gradient.wanted or gradient.wanted[0] != op.into):
        # the base's edge comes first, even if the old value gets no cotangent
        node.edges = [None] + node.edges
        node.slots = [0] + node.slots
        node.outputs, node.shapes = 1, [target.lay]
        keep_output(node, 0, target)
        _rebase(target, shifted(node))
        return
    node.outputs, node.shapes = 1, [target.lay]
    keep_output(node, 0, target)
    _rebase(target, node)


cdef Node shifted(Node node):
    """A node that answers None for a first edge which its op knows nothing of."""
    cdef ShiftedNode wrapper = ShiftedNode.__new__(ShiftedNode)
    number(wrapper)
    wrapper.inner, wrapper.edges, wrapper.slots, wrapper.outputs, wrapper.shapes = node, node.edges, node.slots, 1, node.shapes
    return wrapper


@cython.final
cdef class ShiftedNode(Node):
    cdef Node inner

    cdef list apply(self, list cotangents):
        return [None] + self.inner.apply(cotangents)

    cdef release(self):
        self.inner.release()

    cdef str label(self):
        return self.inner.label()
