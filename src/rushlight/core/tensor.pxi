# Tensor: storage, offset and layout, with autograd state.

cdef Storage _unset_memory = None
cdef Layout _unset_layout = None


def set_unset_layout(Layout layout not None):
    """The layout of tensors that nothing has been put into: one without elements."""
    global _unset_memory, _unset_layout
    if layout.numel:
        raise ValueError(f"unset tensors have no elements, {layout} has")
    _unset_memory, _unset_layout = new_storage(0), layout


@cython.freelist(256)
@cython.trashcan(True)  # long chains (gradients of gradients of ...) must not end in deep recursion
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
    cdef list after_hooks         # run when a gradient has been added into `.grad`
    cdef object gradient_dtype    # what `.grad` is cast to; None: the tensor's own
    cdef Tensor tangent           # the direction in which forward mode moves this tensor, at its level
    cdef int64_t tangent_level    # the innermost level that moves it
    cdef dict outer_tangents      # level -> tangent, for levels around that one; None: there are none
    cdef dict extra               # attributes set by users
    cdef object __weakref__

    def __cinit__(self):
        self.memory, self.lay = _unset_memory, _unset_layout  # what `Tensor.__new__` alone yields is empty, not a trap

    def __init__(self, *args, **kwargs):
        if self.memory is _unset_memory:  # else a subclass whose __new__ made it has set it
            _become(self, _hooks["legacy_constructor"](*args, **kwargs))

    @staticmethod
    def _make_subclass(cls, Tensor data not None, bint require_grad=False):
        """A tensor of class `cls` over the memory of `data`, as a leaf."""
        cdef Tensor t = new_instance(cls)
        _become(t, data)
        t.inference = data.inference
        if require_grad:
            t.requires_grad_()
        return t

    @staticmethod
    def _make_wrapper_subclass(cls, *args, **kwargs):
        """NotImplementedError: there are no tensors without memory."""
        raise NotImplementedError(
            f"_make_wrapper_subclass: {getattr(cls, '__name__', cls)} would have no memory, and every call with it would have to go "
            "to __torch_dispatch__, which is not supported; hold real data (Tensor._make_subclass) and override "
            "__torch_function__, or define a class that is no Tensor and has a __torch_function__")

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
        return self.lay.shape[self._position(dim)]

    def stride(self, dim=None):
        """Strides in elements, or that of one dim."""
        if dim is None:
            return self.lay.strides
        return self.lay.strides[self._position(dim)]

    cdef int _position(self, dim) except -1:
        if not self.lay.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return _wrap(dim, self.lay.ndim)

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
        return _hooks["layouts"][self.lay.sparse]

    @property
    def is_sparse(self):
        return self.lay.sparse == SPARSE_COO

    @property
    def is_sparse_csr(self):
        return self.lay.sparse == SPARSE_CSR

    @property
    def itemsize(self):
        return self.lay.itemsize

    @property
    def is_quantized(self):
        return self.lay.sparse == QUANTIZED

    @property
    def nbytes(self):
        if without_memory(self.lay):
            raise RuntimeError("nbytes is not defined for sparse tensors: add those of the indices and values, or multiply "
                               "numel() by element_size() for the size of the equivalent dense tensor")
        return self.lay.nbytes

    def element_size(self):
        """Bytes of one element."""
        return self.lay.itemsize

    def storage_offset(self):
        """Where element 0 lies in the storage, in elements."""
        return self.start

    def data_ptr(self):
        """The address of element 0 (0 for an empty tensor)."""
        if without_memory(self.lay):
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        if has_samples(self.lay):
            refuse_batch(self, "data_ptr()")
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

    def is_conj(self):
        """Whether the elements are the conjugates of what lies in memory."""
        return self.lay.bits & CONJ != 0

    def is_neg(self):
        """Whether the elements are the negatives of what lies in memory."""
        return self.lay.bits & NEG != 0

    def is_signed(self):
        """Whether the dtype has negative numbers."""
        return self.lay.dtype.is_signed

    def get_device(self):
        """-1: the tensor is on the CPU."""
        return -1

    is_cuda = is_meta = is_mkldnn = is_mps = is_xpu = property(lambda self: False)
    is_cpu = property(lambda self: True)

    @property
    def _layout(self):
        return self.lay

    @property
    def _storage(self):
        if without_memory(self.lay):
            raise NotImplementedError(f"Cannot access storage of {'' if self.lay.sparse == SPARSE_COO else 'SparseCsr'}"
                                      f"{'SparseTensorImpl' if self.lay.sparse == SPARSE_COO else 'TensorImpl'}")
        if has_samples(self.lay):
            refuse_batch(self, "storage()")
        return self.memory

    @property
    def _version(self):
        return self.memory.version

    @property
    def _base(self):
        return self.base

    def _is_view(self):
        """Whether the tensor looks at the memory of another one."""
        return self.base is not None

    # -- autograd -------------------------------------------------------------------------------
    @property
    def requires_grad(self):
        return wants_grad(self)

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
        return not wants_grad(self) or self.node is None

    @property
    def grad_fn(self):
        return current_node(self)

    @property
    def output_nr(self):
        return self.slot

    @property
    def grad(self):
        if self.gradient is None and self.node is not None and self.needs_grad and not self.retains:
            _hooks["warn_of_grad"]()
        return self.gradient

    @grad.setter
    def grad(self, value):
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
            if (<Tensor>value).lay.shape != self.lay.shape:
                raise RuntimeError(f"assigned grad has data of a different size: {list((<Tensor>value).lay.shape)} "
                                   f"for a tensor of shape {list(self.lay.shape)}")
            if (<Tensor>value).lay.dtype is not (self.gradient_dtype or self.lay.dtype):
                raise RuntimeError(f"assigned grad has data of a different type: {(<Tensor>value).lay.dtype.name} "
                                   f"for a tensor of {self.lay.dtype.name}")
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
        self.gradient = value

    @grad.deleter
    def grad(self):
        self.gradient = None

    @property
    def grad_dtype(self):
        if self.node is not None:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        return self.gradient_dtype or self.lay.dtype

    @grad_dtype.setter
    def grad_dtype(self, dtype):
        if self.node is not None:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if type(dtype) is not type(self.lay.dtype):
            raise TypeError(f"grad_dtype must be a dtype, not {type(dtype).__name__}")
        if self.gradient is not None and self.gradient.lay.dtype is not dtype:
            raise RuntimeError(f"grad_dtype: the tensor already has a grad of type {self.gradient.lay.dtype.name}")
        self.gradient_dtype = None if dtype is self.lay.dtype else dtype

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
        if (<Tensor>value).lay.sparse != self.lay.sparse:
            raise RuntimeError(f"incompatible tensor type: the data of a tensor with layout {self.layout} cannot be set to "
                               f"a tensor with layout {value.layout}")
        if self.needs_grad and not (<Tensor>value).lay.floating:
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        cdef Storage left = self.memory  # its end may run Python code, which must not see half of this
        self.memory = same_memory((<Tensor>value).memory)
        self.start = (<Tensor>value).start
        self.lay = (<Tensor>value).lay

    def register_hook(self, hook):
        """Call `hook(grad)` whenever the gradient of this tensor is computed; a returned tensor replaces it."""
        if not wants_grad(self):
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.hooks is None:
            self.hooks = []
            node = current_node(self)
            if node is not None:
                (<Node>node).watch(self.slot, self.hooks)
        return HookHandle(self.hooks, hook)

    def register_post_accumulate_grad_hook(self, hook):
        """Call `hook(tensor)` after a gradient has been added into the `.grad` of this leaf."""
        if not wants_grad(self):
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if current_node(self) is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if self.after_hooks is None:
            self.after_hooks = []
        return HookHandle(self.after_hooks, hook)

    def retain_grad(self):
        """Keep the gradient of this non-leaf tensor in `.grad`."""
        if not wants_grad(self):
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
        if has_samples(layout):
            refuse_batch(self, "item")
        if layout.numel != 1:
            raise RuntimeError(f"a Tensor with {layout.numel} elements cannot be converted to Scalar")
        if layout.sparse:
            return sparse_method("item", (self,))
        return read_element(self.memory.ptr + self.start * layout.itemsize, layout.code, layout.bits)

    def tolist(self):
        """The values as nested lists of Python numbers (a number for 0-dim tensors)."""
        if self.lay.sparse == QUANTIZED:
            return sparse_method("tolist", (self,))
        if self.lay.sparse:
            raise RuntimeError("tolist() needs a dense tensor: use Tensor.to_dense() first")
        if has_samples(self.lay):
            refuse_batch(self, "tolist()")
        return _to_list(self, 0, self.start)

    def __bool__(self):
        if overridden(self): return override_method("__bool__", (self,))
        if has_samples(self.lay):
            refuse_batch(self, "bool")
        if self.lay.numel != 1:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous" if self.lay.numel == 0 else
                               "Boolean value of Tensor with more than one value is ambiguous")
        return bool(self.item())

    def __int__(self):
        if overridden(self): return override_method("__int__", (self,))
        return int(real_element(self, "int64_t"))

    def __float__(self):
        if overridden(self): return override_method("__float__", (self,))
        return float(real_element(self, "double"))

    def __complex__(self):
        if overridden(self): return override_method("__complex__", (self,))
        return complex(only_element(self))

    def __index__(self):
        if overridden(self): return override_method("__index__", (self,))
        if self.lay.floating or self.lay.numel != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self):
        if overridden(self): return override_method("__len__", (self,))
        if self.lay.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.lay.shape[0]

    def __iter__(self):
        if self.lay.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        if self.lay.sparse:
            return iter(sparse_method("unbind", (self,)))
        return iter(Tensor.unbind(self, 0) if overridden(self) else _hooks["unbind"](self, 0))

    def __hash__(self):
        return <Py_ssize_t>(<size_t><void *>self >> 4)

    def __repr__(self):
        if overridden(self): return override_method("__repr__", (self,))
        return sparse_method("repr", (self,)) if self.lay.sparse else _hooks["repr"](self)

    def __format__(self, spec):
        if self.lay.ndim == 0 and spec:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __getitem__(self, index):
        if overridden(self): return override_method("__getitem__", (self, index))
        return sparse_method("getitem", (self, index)) if self.lay.sparse else get_item(self, index)

    def __setitem__(self, index, value):
        if overridden(self):
            override_method("__setitem__", (self, index, value))
            return
        if self.lay.sparse == QUANTIZED:
            sparse_method("setitem", (self, index, value))
            return
        if self.lay.sparse:
            raise TypeError("Cannot assign to a sparse tensor")
        if not write_number(self, index, value):
            _hooks["setitem"](self, index, value)

    def __contains__(self, element):
        if overridden(self): return override_method("__contains__", (self, element))
        return _hooks["contains"](self, element)

    def __deepcopy__(self, memo):
        if overridden(self): return override_method("__deepcopy__", (self, memo))
        return sparse_method("deepcopy", (self, memo)) if self.lay.sparse else _hooks["deepcopy"](self, memo)

    def __reduce_ex__(self, protocol):
        if overridden(self): return override_method("__reduce_ex__", (self, protocol))
        return sparse_method("reduce", (self, protocol)) if self.lay.sparse else _hooks["reduce"](self, protocol)

    def __dir__(self):
        return sorted(set(object.__dir__(self)) | set(self.extra or ()))

    @property
    def _attributes(self):
        """What users set on the tensor."""
        return dict(self.extra or ())

    def __getattr__(self, name):
        if self.extra is not None and name in self.extra:
            return self.extra[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

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
    def __add__(self, other): return call_two(_add, self, other)
    def __radd__(self, other): return call_two(_add, self, other)
    def __sub__(self, other): return call_two(_sub, self, other)
    def __rsub__(self, other): return call_two(_sub, other, self)
    def __mul__(self, other): return call_two(_mul, self, other)
    def __rmul__(self, other): return call_two(_mul, self, other)
    def __truediv__(self, other): return call_two(_div, self, other)
    def __rtruediv__(self, other): return call_two(_div, other, self)
    def __matmul__(self, other): return call_two(_matmul, self, other)
    def __rmatmul__(self, other): return call_two(_matmul, other, self)
    def __floordiv__(self, other): return call_two(_hooks["floor_divide"], self, other)
    def __rfloordiv__(self, other): return call_two(_hooks["floor_divide"], other, self)
    def __mod__(self, other): return call_two(_hooks["remainder"], self, other)
    def __rmod__(self, other): return call_two(_hooks["remainder"], other, self)
    def __pow__(self, other, modulo): return call_two(_hooks["pow"], self, other)
    def __rpow__(self, other, modulo): return call_two(_hooks["pow"], other, self)
    def __and__(self, other): return call_two(_hooks["bitwise_and"], self, other)
    def __rand__(self, other): return call_two(_hooks["bitwise_and"], self, other)
    def __or__(self, other): return call_two(_hooks["bitwise_or"], self, other)
    def __ror__(self, other): return call_two(_hooks["bitwise_or"], self, other)
    def __xor__(self, other): return call_two(_hooks["bitwise_xor"], self, other)
    def __rxor__(self, other): return call_two(_hooks["bitwise_xor"], self, other)
    def __lshift__(self, other): return call_two(_hooks["bitwise_left_shift"], self, other)
    def __rlshift__(self, other): return call_two(_hooks["bitwise_left_shift"], other, self)
    def __rshift__(self, other): return call_two(_hooks["bitwise_right_shift"], self, other)
    def __rrshift__(self, other): return call_two(_hooks["bitwise_right_shift"], other, self)
    def __iadd__(self, other): return call_two(_hooks["add_"], self, other)
    def __isub__(self, other): return call_two(_hooks["sub_"], self, other)
    def __imul__(self, other): return call_two(_hooks["mul_"], self, other)
    def __itruediv__(self, other): return call_two(_hooks["true_divide_"], self, other)
    def __ifloordiv__(self, other): return call_two(_hooks["floor_divide_"], self, other)
    def __imod__(self, other): return call_two(_hooks["remainder_"], self, other)
    def __ipow__(self, other): return call_two(_hooks["pow_"], self, other)
    def __iand__(self, other): return call_two(_hooks["bitwise_and_"], self, other)
    def __ior__(self, other): return call_two(_hooks["bitwise_or_"], self, other)
    def __ixor__(self, other): return call_two(_hooks["bitwise_xor_"], self, other)
    def __ilshift__(self, other): return call_two(_hooks["bitwise_left_shift_"], self, other)
    def __irshift__(self, other): return call_two(_hooks["bitwise_right_shift_"], self, other)
    def __lt__(self, other): return call_two(_hooks["lt"], self, other)
    def __le__(self, other): return call_two(_hooks["le"], self, other)
    def __gt__(self, other): return call_two(_hooks["gt"], self, other)
    def __ge__(self, other): return call_two(_hooks["ge"], self, other)
    def __eq__(self, other): return call_two(_hooks["eq"], self, other)
    def __ne__(self, other): return call_two(_hooks["ne"], self, other)
    def __neg__(self): return _neg(self)
    def __pos__(self): return _hooks["positive"](self)
    def __abs__(self): return _hooks["abs"](self)

    def __invert__(self):
        if self.lay.floating:
            raise TypeError(f"~ (operator.invert) is only implemented on integer and bool tensors, got {self.lay.dtype.name}")
        return _hooks["bitwise_not"](self)


cdef object call_two(Op op, left, right):
    """An operator's call; NotImplemented for operands that are neither tensors nor numbers."""
    cdef PyObject *args[2]
    if rare(_mode_count or type(left) is not Tensor or type(right) is not Tensor):
        found = unusual_operands(op, left, right)
        if found is not MISSING:
            return found
    args[0] = <PyObject *>left
    args[1] = <PyObject *>right
    return call_op(op, args, 2, None)


cdef object unusual_operands(Op op, left, right):
    """The result for operands that are neither tensors nor numbers, or that a mode or a type overrides; MISSING for others."""
    if mode_overrides() or value_overrides(<PyObject *>left) or value_overrides(<PyObject *>right):
        return _hooks["operate"](op, left, right)
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return MISSING
    other = right if isinstance(left, Tensor) else left
    if isinstance(other, (Tensor, int, float, complex)) or is_number(other):
        return MISSING
    if not hasattr(other, "__array_interface__"):
        return NotImplemented
    other = _hooks["from_array"](other)
    return op(left, other) if isinstance(left, Tensor) else op(other, right)


cdef bint is_number(value):
    """NumPy's scalars count as numbers; traced values as tensors."""
    return (_value_type is not None and isinstance(value, _value_type)) or (
        hasattr(value, "dtype") and hasattr(value, "item") and not hasattr(value, "__len__") and getattr(value, "ndim", 1) == 0)


cdef object _value_type = None


def register_value_type(cls):
    """Tell the core the class of traced values (of the room `ir`)."""
    global _value_type
    _value_type = cls
