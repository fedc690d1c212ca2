# Sparse tensors: a layout of another kind over no memory; the storage's owner holds the parts (indices and values).
#
# No plan knows such a layout: a call that misses the plan cache hands its arguments to the room `sparse`, so that calls with
# dense tensors never look for sparse ones. What reads memory all the same finds 64 bytes of zeros that it cannot write.

DEF SPARSE_COO = 1
DEF SPARSE_CSR = 2
DEF SPARSE_CSC = 3

cdef extern from *:
    """
    static char rushlight_nothing[64] = {0};
    """
    char *_nothing "rushlight_nothing"

cdef dict _sparse_layouts = {}   # (shape, dtype, kind) -> layout
cdef bint _sparse_exists = False # whether there ever was a sparse tensor


cdef Layout _sparse_layout(tuple shape, object dtype, int kind):
    cdef tuple key = (shape, dtype, kind)
    cdef Layout layout
    cdef int64_t numel = 1, size
    found = _sparse_layouts.get(key)
    if found is not None:
        return <Layout>found
    if len(shape) > MAX_DIMS:
        raise RuntimeError(f"tensors have at most {MAX_DIMS} dimensions, got {len(shape)}")
    for size in shape:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(shape)}")
    for size in shape if 0 not in shape else ():
        if numel > 0x7fffffffffffffff // size:
            raise RuntimeError("numel: integer multiplication overflow")
        numel *= size
    layout = Layout.__new__(Layout)
    layout.shape, layout.strides, layout.dtype, layout.ndim = shape, (0,) * len(shape), dtype, <int>len(shape)
    layout.itemsize, layout.code, layout.numel, layout.sparse = dtype.itemsize, dtype.code, 0 if 0 in shape else numel, kind
    layout.floating, layout.is_complex, layout.overlapping = dtype.kind in "fc", dtype.kind == "c", True
    if len(_sparse_layouts) > 100000:
        _sweep(_sparse_layouts)
    _sparse_layouts[key] = layout
    return layout


def sparse_tensor(shape, dtype, int kind, parts not None):
    """A tensor whose elements `parts` describe; `kind` is 1 for coordinates, 2 for compressed rows, 3 for columns."""
    global _sparse_exists
    cdef Storage memory = Storage.__new__(Storage)
    memory.ptr, memory.nbytes, memory.owner, memory.readonly = _nothing, 64, parts, True
    _sparse_exists = True
    return new_tensor(memory, 0, _sparse_layout(tuple([int(n) for n in shape]), dtype, kind))


def parts_of(Tensor t not None):
    """What describes the elements of a sparse tensor (of a quantized one: its quantizer); None for a dense one."""
    return t.memory.owner if t.lay.sparse else None


def become_sparse(Tensor target not None, Tensor result not None):
    """Let a sparse tensor have the parts, the shape and the gradient of another from now on: what its in-place ops do."""
    if not target.lay.sparse or target.lay.sparse != result.lay.sparse or target.lay.dtype is not result.lay.dtype:
        raise RuntimeError("an in-place operation cannot change the layout or the dtype of a sparse tensor")
    if _grad_mode:
        check_in_place(target)
    target.memory.owner, target.lay = result.memory.owner, result.lay
    target.memory.version += 1
    if result.needs_grad and _grad_mode:
        target.node, target.slot, target.needs_grad = result.node, result.slot, True
    return target


cdef int check_dense(Tensor t) except -1:
    if t.lay.sparse == QUANTIZED:
        raise NotImplementedError("this function takes no views of quantized tensors; use Tensor.dequantize() first, or work on "
                                  "Tensor.int_repr()")
    if t.lay.sparse:
        raise NotImplementedError(f"sparse tensors have no memory to take views of (layout {t.layout}); use Tensor.to_dense() "
                                  "first")
    return 0


cdef object sparse_method(str name, tuple args):
    return sparse_call(None, name, args, {})


def sparse_call(called, str name not None, tuple args not None, dict kwargs not None):
    """The result of an op (or of a function that is none: `called` is None) for sparse tensors, or for quantized ones."""
    quantized = any_quantized(args) or any_quantized(kwargs.values())
    return _hooks["quantized_call" if quantized else "sparse_call"](called, name, args, kwargs)


# -- calls with sparse tensors ------------------------------------------------------------------------

cdef bint any_sparse(PyObject **flat, Py_ssize_t n):
    """Whether one of the arguments is a sparse or quantized tensor, or a list that holds one."""
    cdef Py_ssize_t i
    cdef object value
    for i in range(n):
        value = <object>flat[i]
        if isinstance(value, Tensor):
            if (<Tensor>value).lay.sparse:
                return True
        elif type(value) is list or type(value) is tuple:
            for part in value:
                if isinstance(part, Tensor) and (<Tensor>part).lay.sparse:
                    return True
    return False


def has_sparse(args, kwargs):
    """Whether a sparse or quantized tensor is among the arguments of a call."""
    if not _sparse_exists:
        return False
    for value in (*args, *kwargs.values()):
        for part in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(part, Tensor) and (<Tensor>part).lay.sparse:
                return True
    return False


cdef object call_sparse(object called, str name, PyObject **args, Py_ssize_t nargs, tuple kwnames):
    cdef Py_ssize_t i
    positional = tuple([<object>args[i] for i in range(nargs)])
    keywords = {kwnames[i]: <object>args[nargs + i] for i in range(len(kwnames))} if kwnames is not None else {}
    return sparse_call(called, name, positional, keywords)
