# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# cython: embedsignature=True, embedsignature.format=clinic, binding=False, auto_pickle=False, freethreading_compatible=False
"""The hot path: storage, layouts, tensors, op calls, plans, autograd. Knows nothing of any particular op."""

import weakref

cimport cython
from cpython.buffer cimport PyBUF_STRIDES, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from cpython.ref cimport PyObject as _PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(object)
    int PyObject_GenericSetAttr(object, object, object) except -1
    object PyComplex_FromDoubles(double, double)

include "storage.pxi"
include "layout.pxi"
include "sparse.pxi"
include "quantized.pxi"
include "batched.pxi"
include "modes.pxi"
include "nodes.pxi"
include "walk.pxi"
include "program.pxi"
include "surroundings.pxi"
include "elements.pxi"
include "tensor.pxi"
include "views.pxi"
include "joining.pxi"
include "batched_tensors.pxi"
include "record.pxi"
include "overriding.pxi"
include "op.pxi"
include "composite.pxi"
