# Layouts: shape, strides and dtype of a tensor, interned so that equal layouts are one object.

DEF MAX_DIMS = 64
DEF CONJ = 1
DEF NEG = 2
DEF QUANTIZED = 4  # the kind of layouts of quantized tensors (quantized.pxi), behind those of sparse ones

cdef dict _contiguous_layouts = {}
cdef dict _strided_layouts = {}
cdef dict _lazy_layouts = {}  # (layout, bits) -> the same memory, read through a conjugate or a negative
cdef int64_t MAX_ELEMENTS = (<int64_t>1) << 58  # of 16 bytes each: sizes and sums of offsets stay within 64 bits


@cython.final
cdef class Layout:
    """What a tensor's memory looks like: immutable, interned, compared by identity.

    `form` and `values` split it in two: `form` is the structure (dtype; which sizes are 0, 1 or
    larger; contiguous, a permutation of contiguous, or general strides), `values` the numbers that fill
    it in. Layouts of equal form share compiled kernels.

    `bits` tell what stands between the memory and the elements: 1 a conjugate, 2 a negative. Whoever plans an
    operation wraps the input in these; `plain` is the layout of the memory itself.

    `batch` tells of dims that nobody sees (`vmap`, see batched.pxi); shape, strides and numel are those of one sample.
    """

    cdef readonly tuple shape, strides
    cdef readonly object dtype
    cdef readonly int ndim, itemsize, code, bits
    cdef readonly int64_t numel, nbytes
    cdef readonly int64_t low, high   # least and greatest element offset that is touched
    cdef readonly int sparse          # 0, or which kind of sparse or quantized tensor this is the shape and dtype of
    cdef readonly bint contiguous, overlapping, floating, is_complex
    cdef tuple _form, _values
    cdef object _size
    cdef Layout _plain               # None: this one
    cdef readonly tuple batch        # (level, size, stride) of each batch dim, by level; None: there are none
    cdef Layout _logical, _physical  # without the batch dims, with them in front; None: this one

    def __init__(self):
        raise TypeError("layouts are made by layout_of(shape, strides, dtype)")

    @property
    def form(self):
        if self._form is None:
            _analyse(self)
        return self._form

    @property
    def values(self):
        if self._form is None:
            _analyse(self)
        return self._values

    @property
    def plain(self):
        return plain_of(self)

    @property
    def logical(self):
        return logical_of(self)

    @property
    def physical(self):
        return self if self._physical is None else self._physical

    def __reduce__(self):
        if self.batch is not None:
            raise RuntimeError("vmap: a tensor of a batch cannot be pickled; return it from the function that vmap maps first")
        return layout_of, (self.shape, self.strides, self.dtype, self.bits)

    def __repr__(self):
        lazy = ("", ", conjugated", ", negated", ", conjugated and negated")[self.bits]
        batch = "" if self.batch is None else f", batch {self.batch}"
        return f"Layout({self.dtype.name}{list(self.shape)}, strides {self.strides}{lazy}{batch})"


cdef tuple _row_major(tuple shape):
    cdef Py_ssize_t i, n = len(shape)
    cdef int64_t step = 1, size
    cdef list strides = [None] * n
    for i in range(n - 1, -1, -1):
        strides[i] = step
        size = shape[i]
        if size > 1:
            step *= size
    return tuple(strides)


cdef Layout contiguous_layout(tuple shape, object dtype):
    cdef tuple key = (shape, dtype)
    found = _contiguous_layouts.get(key)
    if found is not None:
        return <Layout>found
    return _make_layout(shape, None, dtype)


cdef Layout strided_layout(tuple shape, tuple strides, object dtype):
    cdef tuple key = (shape, strides, dtype)
    found = _strided_layouts.get(key)
    if found is not None:
        return <Layout>found
    return _make_layout(shape, strides, dtype)


cdef inline Layout plain_of(Layout layout):
    return layout if layout._plain is None else layout._plain


cdef Layout with_bits(Layout layout, int bits):
    """The layout of the same memory whose elements are read through what `bits` say."""
    if layout.batch is not None:
        return with_batch(with_bits(logical_of(layout), bits), layout.batch)
    cdef Layout plain = plain_of(layout), made
    if not bits:
        return plain
    cdef tuple key = (plain, bits)
    found = _lazy_layouts.get(key)
    if found is not None:
        return <Layout>found
    made = Layout.__new__(Layout)
    made.shape, made.strides, made.dtype = plain.shape, plain.strides, plain.dtype
    made.ndim, made.itemsize, made.code, made.bits = plain.ndim, plain.itemsize, plain.code, bits
    made.numel, made.nbytes, made.low, made.high = plain.numel, plain.nbytes, plain.low, plain.high
    made.contiguous, made.overlapping = plain.contiguous, plain.overlapping
    made.floating, made.is_complex, made._plain = plain.floating, plain.is_complex, plain
    return <Layout>_lazy_layouts.setdefault(key, made)


cdef inline Layout layout_like(Layout like, tuple shape, tuple strides):
    """A layout for a view of memory that is laid out, and read, as `like` says."""
    cdef Layout found = strided_layout(shape, strides, like.dtype)
    if like.bits:
        found = with_bits(found, like.bits)
    return found if like.batch is None else with_batch(found, like.batch)


def layout_of(shape, strides, dtype, int bits=0):
    """The interned layout; `strides` are in elements, None for row-major; `bits` as `Layout` has them."""
    shape = tuple([n if type(n) is int else n.__index__() for n in shape])
    cdef Layout found
    if strides is None:
        found = contiguous_layout(shape, dtype)
    else:
        found = strided_layout(shape, tuple([n if type(n) is int else n.__index__() for n in strides]), dtype)
    if bits & ~(CONJ | NEG) or (bits & CONJ and not found.is_complex):
        raise ValueError(f"layouts of {dtype.name} have no bits {bits}")
    return with_bits(found, bits)


cdef Layout _make_layout(tuple shape, tuple strides, object dtype):
    cdef Layout layout = Layout.__new__(Layout)
    cdef int64_t numel = 1, size, stride
    cdef Py_ssize_t i, n = len(shape)
    if dtype.code < 0:
        dtype.require()
    if n > MAX_DIMS:
        raise RuntimeError(f"tensors have at most {MAX_DIMS} dimensions, got {n}")
    for number in shape if strides is None else shape + strides:
        if not -0x8000000000000000 <= number <= 0x7fffffffffffffff:
            raise RuntimeError(f"{number} is out of range for the size or stride of a tensor")
    for i in range(n):
        size = shape[i]
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(shape)}")
        if size and numel > MAX_ELEMENTS // size:
            raise RuntimeError(f"the number of elements of shape {list(shape)} is out of range")
        numel *= size
    row_major = _row_major(shape)
    if strides is None:
        strides = row_major
    elif len(strides) != n:
        raise RuntimeError(f"mismatch in length of strides and shape: {list(strides)} and {list(shape)}")
    layout.shape, layout.dtype, layout.ndim, layout.numel = shape, dtype, <int>n, numel
    layout.itemsize, layout.code = dtype.itemsize, dtype.code
    layout.floating, layout.is_complex = dtype.kind in "fc", dtype.kind == "c"
    layout.nbytes = numel * layout.itemsize
    layout.contiguous = True
    for i in range(n):
        size, stride = shape[i], strides[i]
        if size != 1 and stride != <int64_t>row_major[i]:
            layout.contiguous = numel == 0
            break
    layout.strides = strides
    layout.low = layout.high = 0
    if numel:
        for i in range(n):
            size, stride = shape[i], strides[i]
            if size > 1:
                if stride and (size - 1) > MAX_ELEMENTS // (stride if stride > 0 else -stride):
                    raise RuntimeError(f"strides {list(strides)} are out of range for shape {list(shape)}")
                if stride > 0:
                    layout.high += (size - 1) * stride
                else:
                    layout.low += (size - 1) * stride
                if layout.high > MAX_ELEMENTS or layout.low < -MAX_ELEMENTS:
                    raise RuntimeError(f"strides {list(strides)} are out of range for shape {list(shape)}")
    layout.overlapping = numel > 1 and not layout.contiguous and _overlaps(shape, strides)
    if len(_strided_layouts) > 200000:
        _sweep(_batched_layouts)
        _sweep(_lazy_layouts)
        _sweep(_strided_layouts)
        _sweep(_contiguous_layouts)
    # one object per meaning: a contiguous layout reached by spelled-out strides is the interned contiguous one
    if strides == row_major:
        found = _contiguous_layouts.setdefault((shape, dtype), layout)
    else:
        found = layout
    _strided_layouts[(shape, strides, dtype)] = found
    return <Layout>found


cdef _sweep(dict table):
    """Drop layouts that nothing but the intern tables holds."""
    for key, layout in list(table.items()):
        if Py_REFCNT(layout) <= 4:
            del table[key]


cdef bint _overlaps(tuple shape, tuple strides):
    """Whether two index tuples may reach the same element (exact for strides sorted by size)."""
    cdef list dims = sorted((abs(st), n) for n, st in zip(shape, strides) if n > 1)
    cdef int64_t reach = 0
    for stride, n in dims:
        if stride <= reach:
            return True
        reach += stride * (n - 1)
    return False


cdef _analyse(Layout layout):
    """Fill in `form` and `values`."""
    if layout.sparse:
        kind = "quantized" if layout.sparse == QUANTIZED else "sparse"
        raise NotImplementedError(f"an operation on {kind} tensors cannot be planned as one on dense ones")
    if layout.batch is not None:
        analyse_batched(layout)
        return
    cdef list pattern = [], values = []
    cdef Py_ssize_t i
    for i in range(layout.ndim):
        size = layout.shape[i]
        if size > 1:
            values.append(size)
            pattern.append(2)
        else:
            pattern.append(size)
    if layout.contiguous:
        kind = None
    else:
        order = dense_order(layout)
        if order is not None:
            kind = order
        else:
            kinds = []
            for size, stride in zip(layout.shape, layout.strides):
                if size == 1 or stride == 0 or stride == 1:
                    kinds.append(0 if size == 1 else stride)
                else:
                    kinds.append(2)
                    values.append(stride)
            kind = ("s", *kinds)
    layout._values = tuple(values)
    layout._form = ((layout.dtype, layout.bits) if layout.bits else layout.dtype, tuple(pattern), kind)


def dense_order(Layout layout not None):
    """The order of dims, outermost first, if the layout is a permutation of a row-major one; else None."""
    cdef int64_t step = 1
    order = sorted(range(layout.ndim), key=lambda d: (-layout.strides[d], -layout.shape[d], d))
    for d in reversed(order):
        if layout.shape[d] != 1:
            if layout.strides[d] != step:
                return None
            step *= layout.shape[d]
    return tuple(order)
