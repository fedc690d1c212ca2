"""A builder for LLVM IR text: values with types, loops, conditions and stack variables.

Loop counters and accumulators live in `alloca`s, which SROA turns into registers: this keeps
generators free of phi nodes. Types are LLVM's own spelling ("i64", "ptr", "<16 x float>").
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import contextmanager

FLOAT_TYPES = ("half", "bfloat", "float", "double")


class V:
    """An SSA value or literal: `text` as it is written in an instruction, and its type."""

    __slots__ = ("text", "type")

    def __init__(self, text: str, type: str):
        self.text, self.type = text, type

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


def element(type: str) -> str:
    """The lane type of a vector type; other types stay."""
    return type[1:-1].split(" x ")[1] if type[0] == "<" else type


def lanes(type: str) -> int:
    return int(type[1:].split(" x ")[0]) if type[0] == "<" else 1


def vector(type: str, count: int) -> str:
    """`count` lanes of a scalar type; the type itself for one lane."""
    return type if count == 1 else f"<{count} x {type}>"


def is_float(type: str) -> bool:
    return element(type) in FLOAT_TYPES


def float_text(number: float, type: str) -> str:
    """A float literal in the hexadecimal form that LLVM reads exactly."""
    kind = element(type)
    if kind == "float":
        try:
            number = struct.unpack("<f", struct.pack("<f", number))[0]
        except OverflowError:
            number = float("inf") if number > 0 else float("-inf")
    elif kind == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', number))[0]:04X}"
    elif kind == "bfloat":
        bits = struct.unpack("<I", struct.pack("<f", number))[0]
        return f"0xR{(bits + 0x7FFF + ((bits >> 16) & 1)) >> 16:04X}"
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


class Module:
    """A module under construction: functions, external declarations, constant tables."""

    def __init__(self):
        self.functions: list[Function] = []
        self.declarations: dict[str, str] = {}
        self.constants: dict[str, str] = {}

    def declare(self, name: str, returns: str, *types: str) -> str:
        """Declare an external function or intrinsic once; returns its name."""
        self.declarations.setdefault(name, f"declare {returns} @{name}({', '.join(types)})")
        return name

    def table(self, type: str, literals: list[str]) -> V:
        """A private constant array of scalars; returns a pointer to it."""
        body = f"[{len(literals)} x {type}] [{', '.join(f'{type} {x}' for x in literals)}]"
        name = self.constants.setdefault(body, f"table{len(self.constants)}")
        return V(f"@{name}", "ptr")

    def function(self, name: str, args: list[tuple[str, str]], returns: str = "void", linkage: str = "") -> Function:
        fn = Function(self, name, args, returns, linkage)
        self.functions.append(fn)
        return fn

    def kernel(self, name: str) -> Function:
        """A function of the kernel ABI; its arguments are `.buffers .params .begin .end`."""
        fn = self.function(name, [("ptr", "buffers"), ("ptr", "params"), ("i64", "begin"), ("i64", "end")])
        fn.buffers, fn.params, fn.begin, fn.end = fn.args
        return fn

    def __str__(self) -> str:
        tables = [f"@{name} = private unnamed_addr constant {body}, align 64" for body, name in self.constants.items()]
        defined = {fn.name for fn in self.functions}
        declarations = [text for name, text in self.declarations.items() if name not in defined]
        return "\n".join([*tables, *declarations, *map(str, self.functions)]) + "\n"


class Function:
    """Emits instructions into a function; every method that computes returns a `V`."""

    def __init__(self, module: Module, name: str, args, returns: str, linkage: str):
        self.module, self.name, self.returns, self.linkage = module, name, returns, linkage
        self.args = [V(f"%{n}", t) for t, n in args]
        self.entry: list[str] = []  # allocas
        self.lines: list[str] = []
        self.count = 0

    # -- instructions -------------------------------------------------------------------------
    def name_of(self, prefix: str = "v") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def value(self, text: str, type: str) -> V:
        """Emit `%new = text` with the given result type."""
        name = "%" + self.name_of()
        self.line(f"{name} = {text}")
        return V(name, type)

    def binary(self, opcode: str, a: V, b: V) -> V:
        return self.value(f"{opcode} {a.type} {a.text}, {b.text}", a.type)

    def add(self, a: V, b: V) -> V:
        return self.binary("fadd contract" if is_float(a.type) else "add", a, b)

    def sub(self, a: V, b: V) -> V:
        return self.binary("fsub contract" if is_float(a.type) else "sub", a, b)

    def mul(self, a: V, b: V) -> V:
        return self.binary("fmul contract" if is_float(a.type) else "mul", a, b)

    def fma(self, a: V, b: V, c: V) -> V:
        """a*b + c, fused."""
        return self.intrinsic("llvm.fma", a, b, c)

    def neg(self, a: V) -> V:
        return self.value(f"fneg {a}", a.type) if is_float(a.type) else self.sub(self.const(0, a.type), a)

    def compare(self, condition: str, a: V, b: V) -> V:
        """`condition` is LLVM's, for example "olt" for floats or "slt" for integers."""
        opcode = "fcmp" if is_float(a.type) else "icmp"
        return self.value(f"{opcode} {condition} {a.type} {a.text}, {b.text}", vector("i1", lanes(a.type)))

    def select(self, condition: V, a: V, b: V) -> V:
        return self.value(f"select {condition}, {a}, {b}", a.type)

    def cast(self, opcode: str, a: V, type: str) -> V:
        """`opcode` is LLVM's: sext, zext, trunc, sitofp, fptosi, fpext, fptrunc, bitcast, ..."""
        return self.value(f"{opcode} {a} to {type}", type)

    def const(self, number, type: str) -> V:
        """A literal of any scalar or vector type (splat)."""
        kind = element(type)
        text = float_text(float(number), kind) if kind in FLOAT_TYPES else str(int(number))
        if kind == "i1":
            text = "true" if number else "false"
        return V(text if type[0] != "<" else f"splat ({kind} {text})", type)

    def intrinsic(self, base: str, *args: V, suffix: str | None = None, returns: str | None = None) -> V:
        """Call an intrinsic overloaded on its first argument's type, for example llvm.sqrt."""
        type = args[0].type
        name = f"{base}.{mangle(type)}" if suffix is None else f"{base}{suffix}"
        return self.call(name, returns or type, *args)

    def call(self, name: str, returns: str, *args: V) -> V | None:
        self.module.declare(name, returns, *(a.type for a in args))
        text = f"call {returns} @{name}({', '.join(map(str, args))})"
        if returns == "void":
            self.line(text)
            return None
        return self.value(text, returns)

    def splat(self, a: V, count: int) -> V:
        """A vector of `count` equal lanes."""
        if count == 1:
            return a
        type = vector(a.type, count)
        one = self.value(f"insertelement {type} poison, {a}, i32 0", type)
        return self.shuffle(one, one, [0] * count)

    def shuffle(self, a: V, b: V, mask: list[int]) -> V:
        type = vector(element(a.type), len(mask))
        indices = ", ".join(f"i32 {i}" for i in mask)
        return self.value(f"shufflevector {a}, {b}, <{len(mask)} x i32> <{indices}>", type)

    def lane(self, a: V, index: int) -> V:
        return self.value(f"extractelement {a}, i32 {index}", element(a.type))

    # -- memory -------------------------------------------------------------------------------
    def offset(self, pointer: V, bytes: V) -> V:
        return self.value(f"getelementptr i8, {pointer}, {bytes}", "ptr")

    def at(self, pointer: V, type: str, index: V | int) -> V:
        """The address of element `index` in an array of scalar `type`."""
        index = V(str(index), "i64") if isinstance(index, int) else index
        return self.value(f"getelementptr {type}, {pointer}, {index}", "ptr")

    def load(self, pointer: V, type: str, align: int | None = None) -> V:
        return self.value(f"load {type}, {pointer}, align {align or scalar_bytes(type)}", type)

    def store(self, a: V, pointer: V, align: int | None = None) -> None:
        self.line(f"store {a}, {pointer}, align {align or scalar_bytes(a.type)}")

    def masked_load(self, pointer: V, mask: V, type: str, other: V | None = None) -> V:
        other = other or V("zeroinitializer", type)
        name = self.module.declare(f"llvm.masked.load.{mangle(type)}.p0", type, "ptr", "i32", mask.type, type)
        return self.value(f"call {type} @{name}({pointer}, i32 {scalar_bytes(type)}, {mask}, {other})", type)

    def gather(self, pointer: V, type: str, indices: V, mask: V | None = None) -> V:
        """The elements of scalar `type` at a vector of indices; zeros where the mask is off."""
        count = lanes(indices.type)
        places = self.value(f"getelementptr {type}, {pointer}, {indices}", f"<{count} x ptr>")
        mask = mask or self.const(1, vector("i1", count))
        loaded = vector(type, count)
        name = self.module.declare(
            f"llvm.masked.gather.{mangle(loaded)}.v{count}p0", loaded, places.type, "i32", mask.type, loaded
        )
        call = f"call {loaded} @{name}({places}, i32 {scalar_bytes(type)}, {mask}, {loaded} zeroinitializer)"
        return self.value(call, loaded)

    def masked_store(self, a: V, pointer: V, mask: V) -> None:
        name = self.module.declare(f"llvm.masked.store.{mangle(a.type)}.p0", "void", a.type, "ptr", "i32", mask.type)
        self.line(f"call void @{name}({a}, {pointer}, i32 {scalar_bytes(a.type)}, {mask})")

    def buffer(self, index: int) -> V:
        """Pointer number `index` of a kernel's `buffers`."""
        return self.load(self.at(self.buffers, "ptr", index), "ptr", 8)

    def param(self, index: int, type: str = "i64") -> V:
        """Parameter `index` of a kernel: an i64, or a double passed by its bits."""
        return self.load(self.at(self.params, "i64", index), type, 8)

    def variable(self, type: str, initial: V | None = None) -> V:
        """A stack variable in the entry block, which SROA keeps in a register."""
        name = "%" + self.name_of("slot")
        self.entry.append(f"  {name} = alloca {type}")
        pointer = V(name, "ptr")
        if initial is not None:
            self.store(initial, pointer)
        return pointer

    # -- control ------------------------------------------------------------------------------
    def label(self, name: str) -> None:
        self.line(f"br label %{name}")
        self.lines.append(f"{name}:")

    @contextmanager
    def loop(self, begin: V | int, end: V | int, step: V | int = 1):
        """`for index in range(begin, end, step)` over i64; yields the index."""
        begin, end, step = (V(str(x), "i64") if isinstance(x, int) else x for x in (begin, end, step))
        head, body, done = (self.name_of(p) for p in ("head", "body", "done"))
        counter = self.variable("i64", begin)
        self.label(head)
        index = self.load(counter, "i64")
        more = self.compare("slt", index, end)
        self.line(f"br {more}, label %{body}, label %{done}")
        self.lines.append(f"{body}:")
        yield index
        self.store(self.add(index, step), counter)
        self.line(f"br label %{head}")
        self.lines.append(f"{done}:")

    @contextmanager
    def repeat(self, condition: Callable[[], V]):
        """`while condition():` where the condition is emitted at the head of the loop."""
        head, body, done = (self.name_of(p) for p in ("head", "body", "done"))
        self.label(head)
        self.line(f"br {condition()}, label %{body}, label %{done}")
        self.lines.append(f"{body}:")
        yield
        self.line(f"br label %{head}")
        self.lines.append(f"{done}:")

    @contextmanager
    def when(self, condition: V):
        """The block runs if the condition holds."""
        body, done = self.name_of("then"), self.name_of("endif")
        self.line(f"br {condition}, label %{body}, label %{done}")
        self.lines.append(f"{body}:")
        yield
        self.label(done)

    @contextmanager
    def branch(self, condition: V):
        """Yields a function that opens the else part: `with f.branch(c) as other: ...; other(); ...`."""
        yes, no, done = self.name_of("then"), self.name_of("else"), self.name_of("endif")
        self.line(f"br {condition}, label %{yes}, label %{no}")
        self.lines.append(f"{yes}:")
        opened = []

        def other() -> None:
            opened.append(True)
            self.line(f"br label %{done}")
            self.lines.append(f"{no}:")

        yield other
        if not opened:
            other()
        self.label(done)

    def minimum(self, a: V, b: V) -> V:
        """Signed integer minimum."""
        return self.intrinsic("llvm.smin", a, b)

    def __str__(self) -> str:
        args = ", ".join(map(str, self.args))
        linkage = self.linkage + " " if self.linkage else ""
        # nounwind: kernels never raise, and unwind tables would only fill the object file
        head = f"define {linkage}{self.returns} @{self.name}({args}) nounwind {{\nentry:"
        tail = "  ret void\n}" if self.returns == "void" else "}"
        return "\n".join([head, *self.entry, *self.lines, tail])


def scalar_bytes(type: str) -> int:
    """Size and alignment of a lane in memory."""
    sizes = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8}
    return sizes[element(type)]


def mangle(type: str) -> str:
    """How an intrinsic's name spells a type: "<16 x float>" is v16f32."""
    names = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}
    name = names.get(element(type), element(type))
    return f"v{lanes(type)}{name}" if type[0] == "<" else name
