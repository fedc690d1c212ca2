"""The state of writing a kernel: parameters, open loops, what is known in them, and the addresses of accesses."""

from __future__ import annotations

from contextlib import contextmanager

from ..ir.dtypes import DType
from ..ir.sizes import Sym, product
from . import elementwise
from .affine import Dim, size_key
from .error_flag import error_flag
from .expressions import Access, Expr
from .nest import Nest
from .target import last_cache
from .text import Function, V


def i64(number: int) -> V:
    return V(str(number), "i64")


class Scopes:
    """The state of writing one kernel: open loops, values known in them, current vector width."""

    def __init__(self, f: Function, nest: Nest):
        self.f, self.nest = f, nest
        self.arrays: list = []
        self.params: list = []
        self.pointers: dict = {}
        self.known_params: dict = {}
        self.open: list[Dim] = []
        self.index: dict[Dim, V] = {}
        self.vector_index: list[V] = []  # for each copy of an unrolled body
        self.scopes: list[dict] = [{}]
        self.lanes, self.copy, self.mask = 1, 0, None
        self.streaming = False
        self.kept: set[Expr] = set()
        self.slots: dict[Expr, list[tuple[Access, str]]] = {}

    # -- parameters ---------------------------------------------------------------------------
    def at_entry(self, text: str, type: str) -> V:
        """A value in the entry block, known everywhere."""
        name = "%" + self.f.name_of("p")
        self.f.entry.append(f"  {name} = {text}")
        return V(name, type)

    def param(self, size, type: str = "i64") -> V:
        """A size, stride or run-time number; 0 and 1 are literals, since they are structure."""
        if type == "i64" and isinstance(size, int) and size in (0, 1):
            return i64(int(size))
        key = (size_key(size), type) if isinstance(size, Sym) else None
        if key is None or key not in self.known_params:
            address = self.at_entry(f"getelementptr i64, ptr %params, i64 {len(self.params)}", "ptr")
            value = self.at_entry(f"load {type}, {address}, align 8", type)
            self.params.append(size)
            if key is None:
                return value
            self.known_params[key] = value
        return self.known_params[key]

    def size(self, dim: Dim) -> V:
        key = ("size", dim)
        if key not in self.pointers:
            self.pointers[key] = self.param(dim.size)
        return self.pointers[key]

    def stride(self, access: Access, dim: Dim) -> V:
        key = ("stride", id(access), dim)
        if key not in self.pointers:
            self.pointers[key] = i64(1) if access.is_unit(dim) else self.param(access.stride(dim))
        return self.pointers[key]

    def buffer(self, access: Access) -> V:
        """Where an access begins."""
        if access.array.role == "tile":
            return self.known(("tile", access))
        if access.array.role == "scratch":
            return self.f.offset(self.scratch(), self.param(access.offset))
        source = access.source()
        key = ("buffer", source.role, source.index, size_key(source.offset), source.dtype)
        if key not in self.pointers:
            address = self.at_entry(f"getelementptr ptr, ptr %buffers, i64 {len(self.arrays)}", "ptr")
            self.pointers[key] = self.at_entry(f"load ptr, {address}, align 8", "ptr")
            self.arrays.append(source)
        return self.pointers[key]

    def error_flag(self) -> V:
        """The four words in which kernels report errors."""
        if "error" not in self.pointers:
            address = self.at_entry(f"getelementptr ptr, ptr %buffers, i64 {len(self.arrays)}", "ptr")
            self.pointers["error"] = self.at_entry(f"load ptr, {address}, align 8", "ptr")
            self.arrays.append(error_flag())
        return self.pointers["error"]

    def scratch(self) -> V:
        """This thread's scratch memory, the buffer after all others; where that is, is known when all is written."""
        if "scratch" not in self.pointers:
            self.pointers["scratch"] = self.at_entry("load ptr, ptr %scratch_address, align 8", "ptr")
        return self.pointers["scratch"]

    def finish(self) -> None:
        """Complete the entry block."""
        if "scratch" in self.pointers:
            place = f"  %scratch_address = getelementptr ptr, ptr %buffers, i64 {len(self.arrays)}"
            self.f.entry.insert(0, place)

    # -- scopes and loops -----------------------------------------------------------------------
    @contextmanager
    def scope(self):
        """What is written inside is not known outside."""
        self.scopes.append({})
        yield
        self.scopes.pop()

    @contextmanager
    def inside(self, dim: Dim, index: V):
        """The body of a loop."""
        self.open.append(dim)
        self.index[dim] = index
        with self.scope():
            yield
        self.open.pop()
        del self.index[dim]

    @contextmanager
    def vectors(self, lanes: int, copy: int = 0, mask: V | None = None):
        """Write with other lanes, as copy number `copy` of an unrolled body."""
        before = self.lanes, self.copy, self.mask
        self.lanes, self.copy, self.mask = lanes, copy, mask
        yield
        self.lanes, self.copy, self.mask = before

    def known(self, key):
        for scope in reversed(self.scopes):
            if key in scope:
                return scope[key]
        return None

    # -- addresses ------------------------------------------------------------------------------
    def pointer(self, access: Access) -> V:
        """The address at the current indices of the open loops other than the vector loop."""
        return self.pointer_in(access, len(self.open))

    def pointer_in(self, access: Access, depth: int) -> V:
        while depth and (self.open[depth - 1] not in access.strides or self.open[depth - 1] is self.nest.vector):
            depth -= 1
        if depth == 0:
            return self.buffer(access)
        dim = self.open[depth - 1]
        key = ("pointer", id(access), dim)
        found = self.known(key)
        if found is None:
            before = self.pointer_in(access, depth - 1)
            steps = self.f.mul(self.index[dim], self.stride(access, dim))
            found = self.scopes[-1][key] = self.element(before, access.array.dtype, steps)
        return found

    def element(self, pointer: V, dtype: DType, index: V) -> V:
        type = elementwise.memory_type(dtype)
        return self.f.at(pointer, f"[2 x {type}]" if dtype.is_complex else type, index)

    def large_and_aligned(self, accesses: list[Access]) -> V:
        """Whether a kernel touches more than the caches hold, and all rows of some stores begin at cache lines.

        What fits is kept there: whoever reads the results next finds them.
        """
        bits = i64(0)
        for access in accesses:
            itemsize = access.array.dtype.itemsize
            bits = self.at_entry_binary("or", bits, self.at_entry(f"ptrtoint {self.buffer(access)} to i64", "i64"))
            for dim in access.strides:
                if dim is not self.nest.vector:
                    steps = self.at_entry_binary("mul", self.stride(access, dim), i64(itemsize))
                    bits = self.at_entry_binary("or", bits, steps)
        touched = 0
        for access in (*accesses, *self.nest.body.loads()):
            touched = touched + access.array.dtype.itemsize * product(d.size for d in access.strides)
        low = self.at_entry_binary("and", bits, i64(63))
        aligned = self.at_entry(f"icmp eq {low}, 0", "i1")
        large = self.at_entry(f"icmp uge {self.param(touched)}, {last_cache() * 3 // 4}", "i1")
        return self.at_entry_binary("and", aligned, large)

    def at_entry_binary(self, opcode: str, a: V, b: V) -> V:
        return self.at_entry(f"{opcode} {a}, {b.text}", a.type)
