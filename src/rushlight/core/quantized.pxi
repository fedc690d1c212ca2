# Quantized tensors: a layout of another kind over the memory of integers. The storage's owner is the quantizer, which says
# which numbers the integers stand for; views with the same quantizer share the storage.
#
# As with sparse tensors no plan knows such a layout: calls that miss the plan cache go to the room `quantized`.

cdef dict _quantized_layouts = {}  # (layout of the integers, dtype) -> layout


cdef Layout _quantized_layout(Layout integers, object dtype):
    cdef tuple key = (integers, dtype)
    cdef Layout made
    found = _quantized_layouts.get(key)
    if found is not None:
        return <Layout>found
    if integers.sparse or integers.bits or integers.batch is not None or integers.floating or dtype.itemsize != integers.itemsize:
        raise RuntimeError(f"{integers} cannot be the integers of a tensor of type {dtype.name}")
    made = Layout.__new__(Layout)
    made.shape, made.strides, made.dtype, made._plain = integers.shape, integers.strides, dtype, integers
    made.ndim, made.itemsize, made.code, made.sparse = integers.ndim, integers.itemsize, integers.code, QUANTIZED
    made.numel, made.nbytes, made.low, made.high = integers.numel, integers.nbytes, integers.low, integers.high
    made.contiguous, made.overlapping = integers.contiguous, integers.overlapping
    if len(_quantized_layouts) > 100000:
        _sweep(_quantized_layouts)
    _quantized_layouts[key] = made
    return made


def quantized_tensor(Tensor integers not None, dtype, quantizer not None, Tensor base=None):
    """A tensor over the memory of integers, which `quantizer` gives a meaning; as a view of `base`, if that is given."""
    global _sparse_exists
    cdef Storage memory = integers.memory
    cdef Layout layout = _quantized_layout(integers.lay, dtype)
    if memory.owner is not quantizer:
        memory = same_memory(memory)
        memory.owner = quantizer
    cdef Tensor made = new_tensor(memory, integers.start, layout)
    if base is not None:
        made.base = base if base.base is None else base.base
    _sparse_exists = True
    return made


def integers_of(Tensor t not None):
    """The integers of a quantized tensor, over the same memory."""
    if t.lay.sparse != QUANTIZED:
        raise RuntimeError(f"integers_of: expected a quantized tensor, got one of type {t.lay.dtype.name}")
    return new_tensor(t.memory, t.start, t.lay._plain)


cdef inline bint without_memory(Layout layout):
    return layout.sparse != 0 and layout.sparse != QUANTIZED


cdef bint any_quantized(args):
    for value in args:
        for part in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(part, Tensor) and (<Tensor>part).lay.sparse == QUANTIZED:
                return True
    return False
