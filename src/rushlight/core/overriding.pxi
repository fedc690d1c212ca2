# Overrides: calls that go to `__torch_function__`, of an argument's type or of a mode, instead of running.
#
# Ops compare their arguments' types in any case, so calls with plain tensors pay nothing. A class that overrides makes itself
# known when it is defined; only then do the methods and properties of Tensor begin to look for it (see `ops/overriding.py`).

cdef extern from *:
    """
    static __thread int rushlight_overrides_off = 0;
    static PyObject *rushlight_type_attribute(PyObject *cls, PyObject *name) {
        return _PyType_Lookup((PyTypeObject *)cls, name);
    }
    #define rushlight_type_of(value) ((PyObject *)Py_TYPE(value))
    #define rushlight_rare(condition) __builtin_expect(!!(condition), 0)
    """
    int _overrides_off "rushlight_overrides_off"  # of this thread; 1: types do not override, 2: nor do modes
    PyObject *type_attribute "rushlight_type_attribute"(PyObject *cls, PyObject *name)
    bint rare "rushlight_rare"(bint condition)
    PyObject *type_of "rushlight_type_of"(PyObject *value)

cdef int _mode_count = 0       # modes in force, of all threads
cdef dict _function_modes = {} # thread -> its modes, outermost first
cdef PyObject *_plain_type = NULL  # a subclass that does not override: parameters, usually
cdef str _TORCH_FUNCTION = "__torch_function__"
cdef str _TORCH_DISPATCH = "__torch_dispatch__"


def disabled_torch_function(func, types, args=(), kwargs=None):
    """The `__torch_function__` of a class that does not override: its instances are taken for plain tensors."""
    cdef int was = set_overrides_off(max(_overrides_off, 1))
    try:
        return func(*args, **(kwargs or {}))
    finally:
        set_overrides_off(was)


cdef object _disabled = disabled_torch_function


def set_overrides_off(int level):
    """Let this thread's calls run though types (1) or also modes (2) override them; returns the previous level."""
    global _overrides_off
    cdef int was = _overrides_off
    _overrides_off = level
    return was


def overrides_off():
    """What this thread's calls do not look for: 0, or 1 (types that override), or 2 (modes, too)."""
    return _overrides_off


def register_plain_type(cls not None):
    """Tell the core a subclass of Tensor, never to be freed, that does not override."""
    global _plain_type
    Py_INCREF(<PyObject *>cls)
    _plain_type = <PyObject *>cls


cdef bint type_overrides(PyObject *cls):
    cdef PyObject *found = type_attribute(cls, <PyObject *>_TORCH_FUNCTION)
    return found != NULL and found != <PyObject *>_disabled


def overrides(cls):
    """Whether calls with instances of a type go to its `__torch_function__`."""
    return isinstance(cls, type) and cls is not Tensor and type_overrides(<PyObject *>cls)


cdef bint tensor_overrides(PyObject *value):
    """The same for a tensor, if overrides are on."""
    cdef PyObject *cls = type_of(value)
    return cls != <PyObject *>Tensor and cls != _plain_type and _overrides_off == 0 and type_overrides(cls)


cdef bint value_overrides(PyObject *value):
    """The same for any argument."""
    cdef PyObject *cls = type_of(value)
    if cls == <PyObject *>Tensor or cls == <PyObject *>int or cls == <PyObject *>float or cls == _plain_type:
        return False
    if cls == <PyObject *>bool or cls == <PyObject *>str or value == <PyObject *>None:
        return False
    return _overrides_off == 0 and type_overrides(cls)


cdef bint any_overrides(PyObject **args, Py_ssize_t count):
    """Whether an argument overrides, or a member of a list; lists that begin with a number hold no tensors."""
    cdef Py_ssize_t i
    for i in range(count):
        if value_overrides(args[i]):
            return True
        value = <object>args[i]
        if type(value) is list or type(value) is tuple:
            for part in value:
                if type(part) is int or type(part) is float or type(part) is bool:
                    break
                if value_overrides(<PyObject *>part):
                    return True
    return False


# -- modes ----------------------------------------------------------------------------------------
cdef list modes_here():
    return <list>_function_modes.get(PyThread_get_thread_ident())


cdef bint mode_overrides():
    """Whether a mode of this thread sees its calls."""
    return _mode_count > 0 and _overrides_off < 2 and bool(modes_here())


def function_modes():
    """The modes that see this thread's calls, outermost first."""
    return list(modes_here() or ())


def push_function_mode(mode not None):
    """Let a mode see this thread's calls before all others."""
    global _mode_count
    _function_modes.setdefault(PyThread_get_thread_ident(), []).append(mode)
    _mode_count += 1


def pop_function_mode():
    """Take back the last mode."""
    global _mode_count
    cdef list modes = modes_here()
    if not modes:
        raise RuntimeError("no mode is in force")
    mode = modes.pop()
    _mode_count -= 1
    if not modes:
        _function_modes.pop(PyThread_get_thread_ident(), None)
    return mode


# -- where calls go -------------------------------------------------------------------------------
cdef object call_overridden(object function, PyObject **args, Py_ssize_t nargs, tuple kwnames):
    cdef Py_ssize_t i
    positional = tuple([<object>args[i] for i in range(nargs)])
    keywords = {kwnames[i]: <object>args[nargs + i] for i in range(len(kwnames))} if kwnames is not None else {}
    return _hooks["overridden"](function, positional, keywords)


cdef inline bint overridden(Tensor t):
    """Whether what is done with a tensor goes elsewhere."""
    return (rare(_mode_count) and mode_overrides()) or (rare(type(t) is not Tensor) and tensor_overrides(<PyObject *>t))


cdef object override_method(str name, tuple args):
    """A special method's call, where it goes."""
    return _hooks["overridden"](getattr(Tensor, name), args, {})


@cython.final
cdef class Attribute:
    """A property of Tensor that looks for overrides; the class itself shows the property as it was."""

    cdef readonly object original

    def __init__(self, original):
        self.original = original

    def __get__(self, instance, owner):
        if instance is None:
            return self.original
        if isinstance(instance, Tensor) and overridden(<Tensor>instance):
            return _hooks["overridden"](self.original.__get__, (instance,), {})
        return self.original.__get__(instance, owner)

    def __set__(self, instance, value):
        if isinstance(instance, Tensor) and overridden(<Tensor>instance):
            _hooks["overridden"](self.original.__set__, (instance, value), {})
        else:
            self.original.__set__(instance, value)

    def __delete__(self, instance):
        if isinstance(instance, Tensor) and overridden(<Tensor>instance):
            _hooks["overridden"](self.original.__delete__, (instance,), {})
        else:
            self.original.__delete__(instance)
