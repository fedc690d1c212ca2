# The walk from outputs back to leaves.

def run_backward(list roots not None, list cotangents not None, bint keep_graph, bint create_graph, list wanted, bint accumulate):
    """Walk from `roots` backwards.

    With `wanted` (a list of tensors) only what they need runs, and their gradients are returned; leaves
    get `.grad` only with `accumulate`.
    """
    global _depth
    cdef bint was = _grad_mode
    if len(roots) != len(cotangents):
        raise ValueError(f"expected a cotangent for each of {len(roots)} roots, got {len(cotangents)}")
    for t in roots if wanted is None else roots + wanted:
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor, got {type(t).__name__}")
    _depth += 1
    if _depth > 60:
        _depth -= 1
        raise RuntimeError("backward() calls itself more than 60 levels deep")
    set_grad_mode(create_graph)
    try:
        return _walk(roots, cotangents, keep_graph, create_graph, wanted, accumulate)
    finally:
        _depth -= 1
        set_grad_mode(was)


cdef list _walk(list roots, list cotangents, bint keep_graph, bint create_graph, list wanted, bint accumulate):
    cdef dict pending = {}      # node -> number of consumers that have not run yet
    cdef dict captures = {}     # (node or leaf, slot) -> positions in `wanted`
    cdef set active = None      # nodes on a path to something wanted
    cdef list results = None, starts = []
    cdef Tensor t
    cdef Py_ssize_t i
    for i in range(len(roots)):
        t = roots[i]
        edge = edge_of(t)
        if edge is None:
            raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
        starts.append((edge, t.slot))
    if wanted is not None:
        results = [None] * len(wanted)
        for i in range(len(wanted)):
            edge = edge_of(wanted[i])
            captures.setdefault((id(edge), (<Tensor>wanted[i]).slot if isinstance(edge, Node) else 0), []).append(i)  # None: unused
    order = _count(starts, pending)
    if wanted is not None:
        active = _active(order, captures)
    cdef list walks = _walks.setdefault(PyThread_get_thread_ident(), [])
    walks.append((_next_walk(), pending, active, captures))
    try:
        _run(starts, cotangents, pending, captures, active, results, keep_graph, create_graph, accumulate)
    finally:
        walks.pop()
        if not walks:
            _walks.pop(PyThread_get_thread_ident(), None)
    return results


cdef dict _walks = {}       # thread -> the walks that go on in it, the innermost last
cdef int64_t _walk_count = 0


cdef object _next_walk():
    global _walk_count
    _walk_count += 1
    return _walk_count


def current_walk():
    """The number of the backward pass that runs in this thread; 0 if none does."""
    cdef list walks = _walks.get(PyThread_get_thread_ident())
    return walks[len(walks) - 1][0] if walks else 0


def is_reached(Tensor t not None):
    """Whether the backward pass that runs in this thread computes the gradient of a tensor."""
    cdef list walks = _walks.get(PyThread_get_thread_ident())
    edge = edge_of(t)
    if not walks or edge is None:
        return False
    _, pending, active, captures = walks[len(walks) - 1]
    slot = t.slot if isinstance(edge, Node) else 0
    return edge in pending and (active is None or (id(edge), slot) in captures or edge in <set>active)


cdef _run(list starts, list cotangents, dict pending, dict captures, set active, list results, bint keep_graph, bint create_graph,
          bint accumulate):
    """Run the nodes in order: each after all that consume its outputs."""
    cdef dict buffers = {}      # node -> list of cotangents of its outputs
    cdef set own = set()        # (node or leaf, slot) whose cotangent lies in memory that nothing else shows
    cdef list ready = [], got, cts
    cdef Node node
    cdef Py_ssize_t i
    cdef bint fresh
    for i in range(len(starts)):
        edge, slot = starts[i]
        _add_cotangent(buffers, own, edge, slot, cotangents[i], False)
    for edge, slot in starts:
        if pending[edge] == 0 and edge in buffers:
            if isinstance(edge, Node):
                if not any(edge is other for other in ready):
                    ready.append(edge)
            else:
                _reach_leaf(<Tensor>edge, (<list>buffers.pop(edge)), captures, results, accumulate, create_graph)
    while ready:
        node = ready.pop()
        cts = buffers.pop(node, None)
        if cts is None:
            cts = [None] * node.outputs
        if node.watched is not None or node.retained is not None:
            _run_watchers(node, cts)
        if captures:
            for i in range(len(cts)):
                for position in captures.get((id(node), i), ()):
                    results[position] = cts[i]
        fresh = type(node) is ViewNode and node.pre_hooks is None and node.post_hooks is None
        if (active is not None and node not in active) or (fresh and _lay_in(buffers, own, <ViewNode>node, cts[0])):
            got = [None] * len(node.edges)
        else:
            got = _apply(node, cts, create_graph, None if active is None else _needed(node, active, captures))
        if not keep_graph:
            node.release()
        cts = None
        for i in range(len(node.edges)):
            edge = node.edges[i]
            if edge is None:
                continue
            ct = None
            if i < len(got):
                ct = got[i]
                got[i] = None
            if ct is not None:
                _add_cotangent(buffers, own, edge, node.slots[i], ct, fresh)
                ct = None
            count = pending[edge] - 1
            pending[edge] = count
            if count == 0:
                if isinstance(edge, Node):
                    ready.append(edge)
                elif edge in buffers:
                    _reach_leaf(<Tensor>edge, (<list>buffers.pop(edge)), captures, results, accumulate, create_graph)


def reaches_other_leaves(list roots not None, list own not None):
    """Whether the graph of some tensors has leaves beside `own`: what computes them concerns others as well."""
    cdef set seen = set(), allowed = {id(t) for t in own}
    cdef list stack = []
    cdef Node node
    for root in roots:
        stack.append(edge_of(<Tensor?>root))
    while stack:
        edge = stack.pop()
        if edge is None or id(edge) in seen:
            continue
        seen.add(id(edge))
        if isinstance(edge, Tensor):
            if id(edge) not in allowed:
                return True
            continue
        node = edge
        stack.extend(node.edges)
    return False


cdef bytes _needed(Node node, set active, dict captures):
    """A flag for each edge of a recorded op, whether something wanted lies there; None if it does everywhere."""
    cdef Py_ssize_t i, count = 0
    cdef bytearray flags
    if not isinstance(node, OpNode):
        return None
    flags = bytearray(len(node.edges))
    for i in range(len(node.edges)):
        if _leads_to(node, i, active, captures):
            flags[i] = 1
            count += 1
    return None if count == len(node.edges) else bytes(flags)


cdef bint _leads_to(Node node, Py_ssize_t i, set active, dict captures):
    """Whether edge i leads to something captured."""
    edge = node.edges[i]
    if edge is None:
        return False
    slot = node.slots[i] if isinstance(edge, Node) else 0
    return (isinstance(edge, Node) and edge in active) or (id(edge), slot) in captures


cdef list _apply(Node node, list cts, bint create_graph, bytes needed):
    """Run a node with its hooks; nothing arrived for it: nothing leaves it."""
    cdef bint any_given = False
    for ct in cts:
        if ct is not None:
            any_given = True
            break
    if not any_given:
        return [None] * len(node.edges)
    if node.pre_hooks is not None:
        for handle in list(node.pre_hooks):
            replaced = handle.hook(tuple(cts))
            if replaced is not None:
                cts = list(replaced) if isinstance(replaced, (tuple, list)) else [replaced]
                check_gradients(node, cts, node.outputs, "outputs")
    cdef list got
    try:
        got = node.apply(cts) if needed is None else (<OpNode>node).apply_needed(cts, needed)
    except Exception:
        if _anomaly:
            _hooks["report_anomaly"](node)
        raise
    if _check_nan:
        _hooks["check_nan"](node, got)
    if isinstance(node, PythonNode):
        got = _hooks["validate_cotangents"](node, got, [_target_layout(node, i) for i in range(len(node.edges))])
    if node.post_hooks is not None:
        for handle in list(node.post_hooks):
            replaced = handle.hook(tuple(got), tuple(cts))
            if replaced is not None:
                got = list(replaced) if isinstance(replaced, (tuple, list)) else [replaced]
                check_gradients(node, got, len(node.edges), "inputs")
    return got


cdef object _target_layout(Node node, Py_ssize_t i):
    """The layout of the tensor that edge i leads to."""
    edge = node.edges[i]
    if edge is None:
        return None
    if isinstance(edge, Tensor):
        return (<Tensor>edge).lay
    slot = node.slots[i]
    return (<Node>edge).shapes[slot] if (<Node>edge).shapes else None


cdef list _count(list starts, dict pending):
    """All reachable nodes, consumers counted, iteratively (graphs may be 100,000 nodes deep)."""
    cdef list stack = [], order = []
    cdef Node node
    for edge, _ in starts:
        if edge not in pending:
            pending[edge] = 0
            if isinstance(edge, Node):
                stack.append(edge)
    while stack:
        node = stack.pop()
        order.append(node)
        for edge in node.edges:
            if edge is not None:
                count = pending.get(edge)
                if count is None:
                    pending[edge] = 1
                    if isinstance(edge, Node):
                        stack.append(edge)
                else:
                    pending[edge] = count + 1
    return order


cdef set _active(list order, dict captures):
    """Nodes from which something captured can be reached through at least one edge."""
    cdef set active = set()
    cdef Node node
    cdef list ordered = sorted(order, key=lambda n: (<Node>n).sequence)
    for node in ordered:  # inputs were recorded before their consumers
        for i in range(len(node.edges)):
            if _leads_to(node, i, active, captures):
                active.add(node)
                break
    return active


cdef _add_cotangent(dict buffers, set own, object target, int slot, object ct, bint fresh):
    """Add to what has arrived for output `slot` of a node, or for a leaf. `fresh`: nothing else shows the memory of `ct`."""
    cdef list held = buffers.get(target)
    if held is None:
        held = [None] * ((<Node>target).outputs if isinstance(target, Node) else 1)
        buffers[target] = held
    if not isinstance(target, Node):
        slot = 0
    if held[slot] is None:
        held[slot] = ct
        if fresh:
            own.add((id(target), slot))
        return
    place = (id(target), slot)
    if place in own and (<Tensor>held[slot]).lay is (<Tensor>ct).lay and _adds_in_place(<Tensor>held[slot], <Tensor>ct):
        _hooks["add_"](held[slot], ct)
        return
    held[slot] = _add(held[slot], ct)
    if not (<Tensor>held[slot]).lay.sparse:
        own.add(place)


cdef bint _adds_in_place(Tensor held, Tensor ct):
    """Whether one cotangent may be added into the memory of another: nothing records or follows what happens to them."""
    if _grad_mode or _dual_level or held.needs_grad or ct.needs_grad or held.inference:
        return False
    cdef Layout a = held.lay, b = ct.lay
    return not (a.sparse or b.sparse or a.bits or b.bits or a.overlapping) and a.batch is None and b.batch is None


cdef bint _lay_in(dict buffers, set own, ViewNode node, object given):
    """Add the cotangent of a view into its base's that has arrived: many views of one base cost no more than the base.

    False if it is not there, not this walk's own memory, or not laid out as the base.
    """
    target = node.edges[0]
    if given is None or target is None or _check_nan:
        return False
    cdef int slot = node.slots[0] if isinstance(target, Node) else 0
    cdef list held = buffers.get(target)
    cdef Layout base = node.base_layout, layout = node.layout
    cdef Tensor ct = given, sum
    if held is None or held[slot] is None or (id(target), slot) not in own:
        return False
    sum = held[slot]
    if sum.lay is not base or not _adds_in_place(sum, ct) or layout.overlapping or layout.batch is not None or layout.bits:
        return False
    if ct.lay.dtype is not base.dtype or layout.dtype is not base.dtype or ct.lay.shape != layout.shape:
        return False
    cdef int64_t offset = node.start - node.base_start
    if layout.numel:
        if offset + layout.low < base.low or offset + layout.high > base.high:
            return False  # it shows more than the base does
        _hooks["add_"](new_tensor(sum.memory, sum.start + offset, layout), ct)
    return True


cdef _run_watchers(Node node, list cts):
    cdef Py_ssize_t slot
    if node.watched is not None:
        for slot, lists in node.watched.items():
            for hooks in lists:
                if cts[slot] is not None:
                    cts[slot] = _run_hooks(hooks, cts[slot])
    if node.retained is not None:
        for slot, reference in node.retained.items():
            tensor = reference()
            if tensor is not None and cts[slot] is not None:
                held = (<Tensor>tensor).gradient
                (<Tensor>tensor).gradient = cts[slot] if held is None else _add(held, cts[slot])


cdef object _run_hooks(list hooks, ct):
    for handle in list(hooks):
        replaced = handle.hook(ct)
        if replaced is not None:
            if not isinstance(replaced, Tensor):
                raise TypeError(f"hook: expected a Tensor or None, got {type(replaced).__name__}")
            if (<Tensor>replaced).lay.shape != (<Tensor>ct).lay.shape:
                raise RuntimeError(f"hook has changed the size of value: {list((<Tensor>ct).lay.shape)} to "
                                   f"{list((<Tensor>replaced).lay.shape)}")
            ct = replaced
    return ct


cdef _reach_leaf(Tensor leaf, list arrived, dict captures, list results, bint accumulate, bint create_graph):
    """All cotangents of a leaf are there: run its hooks, hand the sum out, add it into `.grad`."""
    cdef Tensor grad
    cdef object ct = arrived.pop()
    if results is not None and (id(leaf), 0) not in captures:
        return
    if leaf.hooks is not None:
        ct = _run_hooks(leaf.hooks, ct)
    if leaf.gradient_dtype is not None and (<Tensor>ct).lay.dtype is not leaf.gradient_dtype:
        ct = _hooks["cast_gradient"](ct, leaf.gradient_dtype)
    if results is not None:
        positions = captures.get((id(leaf), 0))
        if positions is not None:
            for i in positions:
                results[i] = ct
        if not accumulate or positions is None:
            return
    if leaf.gradient is None:
        grad = ct
        if create_graph:
            leaf.gradient = grad
        elif (grad.lay is leaf.lay or grad.lay.sparse) and grad.base is None and not grad.needs_grad and Py_REFCNT(grad) <= 3 and not grad.inference:
            leaf.gradient = grad  # nobody else holds it: keep it as it is
        else:
            leaf.gradient = _hooks["clone_like"](grad, leaf)
    elif create_graph:
        leaf.gradient = _add(leaf.gradient, ct)
    elif leaf.gradient.lay.sparse and not (<Tensor>ct).lay.sparse:
        leaf.gradient = _add(ct, leaf.gradient)
    else:
        _hooks["add_"](leaf.gradient, ct)
    if leaf.after_hooks is not None:
        for handle in list(leaf.after_hooks):
            handle.hook(leaf)
