# Tensors whose layout has batch dims: dims are hidden when a `vmap` begins, revealed when it ends.


cdef Tensor viewed_as(Tensor t, Layout layout):
    """The same memory under another layout, outside of any graph."""
    cdef Tensor v = new_tensor(t.memory, t.start, layout)
    v.base = t.base if t.base is not None else t
    v.view_version = t.memory.version
    return v


def hide(Tensor t not None, int dim, level):
    """A view in which `dim` is the batch dim of a level; a dim of stride 0 is one sample for all."""
    cdef Layout lay = t.lay
    cdef int d = _wrap(dim, lay.ndim)
    if not lay.ndim:
        raise RuntimeError("hide: the tensor has no dimensions")
    cdef Layout sample = layout_like(logical_of(lay), lay.shape[:d] + lay.shape[d + 1:], lay.strides[:d] + lay.strides[d + 1:])
    return viewed_as(t, with_batch(sample, with_level(lay.batch, level, lay.shape[d], kept_stride(lay.shape[d], lay.strides[d]))))


def reveal(Tensor t not None, int dim, level):
    """A view in which the batch dim of a level is dim `dim`."""
    cdef Layout lay = t.lay
    for entry in lay.batch or ():
        if entry[0] == level:
            break
    else:
        raise RuntimeError(f"the tensor has no batch dim of level {level}")
    cdef int d = _wrap(dim, lay.ndim + 1)
    cdef Layout whole = layout_like(logical_of(lay), lay.shape[:d] + (entry[1],) + lay.shape[d:],
                                    lay.strides[:d] + (entry[2],) + lay.strides[d:])
    return viewed_as(t, with_batch(whole, tuple([other for other in lay.batch if other is not entry])))


def alias(Tensor t not None):
    """The same tensor outside of any graph, with the same batch dims: unlike `detach()`, a view of it."""
    return viewed_as(t, t.lay)


def share(Tensor t not None, level, int64_t size):
    """A view that is one sample for all `size` of a level, each with a gradient of its own."""
    return viewed_as(t, with_batch(t.lay, with_level(t.lay.batch, level, size, 0)))


def view_as_layout(Tensor t not None, Layout layout not None, int64_t start):
    """A view of `t`'s memory by layout, for the engine's own bookkeeping: bounds are checked, graphs know of it."""
    if layout.numel and layout.high >= layout.low and (
            start + layout.low < 0 or (start + layout.high + 1) * layout.itemsize > t.memory.nbytes):
        raise RuntimeError("a view reaches beyond its storage")
    return view_of(t, layout, start)


cdef refuse_batch(Tensor t, str what):
    """The errors of `vmap` for what needs the numbers of all samples at once."""
    if what == "item":
        raise RuntimeError("vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on "
                           "a Tensor, please try to rewrite what you're doing with other operations.")
    if what == "bool":
        raise RuntimeError("vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. vmap does "
                           "not support that: use where() or other operations instead.")
    raise RuntimeError(f"vmap: {what} needs the numbers of the tensor, which has one sample for each step of a vmap; it is not "
                       "available inside of vmap")
