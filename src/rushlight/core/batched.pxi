# Layouts with batch dims that nobody sees: what `vmap` maps a function over.
#
# Each open `vmap` has a level, a small number. A tensor that has one sample per step of it carries the size and stride of
# that dim in its layout, beside the shape and strides of a sample. Being part of the layout it is part of an op's key: an
# op called with such tensors is one dictionary hit away from a plan of its own. Stride 0 says that all samples are
# one and the same, but that each has a gradient of its own.

cdef dict _batched_layouts = {}


cdef inline Layout logical_of(Layout layout):
    return layout if layout._logical is None else layout._logical


cdef inline bint has_samples(Layout layout):
    """Whether there is more than one sample in memory, so that no single number can be read."""
    return layout.batch is not None and layout._physical.ndim != layout.ndim


cdef Layout with_batch(Layout layout, tuple batch):
    """The layout whose samples, laid out as `layout` says, lie where the entries (level, size, stride) put them."""
    cdef Layout logical = logical_of(layout), made
    if not batch:
        return logical
    cdef tuple key = (logical, batch)
    found = _batched_layouts.get(key)
    if found is not None:
        return <Layout>found
    made = Layout.__new__(Layout)
    made.shape, made.strides, made.dtype = logical.shape, logical.strides, logical.dtype
    made.ndim, made.itemsize, made.code, made.bits = logical.ndim, logical.itemsize, logical.code, logical.bits
    made.numel, made.nbytes, made.contiguous = logical.numel, logical.nbytes, logical.contiguous
    made.floating, made.is_complex = logical.floating, logical.is_complex
    made.batch, made._logical = batch, logical
    if logical.bits:
        made._plain = with_batch(plain_of(logical), batch)
    sizes = [n for _, n, stride in batch if stride]
    strides = [stride for _, n, stride in batch if stride]
    made._physical = with_bits(strided_layout(tuple(sizes) + logical.shape, tuple(strides) + logical.strides, logical.dtype),
                               logical.bits)
    made.overlapping = made._physical.overlapping
    made.low, made.high = made._physical.low, made._physical.high
    if logical.numel and not made._physical.numel:
        made.low, made.high = 0, -1
    return <Layout>_batched_layouts.setdefault(key, made)


cdef analyse_batched(Layout layout):
    """`form` and `values`: those of the memory, which levels it has, and the sizes of those that share one sample."""
    cdef list levels = [], values = list(layout._physical.values)
    for level, n, stride in layout.batch:
        levels.append((level, 2 if stride else -1 if n > 1 else n))
        if not stride and n > 1:
            values.append(n)
    layout._values = tuple(values)
    layout._form = ("batched", layout._physical.form, tuple(levels))


def batched_layout(shape, strides, dtype, levels, int bits=0):
    """The layout of memory with the batch dims in front.

    `levels` are pairs (level, size) by level, with size -1 for the next dim of `shape`, else that of a dim of stride 0.
    """
    cdef Layout physical = layout_of(shape, strides, dtype, bits)
    cdef int dim = 0
    cdef list batch = []
    for level, size in levels:
        if size < 0 and dim == physical.ndim:
            raise ValueError(f"{physical} has no dims for the levels {levels}")
        if size < 0:
            batch.append((level, physical.shape[dim], kept_stride(physical.shape[dim], physical.strides[dim])))
            dim += 1
        else:
            batch.append((level, size, 0))
    return with_batch(with_bits(strided_layout(physical.shape[dim:], physical.strides[dim:], dtype), bits), tuple(batch))


cdef int64_t kept_stride(int64_t size, int64_t stride):
    """A dim of one or no sample has a stride too, lest it read as one that shares its sample."""
    return 1 if size <= 1 and stride == 0 else stride


cdef tuple with_level(tuple batch, level, size, stride):
    """The entries of a layout with one more, in the order of levels."""
    for other, _, _ in batch or ():
        if other == level:
            raise RuntimeError(f"vmap: a tensor has a batch dim of level {level} already: it escaped from the vmap that made it")
    return tuple(sorted((batch or ()) + ((level, size, stride),)))


def layout_with_batch(Layout layout not None, entries):
    """The layout of a sample with entries (level, size, stride) in any order."""
    return with_batch(layout, tuple(sorted(entries)))


def extended_layout(Layout layout not None, entries):
    """A layout for new memory that holds a part laid out as `layout` for each sample of the entries' levels."""
    cdef int64_t step = max(layout.high + 1, 1)
    cdef tuple batch = layout.batch
    for level, size, _ in reversed(tuple(entries or ())):
        batch = with_level(batch, level, size, step)
        step *= max(size, 1)
    return with_batch(layout, batch)
