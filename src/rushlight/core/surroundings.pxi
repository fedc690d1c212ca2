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


cdef tuple _DEVICE_TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan",
    "mps", "meta", "hpu", "mtia", "privateuseone")


class DeviceNotAvailable(AssertionError, NotImplementedError):
    """A tensor was to be made on a device that is not there; a RuntimeError, and an AssertionError as PyTorch raises it."""


class Device:
    """Where a tensor lives: a type ("cpu", "cuda", ...) and an optional index. A device that is not there is a value all the
    same; making a tensor on it raises an error.

    As a context manager, it is where tensors are made whose functions are given no `device`.
    """

    __slots__ = ("type", "index", "_outer")
    _known = {}

    def __new__(cls, type, index=None):
        if isinstance(type, Device) and index is None:
            return type
        if index is not None and (isinstance(index, bool) or not hasattr(index, "__index__")):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {index.__class__.__name__}")
        if isinstance(type, int) and not isinstance(type, bool) and index is None:
            if type < 0:
                raise RuntimeError("Device index must not be negative")
            raise RuntimeError("Cannot access accelerator device when none is available.")
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' (position 1) must be str, not {type.__class__.__name__}")
        return cls._interned(*device_parts(type, index))

    @classmethod
    def _interned(cls, name, index):
        found = cls._known.get((name, index))
        if found is None:
            made = object.__new__(cls)
            object.__setattr__(made, "type", name)
            object.__setattr__(made, "index", index)
            object.__setattr__(made, "_outer", [])
            found = cls._known.setdefault((name, index), made)
        return found

    def __setattr__(self, name, value):
        raise AttributeError(f"attribute '{name}' of 'device' objects is not writable")

    def __enter__(self):
        self._outer.append(set_default_device(self))
        return self

    def __exit__(self, *exc):
        set_default_device(self._outer.pop())

    def __repr__(self):
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self):
        return Device, (str(self),)


def device_parts(str text not None, index):
    """The type and index that "cuda:1" says, or "cuda" and an index."""
    name, colon, digits = text.partition(":")
    if not text:
        raise RuntimeError("Device string must not be empty")
    if colon and not (digits.isdigit() and digits.isascii() and (digits == "0" or digits[0] != "0") and len(digits) < 4):
        raise RuntimeError(f"Invalid device string: '{text}'")
    if name not in _DEVICE_TYPES:
        raise RuntimeError(f"Expected one of {', '.join(_DEVICE_TYPES)} device type at start of device string: {name}")
    if index is None:
        return name, int(digits) if colon else None
    if colon:
        raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {text}")
    index = index.__index__()
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    return name, index


def require_device(device=None):
    """Raise unless tensors can be made on a device (None: the default one)."""
    if device is None:
        if _default_absent == 0:
            return
        device = default_device()
    elif type(device) is not Device:
        device = Device(device)
    if device.type != "cpu":
        raise DeviceNotAvailable(
            f"device '{device}' is not available: this build computes on the device 'cpu' alone; pass device='cpu', or choose with "
            f"\"cuda\" if {_module_name}.cuda.is_available() else \"cpu\"")


cdef extern from *:
    """
    static __thread int rushlight_default_absent = 0;
    """
    int _default_absent "rushlight_default_absent"  # which device of `_defaults` this thread's tensors are made on; 0: the CPU

cdef list _defaults = []


def default_is_absent():
    """Whether this thread makes tensors on a device that is not there."""
    return _default_absent != 0


def default_device():
    """Where this thread makes tensors if no device is given."""
    return _defaults[_default_absent]


def set_default_device(device=None):
    """Let this thread make tensors on a device (None: the CPU); returns the previous one."""
    global _default_absent
    was = default_device()
    device = _cpu if device is None else Device(device)
    if device not in _defaults:
        _defaults.append(device)
    _default_absent = _defaults.index(device) if device.type != "cpu" else 0
    return was


cdef object _cpu = Device("cpu")
_defaults.append(_cpu)
cdef str _module_name = "rushlight"
cdef dict _hooks = {}  # Python functions that the rooms above lend to tensors: see bind()


def set_module_name(str name not None):
    """What sizes print as their module."""
    global _module_name
    _module_name = name


def bind(name, function):
    """Lend the core a function it calls by name (operators, printing, indexing, ...)."""
    global _add, _sub, _mul, _div, _matmul, _neg
    if function is None:
        raise TypeError(f"bind: expected a function for {name}, got None")
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
