# Composite: a function written in other ops, which explains its failures and may have a form for sparse tensors.

cdef class Composite:
    """A function written in other ops: the function itself, but for what it raises (see `explained_call` of the rooms above).

    `sparse` says that sparse tensors have a form of their own: the room `sparse` runs that if one is among the arguments.
    `overridable`: calls go to `__torch_function__` of an argument's type, if it has one; modes see all calls.
    """

    cdef vectorcallfunc vectorcall
    cdef readonly object function
    cdef readonly str name
    cdef readonly bint sparse
    cdef public bint overridable
    cdef dict __dict__

    def __init__(self, function, str name not None, bint sparse=False):
        self.vectorcall, self.function, self.name, self.sparse = composite_vectorcall, function, name, sparse
        self.overridable = True
        for attribute, value in getattr(function, "__dict__", {}).items():
            setattr(self, attribute, value)
        self.__name__, self.__qualname__, self.__module__ = name, name, getattr(function, "__module__", None)
        self.__doc__, self.__wrapped__ = function.__doc__, function

    def __call__(self, *args, **kwargs):
        raise AssertionError("replaced by vectorcall")

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def redirect(self, function):
        """Let calls run another function in the place of this one; None undoes that."""
        self.function = self.__wrapped__ if function is None else function

    def __repr__(self):
        return f"<function {self.name}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _hooks["function_named"], (self.name,)


cdef extern from "Python.h":
    PyObject *PyObject_Vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)


cdef PyObject *composite_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) noexcept:
    cdef Py_ssize_t nargs = PyVectorcall_NARGS(nargsf), total = nargs
    cdef PyObject *found
    if kwnames != NULL:
        total += PyTuple_GET_SIZE(kwnames)
    if (rare(_mode_count) and mode_overrides()) or ((<Composite>callable).overridable and any_overrides(<PyObject **>args, total)):
        try:
            result = call_overridden(<object>callable, <PyObject **>args, nargs, <tuple>kwnames if kwnames != NULL else None)
        except BaseException as error:
            raise_again(error)
            return NULL
        Py_INCREF(<PyObject *>result)
        return <PyObject *>result
    if _sparse_exists and (<Composite>callable).sparse:
        if any_sparse(<PyObject **>args, total):
            try:
                result = call_sparse(None, (<Composite>callable).name, <PyObject **>args, nargs,
                                     <tuple>kwnames if kwnames != NULL else None)
            except BaseException as error:
                raise_again(error)
                return NULL
            Py_INCREF(<PyObject *>result)
            return <PyObject *>result
    found = PyObject_Vectorcall(<PyObject *>(<Composite>callable).function, args, nargsf, kwnames)
    if found == NULL and kwnames != NULL:
        found = call_respelled(<Composite>callable, <PyObject **>args, nargs, <tuple>kwnames)
    if found == NULL:
        explain_failure(<Composite>callable, <PyObject **>args, nargs, <tuple>kwnames if kwnames != NULL else None)
    return found


cdef PyObject *call_respelled(Composite called, PyObject **args, Py_ssize_t nargs, tuple kwnames) noexcept:
    """The call with other names for its arguments (`dim` for `axis`), if it failed because the function lacks one.

    NULL, with the error still set, otherwise. A function that lacks a name has not run.
    """
    changed = None
    try:
        raise_pending()
    except TypeError as error:
        try:
            named = {kwnames[i]: <object>args[nargs + i] for i in range(len(kwnames))}
            changed = _hooks["respelled"](called.name, called.function, named)
        except BaseException as refusal:
            raise_again(refusal)
            return NULL
        if changed is None:
            raise_again(error)
            return NULL
    except BaseException as error:
        raise_again(error)
        return NULL
    try:
        result = called.function(*[<object>args[i] for i in range(nargs)], **changed)
    except BaseException as error:
        raise_again(error)
        return NULL
    Py_INCREF(<PyObject *>result)
    return <PyObject *>result


cdef void explain_failure(Composite called, PyObject **args, Py_ssize_t nargs, tuple kwnames) noexcept:
    """Let the rooms above say what to raise for an error that a function met."""
    try:
        raise_pending()
    except (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError) as error:
        raise_again(error)  # the usual kinds
    except Exception as error:
        try:
            given = [<object>args[i] for i in range(nargs)]
            named = {kwnames[i]: <object>args[nargs + i] for i in range(len(kwnames))} if kwnames is not None else {}
            shown = _hooks["explained_call"](called.name, called.function, tuple(given), named, error)
            if shown is not error:
                shown.__cause__ = error
            raise_again(shown)
        except BaseException:
            raise_again(error)
    except BaseException as error:
        raise_again(error)


cdef install_composite_vectorcall():
    cdef Composite probe = Composite(attach_method, "probe")
    cdef PyTypeObject *type_object = <PyTypeObject *>Composite
    type_object.tp_vectorcall_offset = <char *>&probe.vectorcall - <char *><void *>probe
    type_object.tp_call = PyVectorcall_Call
    type_object.tp_flags |= (1UL << 11) | (1UL << 17)  # as for Op
    PyType_Modified(type_object)


install_composite_vectorcall()
