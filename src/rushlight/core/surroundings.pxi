# Around the tensor: sizes, devices, and the functions that the rooms above lend to the core.


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
    global _add, _sub, _mul, _div, _matmul, _neg
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


cdef Op _add = None, _sub = None, _mul = None, _div = None, _matmul = None, _neg = None
