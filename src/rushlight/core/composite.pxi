# Composite: a function written in other ops, callable with sparse tensors.

cdef class Composite:
    """A function written in other ops of which sparse tensors have their own form: the room `sparse` runs that.

    Without sparse tensors among the arguments it is the function itself.
    """

    cdef vectorcallfunc vectorcall
    cdef readonly object function
    cdef readonly str name
    cdef dict __dict__

    def __init__(self, function, str name):
        self.vectorcall, self.function, self.name = composite_vectorcall, function, name
        self.__name__, self.__qualname__, self.__module__ = name, name, function.__module__
        self.__doc__, self.__wrapped__ = function.__doc__, function

    def __call__(self, *args, **kwargs):
        raise AssertionError("replaced by vectorcall")

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __repr__(self):
        return f"<function {self.name}>"

    def __reduce__(self):
        return _hooks["function_named"], (self.name,)


cdef extern from "Python.h":
    PyObject *PyObject_Vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)


cdef PyObject *composite_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) noexcept:
    cdef Py_ssize_t nargs = PyVectorcall_NARGS(nargsf), total = nargs
    cdef PyObject *found
    if _sparse_exists:
        if kwnames != NULL:
            total += len(<tuple>kwnames)
        if any_sparse(<PyObject **>args, total):
            try:
                result = call_sparse(None, (<Composite>callable).name, <PyObject **>args, nargs,
                                     <tuple>kwnames if kwnames != NULL else None)
            except BaseException as error:
                raise_again(error)
                return NULL
            Py_INCREF(<PyObject *>result)
            return <PyObject *>result
    return PyObject_Vectorcall(<PyObject *>(<Composite>callable).function, args, nargsf, kwnames)


cdef install_composite_vectorcall():
    cdef Composite probe = Composite(attach_method, "probe")
    cdef PyTypeObject *type_object = <PyTypeObject *>Composite
    type_object.tp_vectorcall_offset = <char *>&probe.vectorcall - <char *><void *>probe
    type_object.tp_call = PyVectorcall_Call
    type_object.tp_flags |= (1UL << 11) | (1UL << 17)  # as for Op
    PyType_Modified(type_object)


install_composite_vectorcall()
