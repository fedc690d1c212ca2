# Storage: a block of memory, owned through the caching allocator or borrowed from another object.

cdef extern from "allocator.h":
    void *allocator_get(int64_t bytes) nogil
    void allocator_put(void *pointer, int64_t bytes) nogil
    int64_t allocator_release() nogil
    ctypedef struct allocator_counts:
        int64_t in_use, reserved, peak, hits, misses
    allocator_counts allocator_count


@cython.final
@cython.freelist(256)
@cython.no_gc_clear
cdef class Storage:
    """A block of memory that tensors share.

    `owner` keeps borrowed memory alive (a NumPy array, an mmap, another storage); owned memory
    returns to the allocator's cache when the last tensor goes.
    """

    cdef char *ptr
    cdef readonly int64_t nbytes
    cdef readonly object owner
    cdef public bint readonly
    cdef readonly int64_t version  # counts in-place writes, for autograd's check of saved tensors
    cdef Storage root  # the storage whose memory this one borrows, or None
    cdef int64_t capacity   # bytes of the block: what `nbytes` was at most
    cdef int pins           # kernels that run on the memory now, and storages that borrow it
    cdef bint written       # by the call under way: a mark that `separate_operands` sets and clears
    cdef bint fixed         # a view of the memory was given away: it must not move
    cdef object __weakref__

    def __dealloc__(self):
        if self.root is not None:
            self.root.pins -= 1
        elif self.owner is None and self.ptr != NULL:
            allocator_put(self.ptr, self.capacity)

    @property
    def resizable(self):
        return self.owner is None and self.root is None and not self.pins and not self.fixed

    def fix(self):
        """Let the memory stay where it is from now on: another library looks at it."""
        (self if self.root is None else self.root).fixed = True

    def part(self, int64_t start, int64_t stop):
        """The bytes from `start` to `stop` as a storage over this memory."""
        if not 0 <= start <= stop <= self.nbytes:
            raise IndexError(f"bytes {start} to {stop} of a storage of {self.nbytes}")
        cdef Storage s = same_memory(self)
        s.ptr, s.nbytes = self.ptr + start, stop - start
        return s

    @property
    def movable(self):
        """Whether `move` can take along all that lies in the memory: no kernel runs on it, no other storage borrows it."""
        cdef Storage root = root_of(self)
        cdef bint runs = self is not root and self.pins  # kernels pin the storage that their tensor has
        return not runs and root.pins == (self is not root) and root.nbytes == self.nbytes and root.owner is self.owner

    def move(self, Storage target not None):
        """Lie from now on where `target` does, memory that another object owns, with the bytes of this one.

        Where another library looks at the memory left behind, a storage of it is returned, to be kept as long as this one.
        """
        cdef Storage root = root_of(self), left = Storage.__new__(Storage)
        if not self.movable or target.owner is None or target.nbytes != root.nbytes:
            raise RuntimeError("move: other storages borrow the memory, or the target does not fit")
        memcpy(target.ptr, root.ptr, root.nbytes)
        left.ptr, left.nbytes, left.capacity, left.owner = root.ptr, root.nbytes, root.capacity, root.owner
        self.ptr = target.ptr + (self.ptr - root.ptr)
        root.ptr, root.capacity = target.ptr, 0
        self.owner = root.owner = target.owner
        return left if root.fixed else None  # else its end frees the memory

    def resize(self, int64_t nbytes):
        """Change the size; the bytes that fit stay. A smaller one keeps its block, which tensors may still reach into."""
        if nbytes < 0:
            raise RuntimeError(f"a storage has no negative size, got {nbytes}")
        if not self.resizable:
            raise RuntimeError("Trying to resize storage that is not resizable: other objects share its memory")
        grow_storage(self, nbytes)

    def __getbuffer__(self, Py_buffer *view, int flags):
        self.fix()
        PyBuffer_FillInfo(view, self, self.ptr, self.nbytes, self.readonly, flags)

    @property
    def address(self):
        return <size_t>self.ptr

    def __len__(self):
        return self.nbytes

    def __repr__(self):
        return f"<Storage of {self.nbytes} bytes at {<size_t>self.ptr:#x}>"


cdef Storage new_storage(int64_t nbytes):
    cdef Storage s = Storage.__new__(Storage)
    s.ptr = <char *>allocator_get(nbytes)
    if s.ptr == NULL:
        raise RuntimeError(f"out of memory: could not allocate {nbytes} bytes")
    s.nbytes = s.capacity = nbytes
    return s


cdef grow_storage(Storage s, int64_t nbytes):
    """Let a storage have `nbytes`, in a larger block where its own is too small."""
    cdef char *larger
    if nbytes > s.capacity:
        larger = <char *>allocator_get(nbytes)
        if larger == NULL:
            raise RuntimeError(f"out of memory: could not allocate {nbytes} bytes")
        memcpy(larger, s.ptr, s.nbytes)
        if s.ptr != NULL:
            allocator_put(s.ptr, s.capacity)
        s.ptr, s.capacity = larger, nbytes
    s.nbytes = nbytes
    s.version += 1


def exported_memory(exporter not None):
    """The address of element 0 of what an object exports through the buffer protocol, and whether it may only be read."""
    cdef Py_buffer view
    PyObject_GetBuffer(exporter, &view, PyBUF_STRIDES)
    found = <size_t>view.buf, bool(view.readonly)
    PyBuffer_Release(&view)
    return found


def borrow_storage(size_t address, int64_t nbytes, owner, bint readonly=False):
    """A storage over memory that `owner` keeps alive."""
    cdef Storage s = Storage.__new__(Storage)
    s.ptr = <char *>address
    s.nbytes = nbytes
    s.owner = owner
    s.readonly = readonly
    return s


cdef Storage same_memory(Storage storage):
    """A second storage object over the same bytes, with a version counter of its own (`Tensor.data`)."""
    cdef Storage s = Storage.__new__(Storage)
    s.ptr, s.nbytes, s.readonly = storage.ptr, storage.nbytes, storage.readonly
    s.root = storage.root if storage.root is not None else storage
    s.root.pins += 1
    s.owner = storage.owner
    return s


cdef inline Storage root_of(Storage s):
    return s if s.root is None else s.root


def empty_cache():
    """Give cached blocks back to the system; returns the number of bytes freed."""
    return allocator_release()


def memory_stats():
    """Bytes in use, reserved (in use and cached), the peak of use, and how often the cache answered."""
    return {
        "in_use": allocator_count.in_use,
        "reserved": allocator_count.reserved,
        "peak": allocator_count.peak,
        "hits": allocator_count.hits,
        "misses": allocator_count.misses,
    }


def reset_peak_memory_stats():
    """Start a new measurement of the peak."""
    allocator_count.peak = allocator_count.in_use
