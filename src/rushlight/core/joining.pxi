# Copies of many small tensors side by side. A plan is made for a number of tensors; this is for lists of any length.


def side_by_side(tensors not None, int dim, bint stacked, int64_t most):
    """Contiguous tensors one after the other along `dim`, or (`stacked`) each as a slice of a new dim `dim`; and whether
    one of them has a gradient to be recorded, which is the caller's part.

    None, for the caller to find another way, where they differ in dtype or in other sizes, are anything but
    contiguous memory of their own, or exceed `most` bytes together.
    """
    cdef tuple parts = tuple(tensors)  # the caller's list may change
    cdef Py_ssize_t i, count = len(parts)
    cdef Layout first, layout
    cdef Tensor t, made
    cdef list shape, layouts = [None] * len(parts)
    cdef int64_t along = 0, total = 0
    cdef bint needs = False
    for i in range(count):
        if not is_plain_memory(<PyObject *>parts[i]):
            return None
        layout = (<Tensor>parts[i]).lay
        if i == 0:
            first = layout
            dim = _wrap(dim, first.ndim + stacked)
            if not stacked and not first.ndim:
                return None
        elif layout is not first and not goes_with(first, layout, -1 if stacked else dim):
            return None
        layouts[i] = layout
        along += 1 if stacked else <int64_t>layout.shape[dim]
        total += layout.nbytes
        needs |= wants_grad(<Tensor>parts[i])
    if not count or total > most:
        return None
    shape = list(first.shape)
    if stacked:
        shape.insert(dim, along)
    else:
        shape[dim] = along
    made = empty_tensor(contiguous_layout(tuple(shape), first.dtype))
    for i in range(count):
        if (<Tensor>parts[i]).lay is not layouts[i]:  # a finalizer, run for the new tensor's sake, gave it other memory
            raise_moved()
    cdef int64_t outer = 1, row, length
    for i in range(dim):
        outer *= <int64_t>shape[i]
    row = total // outer if outer else 0
    cdef char *target = made.memory.ptr + made.start * first.itemsize
    cdef char *source
    for part in parts:
        t = part
        if t.lay.nbytes:
            length = t.lay.nbytes // outer
            source = t.memory.ptr + t.start * first.itemsize
            for i in range(outer):
                memcpy(target + i * row, source + i * length, length)
            target += length
    return made, needs and _grad_mode and first.floating


cdef bint is_plain_memory(PyObject *value):
    """Whether a value is a tensor of contiguous numbers, and no more than that."""
    if not isinstance(<object>value, Tensor) or tensor_overrides(value):
        return False
    cdef Layout layout = (<Tensor>value).lay
    if layout.sparse or layout.bits or layout.batch is not None or (<Tensor>value).tangent_level:
        return False
    cdef int64_t end = ((<Tensor>value).start + layout.numel) * layout.itemsize
    return layout.contiguous and end <= (<Tensor>value).memory.nbytes  # a storage may have been made smaller


cdef bint goes_with(Layout first, Layout other, int dim):
    """Whether two layouts are of one dtype and agree in all sizes but that of `dim`."""
    cdef int i
    if other.dtype is not first.dtype or other.ndim != first.ndim:
        return False
    for i in range(first.ndim):
        if i != dim and first.shape[i] != other.shape[i]:
            return False
    return True
