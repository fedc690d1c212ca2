# Tensor: storage, offset and layout, with autograd state.

cdef extern from "scalars.h":
    double read_real(const char *p, int code) nogil
    int64_t read_integer(const char *p, int code) nogil
    void write_real(char *p, int code, double v) nogil
    void write_integer(char *p, int code, int64_t v) nogil

DEF COMPLEX64 = 10
DEF COMPLEX128 = 11


class Size(tuple):
    """The shape of a tensor: a tuple of ints with `numel()`."""

    __slots__ = ()

    def numel(self):
        """The product of the sizes."""
        total = 1
        for n in self:
            total *= n
        return total

    def __repr__(self):
        return f"{_module_name}.Size({list(self)})"

    def __getitem__(self, index):
        got = tuple.__getitem__(self, index)
        return Size(got) if isinstance(index, slice) else got

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other)))

    def __reduce__(self):
        return Size, (tuple(self),)


class Device:
    """Where a tensor lives: a type ("cpu") and an optional index."""

    __slots__ = ("type", "index")
    _known = {}

    def __new__(cls, type="cpu", index=None):
        if isinstance(type, Device):
            return type
        if not isinstance(type, str):
            raise TypeError(f"device: expected a string or device, got {type!r}")
        name, _, number = type.partition(":")
        if number:
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
        if name != "cpu":
            raise RuntimeError(f"device {type!r} is not available: this build has the device 'cpu'")
        if index not in (None, 0):
            raise RuntimeError(f"device {type!r}: CPU device index must be -1 or zero, got {index}")
        found = cls._known.get((name, index))
        if found is None:
            found = cls._known[name, index] = object.__new__(cls)
            object.__setattr__(found, "type", name)
            object.__setattr__(found, "index", index)
        return found

    def __setattr__(self, name, value):
        raise AttributeError(f"attribute '{name}' of 'device' objects is not writable")

    def __repr__(self):
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self):
        return Device, (str(self),)


cdef object _cpu = Device("cpu")
cdef str _module_name = "rushlight"
cdef dict _hooks = {}  # Python functions that the rooms above lend to tensors: see bind()


def set_module_name(str name):
    """What sizes print as their module."""
    global _module_name
    _module_name = name


def bind(name, function):
    """Lend the core a function it calls by name (operators, printing, indexing, ...)."""
    global _add, _sub, _mul, _div, _floordiv, _mod, _pow, _matmul, _neg, _getitem_view
    _hooks[name] = function
    if name == "add":
        _add = function
    elif name == "sub":
        _sub = function
    elif name == "mul":
        _mul = function
    elif name == "true_divide":
        _div = function
    elif name == "matmul":
        _matmul = function
    elif name == "neg":
        _neg = function
    elif name == "basic_index":
        _getitem_view = function


cdef Op _add = None, _sub = None, _mul = None, _div = None, _matmul = None, _neg = None, _getitem_view = None


cdef class Tensor:
    """An n-dimensional array of one element type."""

    cdef Storage memory
    cdef int64_t start            # of element 0, in elements
    cdef Layout lay
    cdef bint needs_grad          # requires_grad
    cdef bint retains
    cdef bint inference
    cdef int slot                 # which output of `node` this is
    cdef Node node                # what computed it; None for leaves
    cdef Tensor gradient
    cdef Tensor base              # the tensor whose memory this one views
    cdef int64_t view_version     # storage version at which `node` describes this view
    cdef list hooks
    cdef dict extra               # attributes set by users
    cdef object __weakref__

    def __init__(self, *args, **kwargs):
        if self.lay is None:  # set already by a subclass whose __new__ made it
            _become(self, _hooks["legacy_constructor"](*args, **kwargs))

    @staticmethod
    def _make_subclass(cls, Tensor data, bint require_grad=False):
        """A tensor of class `cls` over the memory of `data`, as a leaf."""
        cdef Tensor t = Tensor.__new__(cls)
        _become(t, data)
        t.inference = data.inference
        if require_grad:
            t.requires_grad_()
        return t

    # -- facts ----------------------------------------------------------------------------------
    @property
    def shape(self):
        if self.lay._size is None:
            self.lay._size = Size(self.lay.shape)
        return self.lay._size

    def size(self, dim=None):
        """The shape, or the size of one dim."""
        if dim is None:
            return self.shape
        return self.lay.shape[_wrap(dim, self.lay.ndim)]

    def stride(self, dim=None):
        """Strides in elements, or that of one dim."""
        if dim is None:
            return self.lay.strides
        return self.lay.strides[_wrap(dim, self.lay.ndim)]

    def dim(self):
        """The number of dimensions."""
        return self.lay.ndim

    ndimension = dim

    @property
    def ndim(self):
        return self.lay.ndim

    def numel(self):
        """The number of elements."""
        return self.lay.numel

    nelement = numel

    @property
    def dtype(self):
        return self.lay.dtype

    @property
    def device(self):
        return _cpu

    @property
    def layout(self):
        return _hooks["strided"]

    @property
    def itemsize(self):
        return self.lay.itemsize

    @property
    def nbytes(self):
        return self.lay.nbytes

    def element_size(self):
        """Bytes of one element."""
        return self.lay.itemsize

    def storage_offset(self):
        """Where element 0 lies in the storage, in elements."""
        return self.start

    def data_ptr(self):
        """The address of element 0 (0 for an empty tensor)."""
        return <size_t>(self.memory.ptr + self.start * self.lay.itemsize) if self.lay.numel else 0

    def is_contiguous(self, memory_format=None):
        """Whether the memory is row-major (or has the given memory format)."""
        if memory_format is None or str(memory_format).endswith("contiguous_format"):
            return self.lay.contiguous
        return _hooks["is_contiguous_as"](self, memory_format)

    def is_floating_point(self):
        """Whether the dtype is a real floating point type."""
        return self.lay.floating and not self.lay.is_complex

    def is_complex(self):
        """Whether the dtype is complex."""
        return self.lay.is_complex

    def is_signed(self):
        """Whether the dtype has negative numbers."""
        return self.lay.dtype.is_signed

    def get_device(self):
        """-1: the tensor is on the CPU."""
        return -1

    is_cuda = is_sparse = is_quantized = is_meta = is_mkldnn = is_mps = is_xpu = property(lambda self: False)
    is_cpu = property(lambda self: True)

    @property
    def _layout(self):
        return self.lay

    @property
    def _storage(self):
        return self.memory

    @property
    def _version(self):
        return self.memory.version

    @property
    def _base(self):
        return self.base

    # -- autograd -------------------------------------------------------------------------------
    @property
    def requires_grad(self):
        return self.needs_grad

    @requires_grad.setter
    def requires_grad(self, value):
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        """Set whether autograd records operations on this leaf."""
        if requires_grad and not self.lay.floating:
            raise RuntimeError(
                f"only Tensors of floating point and complex dtype can require gradients, this one is {self.lay.dtype.name}")
        if not requires_grad and self.node is not None:
            raise RuntimeError("you can only change requires_grad flags of leaf variables. Use detach() to get a tensor "
                               "that does not require grad")
        if requires_grad and self.inference and not _inference_mode:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed")
        self.needs_grad = bool(requires_grad)
        return self

    @property
    def is_leaf(self):
        return not self.needs_grad or self.node is None

    @property
    def grad_fn(self):
        return current_node(self)

    @property
    def output_nr(self):
        return self.slot

    @property
    def grad(self):
        return self.gradient

    @grad.setter
    def grad(self, value):
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
            if (<Tensor>value).lay.shape != self.lay.shape:
                raise RuntimeError(f"assigned grad has data of a different size: {list((<Tensor>value).lay.shape)} "
                                   f"for a tensor of shape {list(self.lay.shape)}")
            if (<Tensor>value).lay.dtype is not self.lay.dtype:
                raise RuntimeError(f"assigned grad has data of a different type: {(<Tensor>value).lay.dtype.name} "
                                   f"for a tensor of {self.lay.dtype.name}")
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
        self.gradient = value

    @grad.deleter
    def grad(self):
        self.gradient = None

    @property
    def retains_grad(self):
        return self.retains

    def detach(self):
        """A tensor over the same memory that is not part of any graph; shares the version counter."""
        return alias_of(self)

    def detach_(self):
        """Take this tensor out of its graph, making it a leaf."""
        if self.base is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead")
        self.node = None
        self.slot = 0
        self.needs_grad = False
        return self

    @property
    def data(self):
        cdef Tensor t = alias_of(self)
        t.memory = same_memory(self.memory)
        return t

    @data.setter
    def data(self, value):
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self.needs_grad and not (<Tensor>value).lay.floating:
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        self.memory = same_memory((<Tensor>value).memory)
        self.start = (<Tensor>value).start
        self.lay = (<Tensor>value).lay

    def register_hook(self, hook):
        """Call `hook(grad)` whenever the gradient of this tensor is computed; a returned tensor replaces it."""
        if not self.needs_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.hooks is None:
            self.hooks = []
            node = current_node(self)
            if node is not None:
                (<Node>node).watch(self.slot, self.hooks)
        handle = HookHandle(self.hooks, hook)
        self.hooks.append(handle)
        return handle

    def retain_grad(self):
        """Keep the gradient of this non-leaf tensor in `.grad`."""
        if not self.needs_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        node = current_node(self)
        if node is None or self.retains:
            return
        self.retains = True
        (<Node>node).retain(self.slot, self)

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Compute gradients of the leaves of this tensor's graph, adding them into `.grad`."""
        _hooks["backward"](self, gradient, retain_graph, create_graph, inputs)

    def is_inference(self):
        """Whether the tensor was made in inference mode."""
        return self.inference

    # -- values ---------------------------------------------------------------------------------
    def item(self):
        """The value of a tensor with one element, as a Python number."""
        cdef Layout layout = self.lay
        if layout.numel != 1:
            raise RuntimeError(f"a Tensor with {layout.numel} elements cannot be converted to Scalar")
        return read_element(self.memory.ptr + self.start * layout.itemsize, layout.code)

    def tolist(self):
        """The values as nested lists of Python numbers (a number for 0-dim tensors)."""
        return _to_list(self, 0, self.start)

    def __bool__(self):
        if self.lay.numel != 1:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous" if self.lay.numel == 0 else
                               "Boolean value of Tensor with more than one value is ambiguous")
        return bool(self.item())

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __complex__(self):
        return complex(self.item())

    def __index__(self):
        if self.lay.floating or self.lay.numel != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self):
        if self.lay.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.lay.shape[0]

    def __iter__(self):
        if self.lay.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(_hooks["unbind"](self, 0))

    def __hash__(self):
        return <Py_ssize_t>(<size_t><void *>self >> 4)

    def __repr__(self):
        return _hooks["repr"](self)

    def __format__(self, spec):
        if self.lay.ndim == 0 and spec:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __getitem__(self, index):
        return get_item(self, index)

    def __setitem__(self, index, value):
        if not write_number(self, index, value):
            _hooks["setitem"](self, index, value)

    def __contains__(self, element):
        return _hooks["contains"](self, element)

    def __deepcopy__(self, memo):
        return _hooks["deepcopy"](self, memo)

    def __reduce_ex__(self, protocol):
        return _hooks["reduce"](self, protocol)

    def __dir__(self):
        return sorted(set(object.__dir__(self)) | set(self.extra or ()))

    @property
    def _attributes(self):
        """What users set on the tensor."""
        return dict(self.extra or ())

    def __getattr__(self, name):
        if self.extra is not None and name in self.extra:
            return self.extra[name]
        raise AttributeError(f"'Tensor' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        try:
            PyObject_GenericSetAttr(self, name, value)
        except AttributeError:
            if hasattr(type(self), name):
                raise
            if self.extra is None:
                self.extra = {}
            self.extra[name] = value

    def __delattr__(self, name):
        if self.extra is not None and name in self.extra:
            del self.extra[name]
        else:
            object.__delattr__(self, name)

    # -- operators ------------------------------------------------------------------------------
    def __add__(self, other):
        return call_two(_add, self, other)

    def __radd__(self, other):
        return call_two(_add, self, other)

    def __sub__(self, other):
        return call_two(_sub, self, other)

    def __rsub__(self, other):
        return call_two(_sub, other, self)

    def __mul__(self, other):
        return call_two(_mul, self, other)

    def __rmul__(self, other):
        return call_two(_mul, self, other)

    def __truediv__(self, other):
        return call_two(_div, self, other)

    def __rtruediv__(self, other):
        return call_two(_div, other, self)

    def __matmul__(self, other):
        return call_two(_matmul, self, other)

    def __rmatmul__(self, other):
        return call_two(_matmul, other, self)

    def __floordiv__(self, other):
        return call_two(_hooks["floor_divide"], self, other)

    def __rfloordiv__(self, other):
        return call_two(_hooks["floor_divide"], other, self)

    def __mod__(self, other):
        return call_two(_hooks["remainder"], self, other)

    def __rmod__(self, other):
        return call_two(_hooks["remainder"], other, self)

    def __pow__(self, other, modulo):
        return call_two(_hooks["pow"], self, other)

    def __rpow__(self, other, modulo):
        return call_two(_hooks["pow"], other, self)

    def __and__(self, other):
        return call_two(_hooks["bitwise_and"], self, other)

    def __rand__(self, other):
        return call_two(_hooks["bitwise_and"], self, other)

    def __or__(self, other):
        return call_two(_hooks["bitwise_or"], self, other)

    def __ror__(self, other):
        return call_two(_hooks["bitwise_or"], self, other)

    def __xor__(self, other):
        return call_two(_hooks["bitwise_xor"], self, other)

    def __rxor__(self, other):
        return call_two(_hooks["bitwise_xor"], self, other)

    def __lshift__(self, other):
        return call_two(_hooks["bitwise_left_shift"], self, other)

    def __rlshift__(self, other):
        return call_two(_hooks["bitwise_left_shift"], other, self)

    def __rshift__(self, other):
        return call_two(_hooks["bitwise_right_shift"], self, other)

    def __rrshift__(self, other):
        return call_two(_hooks["bitwise_right_shift"], other, self)

    def __iadd__(self, other):
        return call_two(_hooks["add_"], self, other)

    def __isub__(self, other):
        return call_two(_hooks["sub_"], self, other)

    def __imul__(self, other):
        return call_two(_hooks["mul_"], self, other)

    def __itruediv__(self, other):
        return call_two(_hooks["true_divide_"], self, other)

    def __ifloordiv__(self, other):
        return call_two(_hooks["floor_divide_"], self, other)

    def __imod__(self, other):
        return call_two(_hooks["remainder_"], self, other)

    def __ipow__(self, other):
        return call_two(_hooks["pow_"], self, other)

    def __iand__(self, other):
        return call_two(_hooks["bitwise_and_"], self, other)

    def __ior__(self, other):
        return call_two(_hooks["bitwise_or_"], self, other)

    def __ixor__(self, other):
        return call_two(_hooks["bitwise_xor_"], self, other)

    def __ilshift__(self, other):
        return call_two(_hooks["bitwise_left_shift_"], self, other)

    def __irshift__(self, other):
        return call_two(_hooks["bitwise_right_shift_"], self, other)

    def __lt__(self, other):
        return call_two(_hooks["lt"], self, other)

    def __le__(self, other):
        return call_two(_hooks["le"], self, other)

    def __gt__(self, other):
        return call_two(_hooks["gt"], self, other)

    def __ge__(self, other):
        return call_two(_hooks["ge"], self, other)

    def __eq__(self, other):
        return call_two(_hooks["eq"], self, other)

    def __ne__(self, other):
        return call_two(_hooks["ne"], self, other)

    def __neg__(self):
        return _neg(self)

    def __pos__(self):
        return _hooks["positive"](self)

    def __invert__(self):
        return _hooks["bitwise_not"](self)

    def __abs__(self):
        return _hooks["abs"](self)


cdef tuple _number_types = (int, float, complex)


cdef object call_two(Op op, left, right):
    """An operator's call; NotImplemented for operands that are neither tensors nor numbers."""
    cdef PyObject *args[2]
    if not (isinstance(left, Tensor) and isinstance(right, Tensor)):
        other = right if isinstance(left, Tensor) else left
        if not isinstance(other, (Tensor, int, float, complex)) and not is_number(other):
            if not hasattr(other, "__array_interface__"):
                return NotImplemented
            other = _hooks["from_array"](other)
            left, right = (left, other) if isinstance(left, Tensor) else (other, right)
    args[0] = <PyObject *>left
    args[1] = <PyObject *>right
    return call_op(op, args, 2, None)


cdef bint is_number(value):
    """NumPy's scalars count as numbers; traced values as tensors."""
    return (_value_type is not None and isinstance(value, _value_type)) or (
        hasattr(value, "dtype") and hasattr(value, "item") and not hasattr(value, "__len__") and getattr(value, "ndim", 1) == 0)


cdef object _value_type = None


def register_value_type(cls):
    """Tell the core the class of traced values (of the room `ir`)."""
    global _value_type
    _value_type = cls


cdef Tensor new_tensor(Storage memory, int64_t start, Layout layout):
    cdef Tensor t = Tensor.__new__(Tensor)
    t.memory = memory
    t.start = start
    t.lay = layout
    if _inference_mode:
        t.inference = True
    return t


cdef Tensor alias_of(Tensor source):
    return new_tensor(source.memory, source.start, source.lay)


cdef _become(Tensor target, Tensor source):
    """Give an unset tensor (of a subclass, say) another one's memory."""
    target.memory, target.start, target.lay = source.memory, source.start, source.lay


cdef int _wrap(dim, int ndim) except -1:
    cdef int64_t d = dim
    cdef int n = ndim if ndim else 1
    if d < -n or d >= n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
    return <int>(d + n if d < 0 else d)


cdef object read_element(const char *p, int code):
    if code == 0:
        return read_integer(p, code) != 0
    if code <= 5:
        return read_integer(p, code)
    if code == COMPLEX64:
        return PyComplex_FromDoubles(read_real(p, code), read_real(p + 4, code))
    if code == COMPLEX128:
        return PyComplex_FromDoubles(read_real(p, code), read_real(p + 8, code))
    return read_real(p, code)


cdef object _to_list(Tensor t, int dim, int64_t offset):
    cdef Layout layout = t.lay
    if dim == layout.ndim:
        return read_element(t.memory.ptr + offset * layout.itemsize, layout.code)
    cdef int64_t stride = layout.strides[dim]
    return [_to_list(t, dim + 1, offset + i * stride) for i in range(layout.shape[dim])]


cdef object _complex = complex


def write_elements(Tensor t, values):
    """Write a flat sequence of Python numbers into a contiguous tensor."""
    cdef char *p = t.memory.ptr + t.start * t.lay.itemsize
    cdef int code = t.lay.code, size = t.lay.itemsize
    cdef int64_t integer, most = 0
    if t.memory.readonly:
        raise RuntimeError("this tensor's memory is read-only")
    if code < 5:
        most = ((<int64_t>1) << (8 * size - (code != 1))) - 1
    for value in values:
        if code <= 5:
            if code == 0:
                integer = bool(value)
            else:
                if type(value) is float and value - value != 0:
                    raise RuntimeError(f"value cannot be converted to type {t.lay.dtype.name} without overflow")
                integer = int(value)
                # negative numbers may wrap around in uint8
                if code < 5 and (integer > most or integer < -most - (code != 1)):
                    raise RuntimeError(f"value cannot be converted to type {t.lay.dtype.name} without overflow")
            write_integer(p, code, integer)
        elif code < COMPLEX64:
            write_real(p, code, float(value))
        else:
            number = _complex(value)  # C's arithmetic would lose the sign of a zero part
            write_real(p, code, number.real)
            write_real(p + size // 2, code, number.imag)
        p += size


def make_tensor(storage, offset, shape, strides, dtype, cls=None):
    """A tensor over `storage` at `offset` (elements), checked to lie within it."""
    cdef Layout layout = layout_of(shape, strides, dtype)
    cdef Storage memory = storage
    cdef int64_t start = offset
    if start < 0:
        raise RuntimeError(f"storage offset must not be negative, got {offset}")
    if layout.numel and (start + layout.low < 0 or (start + layout.high + 1) > memory.nbytes // layout.itemsize):
        raise RuntimeError(f"setStorage: sizes {list(layout.shape)}, strides {list(layout.strides)}, storage offset {offset} and "
                           f"itemsize {layout.itemsize} require a storage of {(start + layout.high + 1) * layout.itemsize} bytes, "
                           f"this one has {memory.nbytes}")
    cdef Tensor t
    if cls is None or cls is Tensor:
        return new_tensor(memory, start, layout)
    t = Tensor.__new__(cls)
    t.memory, t.start, t.lay = memory, start, layout
    return t


def empty_tensor(Layout layout):
    """An uninitialised tensor of a layout."""
    return new_tensor(new_storage((layout.high + 1) * layout.itemsize if layout.numel else 0), 0, layout)


def as_subclass(Tensor source, cls):
    """A tensor of type `cls` over the same memory, a view in the same graph."""
    cdef Tensor t = Tensor.__new__(cls), v = view_of(source, source.lay, source.start)
    _become(t, v)
    t.base, t.node, t.needs_grad, t.inference, t.view_version = v.base, v.node, v.needs_grad, v.inference, v.view_version
    return t


def set_tensor(Tensor target, Tensor source):
    """Let `target` share the memory of `source` from now on (`Tensor.set_`)."""
    _become(target, source)
    target.memory.version += 1


def swap_memory(Tensor target, Tensor source):
    """Replace the memory behind `target` by that of `source`, dtype and shape included (`Module.to`)."""
    _become(target, source)


def bump_version(Tensor t):
    """Count an in-place write that a host function made."""
    t.memory.version += 1


def is_alias(Tensor a, Tensor b):
    """Whether two tensors may touch the same bytes."""
    return may_overlap(a, b)


cdef bint may_overlap(Tensor a, Tensor b):
    if root_of(a.memory) is not root_of(b.memory) or not a.lay.numel or not b.lay.numel:
        return False
    cdef int64_t a0 = <int64_t>a.memory.ptr + (a.start + a.lay.low) * a.lay.itemsize
    cdef int64_t a1 = <int64_t>a.memory.ptr + (a.start + a.lay.high + 1) * a.lay.itemsize
    cdef int64_t b0 = <int64_t>b.memory.ptr + (b.start + b.lay.low) * b.lay.itemsize
    cdef int64_t b1 = <int64_t>b.memory.ptr + (b.start + b.lay.high + 1) * b.lay.itemsize
    return a0 < b1 and b0 < a1


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
    if used > layout.ndim:
        raise IndexError(f"too many indices for tensor of dimension {layout.ndim}")
    cdef list sizes = [], strides = []
    cdef int64_t offset = t.start, n, i, begin, end, step, stride
    cdef int dim = 0
    cdef bint expanded = False
    for item in items:
        if type(item) is int:
            n, i = layout.shape[dim], item
            if i < -n or i >= n:
                raise IndexError(f"index {item} is out of bounds for dimension {dim} with size {n}")
            offset += (i + n if i < 0 else i) * <int64_t>layout.strides[dim]
            dim += 1
        elif type(item) is slice:
            n, stride = layout.shape[dim], layout.strides[dim]
            if item.step is not None and item.step <= 0:
                raise ValueError("step must be greater than zero")
            begin, end, step = item.indices(n)
            sizes.append((end - begin + step - 1) // step if end > begin else 0)
            strides.append(stride * step)
            if end > begin:
                offset += begin * stride
            dim += 1
        elif item is None:
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
    return view_of(t, strided_layout(tuple(sizes), tuple(strides), layout.dtype), offset)


cdef bint write_number(Tensor t, index, value) except -1:
    """Do `t[i, j] = number` right here if autograd does not care; False leaves it to `ops`."""
    cdef Layout layout = t.lay
    cdef int64_t offset = t.start, n, i
    cdef int dim = 0, code = layout.code
    if t.needs_grad or (t.base is not None and t.base.needs_grad) or t.inference or t.memory.readonly or layout.overlapping:
        return False
    if code > 9 or not (type(value) is float and code >= 6 or type(value) is bool or (
            type(value) is int and code >= 5 and -0x8000000000000000 <= value <= 0x7fffffffffffffff)):
        return False
    cdef tuple items = index if type(index) is tuple else (index,)
    if len(items) != layout.ndim:
        return False
    for item in items:
        if type(item) is not int:
            return False
        n, i = layout.shape[dim], item
        if i < -n or i >= n:
            return False
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
    if t.needs_grad and _grad_mode and layout.floating:
        v.needs_grad = True
        v.node = view_node(t, layout, start)
        v.view_version = t.memory.version
    return v


def become_view(Tensor t, Tensor view):
    """Give `t` the shape, strides and gradient of a view of itself (`t_`, `unsqueeze_`)."""
    if _grad_mode:
        check_in_place(t)
    t.start, t.lay = view.start, view.lay
    if view.needs_grad:
        t.node, t.slot, t.needs_grad, t.view_version = view.node, view.slot, True, view.view_version
    return t


def strided_view(Tensor t, shape, strides, offset):
    """`as_strided`: a view with any shape and strides that stay within the storage."""
    cdef Layout layout = layout_of(shape, strides, t.lay.dtype)
    cdef int64_t start = offset
    if min(layout.strides, default=0) < 0:
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(layout.strides)}")
    make_tensor(t.memory, start, layout.shape, layout.strides, layout.dtype)  # bounds check
    return view_of(t, layout, start)


# -- construction -----------------------------------------------------------------------------------

def clear_memory(Tensor t):
    """Zero a dense tensor's bytes on the caller's thread."""
    if t.lay.numel:
        memset(t.memory.ptr + (t.start + t.lay.low) * t.lay.itemsize, 0, (t.lay.high - t.lay.low + 1) * t.lay.itemsize)


def resize(Tensor t, shape):
    """Give `t` another shape, row-major, growing its storage if that is too small (`resize_`)."""
    cdef Layout layout = contiguous_layout(tuple(shape), t.lay.dtype)
    cdef Storage larger
    cdef int64_t needed = (t.start + layout.numel) * layout.itemsize
    if needed > t.memory.nbytes:
        if t.memory.owner is not None:
            raise RuntimeError("Trying to resize storage that is not resizable: the memory belongs to another object")
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
