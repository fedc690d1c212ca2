"""What a primitive is: one object with all of its rules side by side."""

from __future__ import annotations

from .graph import Node, Value, current_graph

TYPE_CHECKING = False  # typing itself would cost milliseconds at import
if TYPE_CHECKING:
    from collections.abc import Callable

PRIMITIVES: dict[str, Primitive] = {}
KINDS = (
    "source",
    "map",
    "view",
    "structure",
    "reduce",
    "scan",
    "contract",
    "index",
    "window",
    "sort",
    "matrix",
    "transform",
    "call",
)


class Primitive:
    """A primitive operation of the language.

    name     unique, lower case
    kind     how it may be lowered, one of KINDS
    shape    `shape(*inputs, **attrs) -> (shape, dtype)`, or a list of them for several outputs
    vjp      `vjp(node, *cotangents) -> one cotangent (or None) per input`; traced, in terms of ops on Values.
             One cotangent per output; None stands for zero, but never for all of them at once
    jvp      `jvp(node, *tangents) -> tangent(s)`, one tangent per input; None stands for zero, as above
    batch    `batch(node, inputs, dims) -> (outputs, dims)` for vmap: `dims[i]` is the batch dimension of
             `inputs[i]` or None, and at least one is not None; outputs and dims are lists
    numpy    `numpy(*arrays, **attrs) -> array(s)`: its meaning, used by the reference interpreter
    columns  what a primitive of kind "matrix" wants in memory, else None: see `columns.Columns`
    """

    def __init__(self, name: str, kind: str, shape: Callable, *, numpy: Callable | None = None, outputs: int = 1):
        if name in PRIMITIVES:
            raise ValueError(f"primitive {name} is declared twice")
        if kind not in KINDS:
            raise ValueError(f"primitive {name}: unknown kind {kind}")
        self.name, self.kind, self.shape_rule, self.numpy_rule = name, kind, shape, numpy
        self.n_outputs = outputs
        self.vjp_rule: Callable | None = None
        self.jvp_rule: Callable | None = None
        self.batch_rule: Callable | None = None
        self.columns = None
        self.__doc__ = shape.__doc__
        PRIMITIVES[name] = self

    def __call__(self, *inputs: Value, **attrs):
        """Record an application in the current graph; returns its output value(s)."""
        result = self.shape_rule(*inputs, **attrs)
        single = self.n_outputs == 1
        node = Node(self, inputs, attrs, [result] if single else result)
        current_graph().nodes.append(node)
        return node.outputs[0] if single else node.outputs

    def numpy(self, rule: Callable) -> Callable:
        self.numpy_rule = rule
        return rule

    def vjp(self, rule: Callable) -> Callable:
        self.vjp_rule = rule
        return rule

    def jvp(self, rule: Callable) -> Callable:
        self.jvp_rule = rule
        return rule

    def batch(self, rule: Callable) -> Callable:
        self.batch_rule = rule
        return rule

    def linear(self) -> None:
        """State that a primitive of one input is linear: its jvp is itself."""
        self.jvp_rule = lambda node, tangent: self(tangent, **node.attrs)

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


def primitive(kind: str, *, outputs: int = 1, name: str | None = None) -> Callable:
    """Declare a primitive by its shape rule, whose name (unless given) and docstring it takes."""

    def declare(shape: Callable) -> Primitive:
        return Primitive(name or shape.__name__, kind, shape, outputs=outputs)

    return declare


def fail(name: str, message: str, error: type[Exception] = RuntimeError):
    raise error(f"{name}: {message}")


def check_dim(name: str, dim: int, ndim: int) -> None:
    """A strict dimension: non-negative and in range."""
    if type(dim) is not int or not 0 <= dim < ndim:
        fail(name, f"dimension must be an int in [0, {ndim}), got {dim!r}", IndexError)


def check_dims(name: str, dims, ndim: int) -> None:
    """Strict, different dimensions."""
    for dim in dims:
        check_dim(name, dim, ndim)
    if len(set(dims)) != len(dims):
        fail(name, f"dimensions must differ, got {dims}")


LONGEST_STEP = 1 << 24


def check_steps(name: str, *geometry) -> None:
    """Kernels, strides, paddings and dilations that a kernel's 32-bit places within a window can hold."""
    for steps in geometry:
        if any(type(n) is int and not -LONGEST_STEP < n < LONGEST_STEP for n in steps):
            fail(
                name, f"kernel sizes, strides, paddings and dilations must be below {LONGEST_STEP}, got {tuple(steps)}"
            )


def check_dtype(name: str, value: Value, kinds: str) -> None:
    if value.dtype.kind not in kinds:
        expected = ", ".join(KIND_NAMES[k] for k in kinds)
        fail(name, f"expected a dtype among [{expected}], got {value}", NotImplementedError)


KIND_NAMES = {"b": "bool", "u": "unsigned integer", "i": "signed integer", "f": "floating point", "c": "complex"}
