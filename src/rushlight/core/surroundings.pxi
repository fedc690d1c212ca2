# Around the tensor: sizes, the default device, and the functions that the rooms above lend to the core.

from .device import Device, DeviceNotAvailable


class Size(tuple):
    """The shape of a tensor: a tuple of ints with `numel()`."""

    __slots__ = ()
    __module__ = "rushlight"

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
