# Making tensors over memory: fresh ones, aliases, views, basic indexing.


cdef Tensor new_tensor(Storage memory, int64_t start, Layout layout):
    cdef Tensor t = Tensor.__new__(Tensor)
    t.memory = memory
    t.start = start
    t.lay = layout
    if _inference_mode:
        t.inference = True
    return t


cdef Tensor alias_of(Tensor source):
    cdef Tensor t = new_tensor(source.memory, source.start, source.lay)
    t.inference = t.inference or source.inference
    return t


cdef _become(Tensor target, Tensor source):
    """Give an unset tensor (of a subclass, say) another one's memory."""
    cdef Storage left = target.memory  # its end may run Python code, which must not see half of this
    target.memory, target.start, target.lay = source.memory, source.start, source.lay


cdef int _wrap(dim, int ndim) except -1:
    cdef int64_t d = dim
    cdef int n = ndim if ndim else 1
    if d < -n or d >= n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
    return <int>(d + n if d < 0 else d)


def make_tensor(Storage memory not None, offset, shape, strides, dtype, cls=None, int bits=0):
    """A tensor over a storage at `offset` (elements), checked to lie within it; `bits` as `Layout` has them."""
    cdef Layout layout = layout_of(shape, strides, dtype, bits)
    cdef int64_t start = offset
    if start < 0 or start > MAX_ELEMENTS:
        raise RuntimeError(f"storage offset must be in [0, {MAX_ELEMENTS}], got {offset}")
    if layout.numel and (start + layout.low < 0 or (start + layout.high + 1) > memory.nbytes // layout.itemsize):
        raise RuntimeError(f"setStorage: sizes {list(layout.shape)}, strides {list(layout.strides)}, storage offset {offset} and "
                           f"itemsize {layout.itemsize} require a storage of {(start + layout.high + 1) * layout.itemsize} bytes, "
                           f"this one has {memory.nbytes}")
    cdef Tensor t
    if cls is None or cls is Tensor:
        return new_tensor(memory, start, layout)
    t = new_instance(cls)
    t.memory, t.start, t.lay = memory, start, layout
    return t


def borrowed_tensor(Layout layout not None, size_t address, owner, bint readonly=False):
    """A tensor over memory at an address that `owner` keeps alive."""
    if layout.low < 0:
        raise RuntimeError(f"{layout} lies before its first element")
    return new_tensor(borrow_storage(address, (layout.high + 1) * layout.itemsize if layout.numel else 0, owner, readonly), 0, layout)


cdef int check_class(cls) except -1:
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise TypeError(f"expected a subclass of Tensor, got {cls!r}")
    cdef PyObject *dispatch = type_attribute(<PyObject *>cls, <PyObject *>_TORCH_DISPATCH)
    if dispatch != NULL and dispatch != <PyObject *>_disabled:
        raise NotImplementedError(
            f"{cls.__name__} defines __torch_dispatch__, which is not supported: calls never reach it. Override "
            "__torch_function__, which sees the functions and methods that a program calls")
    return 0


def empty_tensor(Layout layout not None):
    """An uninitialised tensor of a layout."""
    if layout.low < 0:
        raise RuntimeError(f"{layout} lies before its first element")
    if layout.sparse:
        raise RuntimeError("empty_tensor: sparse and quantized tensors are made of others")
    return new_tensor(new_storage((layout.high + 1) * layout.itemsize if layout.numel else 0), 0, layout)


def unset_tensor(cls):
    """An instance of a subclass that has no elements until it is given another tensor's memory."""
    return new_instance(cls)


cdef Tensor new_instance(cls):
    """The same: `cls` may have a `__new__` of its own, which is not called."""
    check_class(cls)
    cdef PyObject *made = (<PyTypeObject *>Tensor).tp_new(<PyTypeObject *>cls, <PyObject *>(), NULL)
    if made == NULL:
        raise_pending()  # a class with abstract methods
    cdef Tensor t = <Tensor>made
    Py_DECREF(made)
    return t


def as_subclass(Tensor source not None, cls):
    """A tensor of type `cls` over the same memory, a view in the same graph."""
    cdef Tensor t = new_instance(cls), v = view_of(source, source.lay, source.start)
    _become(t, v)
    t.base, t.node, t.needs_grad, t.inference, t.view_version = v.base, v.node, v.needs_grad, v.inference, v.view_version
    return t


def set_tensor(Tensor target not None, Tensor source not None):
    """Let `target` share the memory of `source` from now on (`Tensor.set_`)."""
    _become(target, source)
    target.memory.version += 1


def swap_memory(Tensor target not None, Tensor source not None):
    """Replace the memory behind `target` by that of `source`, dtype and shape included (`Module.to`)."""
    _become(target, source)


def bump_version(Tensor t not None):
    """Count an in-place write that a host function made."""
    t.memory.version += 1


def is_alias(Tensor a not None, Tensor b not None):
    """Whether two tensors may touch the same bytes."""
    return may_overlap(a, b)


cdef bint may_overlap(Tensor a, Tensor b):
    if not a.lay.numel or not b.lay.numel or (root_of(a.memory) is not root_of(b.memory) and are_separate(a, b)):
        return False
    cdef int64_t a0 = <int64_t>a.memory.ptr + (a.start + a.lay.low) * a.lay.itemsize
    cdef int64_t a1 = <int64_t>a.memory.ptr + (a.start + a.lay.high + 1) * a.lay.itemsize
    cdef int64_t b0 = <int64_t>b.memory.ptr + (b.start + b.lay.low) * b.lay.itemsize
    cdef int64_t b1 = <int64_t>b.memory.ptr + (b.start + b.lay.high + 1) * b.lay.itemsize
    return a0 < b1 and b0 < a1 and not interleaved(a, b, b0 - a0)


cdef bint are_separate(Tensor a, Tensor b):
    """Whether tensors of two storages cannot share memory: unless one is borrowed, through a NumPy array of the other, say."""
    return (root_of(a.memory).owner is None and root_of(b.memory).owner is None) or without_memory(a.lay) or without_memory(b.lay)


cdef bint interleaved(Tensor a, Tensor b, int64_t distance):
    """Whether tensors over one range of bytes touch different ones for sure: columns of a matrix, say, or even and odd places.

    Modulo a large stride of both, the bytes of a tensor fill one interval, whose length the smaller strides decide.
    """
    cdef Layout layout
    cdef int64_t step
    cdef int i
    for layout in (a.lay, b.lay):
        for i in range(layout.ndim):
            step = layout.strides[i]
            if step and <int64_t>layout.shape[i] > 1 and apart(a, b, (step if step > 0 else -step) * layout.itemsize, distance):
                return True
    return False


cdef bint apart(Tensor a, Tensor b, int64_t modulus, int64_t distance):
    cdef int64_t length_a = length_modulo(a, modulus), length_b = length_modulo(b, modulus)
    distance %= modulus
    if distance < 0:
        distance += modulus
    return length_a <= distance and distance + length_b <= modulus


cdef int64_t length_modulo(Tensor t, int64_t modulus):
    """The bytes that a tensor spans if steps by multiples of `modulus` are left out."""
    cdef Layout layout = t.lay
    cdef int64_t step, length = layout.itemsize
    cdef int i
    for i in range(layout.ndim):
        step = layout.strides[i]
        if <int64_t>layout.shape[i] > 1 and step * layout.itemsize % modulus:
            length += (step if step > 0 else -step) * (<int64_t>layout.shape[i] - 1) * layout.itemsize
    return length


# -- basic indexing ---------------------------------------------------------------------------------

cdef object get_item(Tensor t, index):
    """Integers, slices, None and `...` make a view right here; the rest goes to `ops`."""
    cdef object items = index if type(index) is tuple else (index,)
    cdef Py_ssize_t used = 0
    for item in items:
        if type(item) is int or type(item) is slice:
            used += 1
        elif item is not None and item is not Ellipsis:
            return _hooks["getitem"](t, index)
    cdef Layout layout = t.lay
    cdef Storage memory = t.memory
    if used > layout.ndim:
        raise IndexError(f"too many indices for tensor of dimension {layout.ndim}")
    cdef list sizes = [], strides = []
    cdef int64_t start = t.start, offset = start, n, i, begin, end, step, stride
    cdef int dim = 0
    cdef bint expanded = False
    cdef str title = "AliasBackward0"
    for item in items:
        if type(item) is int:
            title = "SelectBackward0"
            n = layout.shape[dim]
            if not -n <= item < n:
                raise IndexError(f"index {item} is out of bounds for dimension {dim} with size {n}")
            i = item
            offset += (i + n if i < 0 else i) * <int64_t>layout.strides[dim]
            dim += 1
        elif type(item) is slice:
            n, stride = layout.shape[dim], layout.strides[dim]
            if item.step is not None and item.step <= 0:
                raise ValueError("step must be greater than zero")
            begin, end, step = item.indices(n)
            if begin != 0 or end != n or step != 1 or items is not index:
                title = "SliceBackward0"
            sizes.append((end - begin - 1) // step + 1 if end > begin else 0)
            strides.append(stride * step)
            if end > begin:
                offset += begin * stride
            dim += 1
        elif item is None:
            title = "UnsqueezeBackward0"
            sizes.append(1)
            strides.append(<int64_t>layout.strides[dim] * max(<int64_t>layout.shape[dim], 1) if dim < layout.ndim else 1)
        else:
            if expanded:
                raise IndexError("an index can only have a single ellipsis ('...')")
            expanded = True
            for _ in range(layout.ndim - used):
                sizes.append(layout.shape[dim])
                strides.append(layout.strides[dim])
                dim += 1
    sizes.extend(layout.shape[dim:])
    strides.extend(layout.strides[dim:])
    if t.lay is not layout or t.memory is not memory or t.start != start:  # by the `__index__` of a slice's bound
        raise RuntimeError("the tensor was given other memory while it was being indexed")
    cdef Tensor v = entitled(view_of(t, layout_like(layout, tuple(sizes), tuple(strides)), offset), title)
    if v.node is not None and logical_of(layout).overlapping:
        tell_apart([v], [get_item(stand_in(t), index)])
    return v


cdef bint write_number(Tensor t, index, value) except -1:
    """Do `t[i, j] = number` right here if autograd does not care; False leaves it to `ops`."""
    cdef Layout layout = t.lay
    cdef int64_t offset = t.start, n, i
    cdef int dim = 0, code = layout.code
    if t.needs_grad or (t.base is not None and t.base.needs_grad) or t.tangent_level or t.inference or t.memory.readonly or layout.overlapping:
        return False
    if code > 9 or layout.bits or layout.batch is not None or not (type(value) is float and code >= 6 or type(value) is bool or (
            type(value) is int and code >= 5 and -0x8000000000000000 <= value <= 0x7fffffffffffffff)):
        return False
    # what may be out of a narrow type's range is checked in `ops`
    if 6 <= code < 9 and type(value) is not bool and not -65504 <= value <= 65504:
        return False
    cdef tuple items = index if type(index) is tuple else (index,)
    if len(items) != layout.ndim:
        return False
    for item in items:
        if type(item) is not int:
            return False
        n = layout.shape[dim]
        if not -n <= item < n:
            return False
        i = item
        offset += (i + n if i < 0 else i) * <int64_t>layout.strides[dim]
        dim += 1
    cdef char *p = t.memory.ptr + offset * layout.itemsize
    if code >= 6:
        write_real(p, code, value)
    else:
        write_integer(p, code, value)
    t.memory.version += 1
    return True


cdef Tensor view_of(Tensor t, Layout layout, int64_t start):
    """A view of `t`, with its node when autograd records."""
    cdef Tensor v = new_tensor(t.memory, start, layout)
    v.base = t.base if t.base is not None else t
    v.inference = v.inference or t.inference
    v.view_version = version_seen(v.base, t)
    if _grad_mode and layout.floating and wants_grad(t):
        v.needs_grad = True
        v.node = view_node(t, layout, start)
        v.view_version = t.memory.version
    if _dual_level and t.tangent_level:
        move_view(v, t)
    return v


cdef move_view(Tensor v, Tensor t):
    """Let a view move as the tensor it shows does."""
    cdef Tensor tangent
    for level, found in tangents_of(t).items():
        if level > _dual_level:
            continue
        tangent = found
        if logical_of(tangent.lay) is not logical_of(t.lay):
            raise RuntimeError("forward mode: a view of a tensor whose elements share memory cannot be followed; clone() it first")
        set_tangent(v, view_of(tangent, layout_like(tangent.lay, v.lay.shape, v.lay.strides), tangent.start + v.start - t.start), level)


def cut(Tensor t not None, int dim, list bounds not None):
    """Views of the parts of `dim` between consecutive bounds; a part whose bounds decrease is empty."""
    if t.lay.sparse == QUANTIZED:
        return sparse_method("cut", (t, dim, bounds))
    check_dense(t)
    bounds = [int(bound) for bound in bounds]
    dim = _wrap(dim, t.lay.ndim)
    if not t.lay.ndim or not bounds:
        raise RuntimeError("split: expected a tensor with dimensions, and bounds")
    cdef Layout layout = t.lay
    cdef list sizes = list(layout.shape), found = []
    cdef int64_t stride = layout.strides[dim], begin = bounds[0], end, size
    cdef Py_ssize_t i
    for i in range(1, len(bounds)):
        end = bounds[i]
        if not 0 <= begin or end > <int64_t>layout.shape[dim]:
            raise RuntimeError(f"split: bounds {bounds} lie outside of dimension {dim} with size {layout.shape[dim]}")
        size = max(end - begin, 0)
        sizes[dim] = size
        found.append(entitled(view_of(t, layout_like(layout, tuple(sizes), layout.strides),
                                      t.start + (begin * stride if size else 0)), "SplitBackward0"))
        begin = end
    if t.needs_grad and logical_of(layout).overlapping:
        tell_apart(found, cut(stand_in(t), dim, bounds))
    return tuple(found)


def unbind(Tensor t not None, int dim):
    """The slices along `dim`, as views."""
    if t.lay.sparse == QUANTIZED:
        return sparse_method("unbind", (t, dim))
    check_dense(t)
    cdef Layout layout = t.lay
    dim = _wrap(dim, layout.ndim)
    if not layout.ndim:
        raise RuntimeError("unbind: a 0-dim tensor has no slices")
    cdef Layout part = layout_like(layout, layout.shape[:dim] + layout.shape[dim + 1:],
                                   layout.strides[:dim] + layout.strides[dim + 1:])
    cdef int64_t stride = layout.strides[dim], i, count = layout.shape[dim]
    cdef list found = []
    for i in range(count):
        found.append(entitled(view_of(t, part, t.start + i * stride), "UnbindBackward0"))
    if t.needs_grad and logical_of(layout).overlapping:
        tell_apart(found, unbind(stand_in(t), dim))
    return tuple(found)


cdef Tensor stand_in(Tensor t):
    """A tensor of the same shape each of whose elements has a place of its own. Its memory must not be read."""
    return new_tensor(t.memory, 0, separate_layout(t.lay))


cdef Layout separate_layout(Layout layout):
    """A layout of the same shape and samples, each element in a place of its own."""
    cdef Layout plain = contiguous_layout(layout.shape, layout.dtype)
    cdef int64_t step = max(plain.numel, 1)
    cdef list entries = []
    for level, size, stride in layout.batch or ():
        entries.append((level, size, step if stride else 0))
        step *= max(<int64_t>size, 1) if stride else 1
    return with_batch(plain, tuple(entries))


cdef tell_apart(views, places):
    """Let the nodes of views of a tensor whose elements share memory know their elements by places in its stand-in."""
    cdef Tensor v, place
    cdef ViewNode node
    for view, found in zip(views, places):
        v, place = view, found
        if v.node is not None:
            node = v.node
            node.base_layout, node.base_start = separate_layout(node.base_layout), 0
            node.layout, node.start = place.lay, place.start


cdef inline Tensor entitled(Tensor v, str title):
    """A view whose node has a name of its own."""
    if v.node is not None:
        (<ViewNode>v.node).title = title
    return v


def become_view(Tensor t not None, Tensor view not None):
    """Give `t` the shape, strides and gradient of a view of itself (`t_`, `unsqueeze_`)."""
    if _grad_mode:
        check_in_place(t)
    if view.memory is not t.memory:
        raise RuntimeError("become_view: the tensors do not share memory")
    t.start, t.lay = view.start, view.lay
    if view.needs_grad:
        t.node, t.slot, t.needs_grad, t.view_version = view.node, view.slot, True, view.view_version
    t.tangent, t.tangent_level, t.outer_tangents = view.tangent, view.tangent_level, view.outer_tangents
    return t


def strided_view(Tensor t not None, shape, strides, offset, bits=None):
    """`as_strided`: a view with any shape and strides that stay within the storage, read as `t` is unless `bits` say else."""
    if t.lay.sparse == QUANTIZED:
        return sparse_method("strided_view", (t, shape, strides, offset))
    check_dense(t)
    cdef Layout layout = layout_of(shape, strides, t.lay.dtype, t.lay.bits if bits is None else bits)
    cdef int64_t start = offset
    if min(layout.strides, default=0) < 0:
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(layout.strides)}")
    make_tensor(t.memory, start, layout.shape, layout.strides, layout.dtype)  # bounds check
    return view_of(t, layout, start) if t.lay.batch is None else view_as_layout(t, with_batch(layout, t.lay.batch), start)
