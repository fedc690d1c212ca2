# Elements: reading and writing single numbers, tensors from nested sequences.

cdef extern from "scalars.h":
    double read_real(const char *p, int code) nogil
    int64_t read_integer(const char *p, int code) nogil
    void write_real(char *p, int code, double v) nogil
    void write_integer(char *p, int code, int64_t v) nogil

cdef extern from "<math.h>":
    bint signbit(double) nogil

DEF FLOAT32 = 8
DEF FLOAT64 = 9
DEF COMPLEX64 = 10
DEF COMPLEX128 = 11
DEF UINT16 = 12
DEF UINT64 = 14


cdef object read_element(const char *p, int code, int bits):
    """The element at `p`, seen through the bits of a layout."""
    value = read_memory(p, code)
    if bits & CONJ:
        value = value.conjugate()
    return -value if bits & NEG else value


cdef object read_memory(const char *p, int code):
    if code == 0:
        return read_integer(p, code) != 0
    if code == UINT64:
        return <unsigned long long>read_integer(p, code)
    if code <= 5 or code >= UINT16:
        return read_integer(p, code)
    if code == COMPLEX64:
        return PyComplex_FromDoubles(read_real(p, code), read_real(p + 4, code))
    if code == COMPLEX128:
        return PyComplex_FromDoubles(read_real(p, code), read_real(p + 8, code))
    return read_real(p, code)


cdef object only_element(Tensor t):
    """The element that Python's `int`, `float` and `complex` convert."""
    if t.lay.numel != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return t.item()


cdef object real_element(Tensor t, str kind):
    """The element that becomes a real number, which has no imaginary part."""
    value = only_element(t)
    if isinstance(value, complex):
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
        return value.real
    return value


cdef object _to_list(Tensor t, int dim, int64_t offset):
    cdef Layout layout = t.lay
    if dim == layout.ndim:
        return read_element(t.memory.ptr + offset * layout.itemsize, layout.code, layout.bits)
    cdef int64_t i, stride = layout.strides[dim], n = layout.shape[dim]
    if dim + 1 < layout.ndim:
        return [_to_list(t, dim + 1, offset + i * stride) for i in range(n)]
    cdef char *p = t.memory.ptr + offset * layout.itemsize
    stride *= layout.itemsize
    if layout.bits:
        return [read_element(p + i * stride, layout.code, layout.bits) for i in range(n)]
    return [read_memory(p + i * stride, layout.code) for i in range(n)]


cdef object _complex = complex


def write_elements(Tensor t not None, values):
    """Write a flat sequence of Python numbers into a contiguous tensor."""
    cdef char *p = t.memory.ptr + t.start * t.lay.itemsize
    cdef int code = t.lay.code, size = t.lay.itemsize
    cdef int64_t integer, most = 0, left = t.lay.numel
    if t.memory.readonly:
        raise RuntimeError("this tensor's memory is read-only")
    if not t.lay.contiguous or t.lay.bits:
        raise RuntimeError(f"write_elements: expected a contiguous tensor, got {t.lay}")
    cdef bint wraps = code == 1 or code >= UINT16
    if (code < 5 or code >= UINT16) and size < 8:
        most = ((<int64_t>1) << (8 * size - (not wraps))) - 1
    for value in values:
        left -= 1
        if left < 0:
            break
        if code <= 5 or code >= UINT16:
            if code == 0:
                integer = bool(value)
            elif code == UINT64:
                integer = <int64_t><unsigned long long>int(value)
            else:
                if type(value) is float and value - value != 0:
                    raise RuntimeError(f"value cannot be converted to type {t.lay.dtype.name} without overflow")
                integer = int(value)
                # negative numbers may wrap around in unsigned types
                if most and (integer > most or integer < -most - (not wraps)):
                    raise RuntimeError(f"value cannot be converted to type {t.lay.dtype.name} without overflow")
            write_integer(p, code, integer)
        elif code < COMPLEX64:
            write_real(p, code, float(value))
        else:
            number = _complex(value)  # C's arithmetic would lose the sign of a zero part
            write_real(p, code, number.real)
            write_real(p + size // 2, code, number.imag)
        p += size
    if left:  # whatever the lengths of the sequences said
        raise ValueError(f"expected {t.lay.numel} numbers, got {'more' if left < 0 else t.lay.numel - left}")


def clear_memory(Tensor t not None):
    """Zero a dense tensor's bytes on the caller's thread."""
    check_memory_writable(t)
    if t.lay.numel:
        memset(t.memory.ptr + (t.start + t.lay.low) * t.lay.itemsize, 0, (t.lay.high - t.lay.low + 1) * t.lay.itemsize)


DEF SMALL = 1 << 16  # bytes below which one thread fills memory soonest


def filled_tensor(sizes not None, value, dtype):
    """A row-major tensor of one number (None: whatever lies in memory) if nothing about it is out of the ordinary, else None.

    `sizes` are ints, or one sequence of them; layouts must have been met before. What this refuses, the room `ops` makes.
    """
    if not sizes:
        return None
    if len(sizes) == 1 and type(sizes[0]) is not int:
        sizes = sizes[0]
        if not isinstance(sizes, (tuple, list)):
            return None
    if type(sizes) is not tuple:
        sizes = tuple(sizes)
    for size in <tuple>sizes:
        if type(size) is not int:
            return None
    return filled_as(_contiguous_layouts, (sizes, dtype), value)


def filled_like(Tensor like not None, value, dtype):
    """The same, of the shape of a row-major tensor, whose strides of dims of size 1 it keeps."""
    if type(like) is not Tensor or not like.lay.contiguous or like.lay.batch is not None or like.lay.sparse:
        return None
    return filled_as(_strided_layouts, (like.lay.shape, like.lay.strides, dtype), value)


cdef object filled_as(dict table, tuple key, value):
    cdef Layout layout
    cdef Tensor made
    cdef int64_t done, size
    try:
        layout = table.get(key)
    except TypeError:  # a dtype without a hash is none
        return None
    if layout is None or _default_absent:
        return None
    done, size = layout.itemsize, layout.nbytes
    if value is not None and (size > SMALL or not is_written_plainly(layout, value)):
        return None
    made = new_tensor(new_storage(size), 0, layout)
    if value is None or not size:
        return made
    cdef char *p = made.memory.ptr
    if value == 0:
        memset(p, 0, size)
        return made
    if layout.floating:
        write_real(p, layout.code, value)
    else:
        write_integer(p, layout.code, value)
    while done < size:
        memcpy(p + done, p, min(done, size - done))
        done *= 2
    return made


cdef bint is_written_plainly(Layout layout, value) except -1:
    """Whether a number keeps its value in a layout's dtype: small integers, and what float32 and float64 hold, but for -0.0."""
    if layout.is_complex:
        return type(value) is int and value == 0
    if type(value) is int:
        return 0 <= value < 128
    return type(value) is float and (layout.code == FLOAT32 or layout.code == FLOAT64) and -1e38 < value < 1e38 and (value != 0 or not signbit(value))


def resize(Tensor t not None, shape):
    """Give `t` another shape, row-major, growing its storage if that is too small (`resize_`)."""
    check_dense(t)
    if t.lay.batch is not None:
        refuse_batch(t, "resize_()")
    cdef Layout layout = with_bits(contiguous_layout(tuple(shape), t.lay.dtype), t.lay.bits)
    cdef Storage larger, left = t.memory  # the end of memory may run Python code, which must not see half of this
    if t.start > MAX_ELEMENTS - layout.numel:
        raise RuntimeError(f"resize_: shape {list(shape)} behind {t.start} elements is out of range")
    cdef int64_t needed = (t.start + layout.numel) * layout.itemsize
    if needed > t.memory.nbytes:
        if t.memory.owner is not None:
            raise RuntimeError("Trying to resize storage that is not resizable: the memory belongs to another object")
        if t.memory.resizable:
            grow_storage(t.memory, needed)
        else:  # where it is in use it cannot move: the tensor gets memory of its own
            larger = new_storage(needed)
            memcpy(larger.ptr, t.memory.ptr, t.memory.nbytes)
            larger.version = t.memory.version
            t.memory = larger
    t.lay = layout
    t.memory.version += 1


def from_nested(data, dtype, default, dtypes):
    """A row-major tensor from a Python number or nested sequences; the dtype is inferred unless given."""
    cdef list shape = [], flat = []
    level = data
    while isinstance(level, (list, tuple)) or (hasattr(level, "__len__") and not isinstance(level, (Tensor, str, bytes, dict))):
        if len(shape) >= MAX_DIMS:
            raise ValueError("too many dimensions in nested sequences (self-referencing?)")
        shape.append(len(level))
        if not len(level):
            break
        level = level[0]
    if isinstance(level, Tensor) and (<Tensor>level).lay.ndim:
        return _hooks["stack_nested"](data, dtype)
    _flatten(data, shape, 0, flat)
    if dtype is None:
        dtype = _common_kind(flat, default, dtypes)
    cdef Tensor t = empty_tensor(contiguous_layout(tuple(shape), dtype))
    write_elements(t, flat)
    return t


cdef _flatten(data, list shape, int depth, list flat):
    if depth == len(shape):
        if isinstance(data, Tensor):
            data = data.item()
        elif not isinstance(data, (int, float, complex)):
            if hasattr(data, "item") and getattr(data, "ndim", None) == 0:
                data = data.item()
            elif hasattr(data, "__index__"):
                data = data.__index__()
            elif hasattr(data, "__float__"):
                data = float(data)
            elif isinstance(data, (list, tuple)):
                raise TypeError(f"expected a number at dim {depth}, got a {type(data).__name__}")
            else:
                raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
        flat.append(data)
        return
    if not isinstance(data, (list, tuple)) and not hasattr(data, "__len__"):
        raise TypeError(f"not a sequence at dim {depth}: expected length {shape[depth]}, got {type(data).__name__}")
    if len(data) != shape[depth]:
        raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(data)})")
    if depth + 1 == len(shape) and type(data) is list:
        for part in <list>data:
            if type(part) is float or type(part) is int or type(part) is bool:
                flat.append(part)
            else:
                _flatten(part, shape, depth + 1, flat)
        return
    for part in data:
        _flatten(part, shape, depth + 1, flat)


cdef object _common_kind(list flat, default, dtypes):
    cdef int kind = 0 if flat else 2
    for value in flat:
        if type(value) is float or isinstance(value, float):
            kind = max(kind, 2)
        elif isinstance(value, bool):
            continue
        elif isinstance(value, int):
            kind = max(kind, 1)
        else:
            kind = 3
    if kind == 2:
        return default
    return dtypes.bool_ if kind == 0 else dtypes.int64 if kind == 1 else default.to_complex()
