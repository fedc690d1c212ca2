"""How an op is declared: `@op` turns a body over Values into a public function, a method, `name_` and `out=`.

A body runs when a structure is planned (see `planning`), never per call. Parameters without annotation,
or annotated `Number` or `float`, are data: tensors, or numbers passed at run time. `Tensor`, or no annotation
for `input`, is data that must be a tensor. A parameter annotated `list` takes a list of tensors. All others are
static and part of the plan's key. Defaults that are not overridden
reach the body as plain Python values.
"""

from __future__ import annotations

import sys

from ..core import engine
from ..core.engine import Op, Tensor
from ..ir.dtypes import uint64
from ..ir.graph import Value

DATA, STATIC, LIST = 0, 1, 2
Number = "int | float | complex | Tensor"  # for annotations: data, though often a plain number
OPS: dict[str, Op] = {}
FUNCTIONS: dict[str, object] = {}  # public name -> op or composite function
METHODS: dict[str, object] = {}
REDIRECTED: dict[Op, object] = {}  # op -> what all its calls run while it is redirected (see `amp`)
LATE: list = []  # what makes functions explain their errors that are declared once the catalogue is complete
ARRIVED: list = []  # called with the name of each op and function declared from then on, and with itself
_ANNOTATIONS = {None: DATA, "": DATA, "Number": DATA, "float": DATA, "Tensor": DATA, "list": LIST}


STATIC_TYPES = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool, int),
    "str": (str,),
    "tuple": (tuple, int),
    "None": (type(None),),
}


class Derived:
    """The body of an op that other ops' calls give rise to: what reaches it was checked before."""

    view, mutates, visible, vjp_rule, row_major = False, (), None, None, False

    def check_tensors(self, key: tuple) -> None:
        """There is nothing to check."""

    def explained(self, error: Exception, key: tuple) -> Exception:
        """The error as it is."""
        return error

    def natural_number(self, key: tuple) -> int:
        """No argument must be one."""
        return -1


class Declaration:
    """What `@op` knows of an op: its body, parameters, derivative rule and kind."""

    def __init__(
        self,
        body,
        name: str,
        *,
        view=False,
        visible=None,
        mutates=(),
        keeps=False,
        narrows=False,
        exact=False,
        channels=False,
        row_major=False,
        natural=None,
    ):
        written = getattr(body, "__wrapped__", body)  # inside of decorators, which hide defaults
        code = written.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        self.body, self.name, self.view, self.visible, self.keeps = body, name, view, visible, keeps
        self.names = code.co_varnames[:count]
        self.positional = code.co_argcount
        defaults = written.__defaults__ or ()
        self.defaults = dict(zip(self.names[code.co_argcount - len(defaults) : code.co_argcount], defaults))
        self.defaults |= written.__kwdefaults__ or {}
        self.kinds = tuple(kind_of(body.__annotations__.get(name)) for name in self.names)
        self.tuples = tuple(body.__annotations__.get(name) == "tuple" for name in self.names)
        self.tuple_position = self.tuples.index(True) if True in self.tuples else None
        self.required = next((i for i, name in enumerate(self.names) if name in self.defaults), count)
        self.mutates, self.narrows, self.exact, self.channels = tuple(mutates), narrows, exact, channels
        self.row_major = row_major
        self.natural = None if natural is None else self.names.index(natural)
        self.vjp_rule = self.notice = None
        self.numbers = {i for i, name in enumerate(self.names) if body.__annotations__.get(name) in ("Number", "float")}
        self.types = {i: t for i, name in enumerate(self.names) if (t := self.types_of(name, body.__annotations__))}
        self.tensors = tuple(i for i, name in enumerate(self.names) if is_tensor(name, body.__annotations__))

    def channels_source(self, flat: list, j: int):
        """The Value whose channels_last memory result j keeps, or None."""
        return flat[0] if self.channels else None

    def types_of(self, name: str, annotations: dict) -> tuple:
        """The types that a static parameter's annotation allows; () if it says nothing."""
        words = str(annotations.get(name, "")).split(" | ")
        if kind_of(annotations.get(name)) != STATIC or any(word not in STATIC_TYPES for word in words):
            return ()
        words += ["None"] if self.defaults.get(name, 0) is None else []
        return tuple(kind for word in words for kind in STATIC_TYPES[word])

    def check_tensors(self, key: tuple) -> None:
        """TypeError for a number where the op takes tensors alone, and for static arguments of other types.

        `notice`, if set, is called with the key: it may warn of calls of a new kind, at no cost for later ones.
        """
        for position, types in self.types.items():
            if position < len(key) and key[position] is not engine.missing and not isinstance(key[position], types):
                raise wrong_type(self.name, self.names[position], position, types[0].__name__, type(key[position]))
        for position in self.tensors:
            entry = key[position] if position < len(key) else Tensor
            if (isinstance(entry, type) and entry is not Tensor) or (entry is None and position < self.required):
                raise wrong_type(self.name, self.names[position], position, "Tensor", entry or type(None))
        if self.notice is not None:
            self.notice(key)

    def natural_number(self, key: tuple) -> int:
        """Which flat argument is a number that must not be negative, or -1."""
        position = self.natural
        if position is None or position >= len(key) or key[position] is not int:
            return -1
        return position if isinstance(key[0], engine.Layout) and key[0].dtype.kind in "bui" else -1

    def explained(self, error: Exception, key: tuple) -> Exception:
        """What to raise in place of an error that a body met: of the kinds that PyTorch's functions raise."""
        if isinstance(error, (AttributeError, TypeError)):
            for position, (name, kind) in enumerate(zip(self.names, self.kinds)):
                absent = position < len(key) and key[position] is None and self.defaults.get(name, 0) is not None
                if kind == DATA and absent:
                    return wrong_type(self.name, name, position, "Tensor", type(None))
        if isinstance(error, TypeError):
            return error
        return RuntimeError(f"{self.name}: cannot be computed for these arguments ({type(error).__name__}: {error})")

    def bind(self, args, kwargs) -> list:
        """Arguments in declared order, defaults filled in; TypeError as a Python function would raise."""
        if len(args) > self.positional:
            raise TypeError(f"{self.name}() takes {self.positional} positional arguments but {len(args)} were given")
        bound = dict(zip(self.names, args))
        for name, value in kwargs.items():
            if name not in self.names:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{name}'")
            if name in bound:
                raise TypeError(f"{self.name}() got multiple values for argument '{name}'")
            bound[name] = value
        missing = [name for name in self.names if name not in bound and name not in self.defaults]
        if missing:
            raise TypeError(f"{self.name}() missing required argument: {', '.join(map(repr, missing))}")
        return [bound[name] if name in bound else self.defaults[name] for name in self.names]

    def run(self, arguments: list):
        """Apply the body to arguments in declared order."""
        arguments = [(a,) if single and type(a) is int else a for a, single in zip(arguments, self.tuples)]
        return self.body(
            *arguments[: self.positional], **dict(zip(self.names[self.positional :], arguments[self.positional :]))
        )


def is_tensor(name: str, annotations: dict) -> bool:
    annotation = annotations.get(name)
    return annotation == "Tensor" or (annotation is None and name == "input")


def kind_of(annotation) -> int:
    return _ANNOTATIONS.get(annotation, STATIC)


def op(
    function=None,
    *,
    method=False,
    inplace=False,
    out=False,
    view=False,
    alias=(),
    mutates=(),
    visible=None,
    keeps=False,
    narrows=False,
    exact=False,
    channels=False,
    row_major=False,
    natural=None,
    public=True,
):
    """Declare an op.

    method    also a method of Tensor (True, or the method's name)
    inplace   also `name_`, which writes into its first argument
    out       accepts `out=`; "apart": which must not share memory with an argument; "dtype": whose type is the
    default of `dtype`
    view      the result shares memory with the input wherever strides allow
    alias     further public names
    mutates   names of parameters (tensors or lists) that receive the body's results; the op returns None
    visible   how many of the body's results a caller sees; the rest is kept for the derivative
    keeps     a body that returns an argument unchanged returns that very tensor
    narrows   the in-place form casts its result to the target's type, whatever that loses
    exact     the in-place form and `out=` take a target of the result's very type alone
    channels  keeps channels_last memory of its first argument
    row_major  its results are row-major even where elements are only mapped to elements
    natural   name of a number that must not be negative where the first argument holds integers: an exponent
    public    has a name for users
    """

    def declare(body):
        name = body.__name__
        kind = {"view": view, "visible": visible, "mutates": mutates, "keeps": keeps, "channels": channels}
        kind |= {"narrows": narrows, "exact": exact, "row_major": row_major, "natural": natural}
        declaration = Declaration(body, name, **kind)
        made = make_op(declaration, body.__doc__)
        made.accepts_out = out
        made.vjp = lambda rule: set_rule(declaration, rule)
        OPS[name] = made
        for announce in ARRIVED:
            announce(name, made)
        for public_name in (name, *alias):
            if public:
                FUNCTIONS[public_name] = made
            if method:
                add_method(method if isinstance(method, str) and public_name == name else public_name, made)
        if inplace:
            written = make_op(declaration, f"In-place form of `{name}`.", into=0)
            OPS[name + "_"] = made.in_place = written
            for public_name in (name, *alias) if public else ():
                add_method(public_name + "_", written)
                FUNCTIONS[public_name + "_"] = written
        return made

    return declare(function) if function is not None else declare


def make_op(declaration: Declaration, doc: str | None, into: int = -1) -> Op:
    from .planning import plan_call

    suffix = "_" if into >= 0 else ""
    made = Op(
        declaration.name + suffix,
        declaration.names,
        bytes(declaration.kinds),
        declaration.required,
        plan_call,
        positional=declaration.positional,
        into=into,
        mutates=bool(declaration.mutates),
        gathers=-1 if declaration.tuple_position is None else declaration.tuple_position,
    )
    made.declaration = declaration
    made.__name__ = made.__qualname__ = made.name
    made.__doc__ = doc
    made.__module__ = "rushlight"
    made.structures = {}
    made.accepts_out = False
    made.with_fewer = made.many = None
    return made


def twin_of(made: Op) -> Op:
    """The same op once more, for calls that have been redirected: they have kernels and structures in common."""
    twin = make_op(made.declaration, made.__doc__)
    twin.most, twin.many, twin.records = made.most, made.many, made.records
    twin.__dict__.update(made.__dict__)
    return twin


def set_rule(declaration: Declaration, rule):
    """State the derivative: `rule(cotangents, outputs, *arguments)` gives one cotangent per data argument (None for
    none).

    Cotangents of outputs that nothing used are None. The rule is written in ops, so it can be differentiated again.
    """
    declaration.vjp_rule = rule
    return rule


def set_many(made: Op, most: int):
    """Let a function take lists of more than `most` tensors: kernels of so many compile slowly."""

    def declare(function):
        made.most, made.many = most, function
        return function

    return declare


def add_method(name: str, function) -> None:
    """Make a function a method of tensors and of traced values."""
    METHODS[name] = function
    engine.attach_method(name, function)
    if name not in ("shape", "dtype", "ndim", "size", "dim", "numel"):
        setattr(Value, name, function)


def composite(function=None, *, method=False, alias=(), public=True):
    """Declare a function written in other ops and plain Python: it runs on tensors and on traced values alike."""

    def declare(body):
        for name in (body.__name__, *alias):
            shown = LATE[0](body, name) if LATE else body
            if public:
                FUNCTIONS[name] = shown
            if method:
                add_method(method if isinstance(method, str) and name == body.__name__ else name, shown)
        return body

    return declare(function) if function is not None else declare


def function_named(name: str):
    """A function or method by its name, for pickles; one of a room has that before it: "linalg.svd"."""
    if "." in name:
        from importlib import import_module

        room, _, name = name.rpartition(".")
        return getattr(import_module(f"..{room}", __package__), name)
    return FUNCTIONS[name] if name in FUNCTIONS else METHODS.get(name) or getattr(Tensor, name)


def op_named(name: str) -> Op:
    """An op by its name, for pickles; one of `linalg` may have to be loaded."""
    if name not in OPS and name.startswith("linalg_"):
        function_named(name.replace("_", ".", 1))
    return OPS[name]


# -- calls that leave the fast path -----------------------------------------------------------
_SYNONYMS = {  # what a parameter may be called, and what it is called in the functions that have it under another name
    "axis": ("dim",),
    "axis0": ("dim0",),
    "axis1": ("dim1",),
    "keepdims": ("keepdim",),
    "self": ("input",),
    "input": ("A", "b", "L"),
    "x": ("input",),
    "a": ("input",),
    "x1": ("input",),
    "x2": ("other",),
}


def slow_call(called: Op, args: list, kwargs: dict):
    """Traced values, `out=`, NumPy's names and scalars, lists as tuples; TypeError for what is none of these."""
    redirected = REDIRECTED.get(called)  # asked once: another thread may undo it meanwhile
    if redirected is not None:
        return redirected(*args, **kwargs)
    if engine.has_sparse(args, kwargs):
        return engine.sparse_call(called, called.name, tuple(args), kwargs)
    declaration = called.declaration
    if len(args) > declaration.positional and declaration.tuple_position is None:
        from .former import former_order

        today = former_order(called, args, kwargs)
        if today is not None:
            return called(*today[0], **today[1])
    if "out" in kwargs and "out" not in declaration.names:
        out = kwargs.pop("out")
        if out is not None:
            from .writing import call_out

            return call_out(called, args, kwargs, out)
        return called(*args, **kwargs)
    count = len(args)
    if called.with_fewer is not None and count + len(kwargs) < declaration.required:
        return called.with_fewer(*args, **kwargs)
    renamed = {rename(name, declaration.names): value for name, value in kwargs.items()}
    if len(renamed) < len(kwargs):
        raise TypeError(f"{called.name}() got one argument under two names: {', '.join(kwargs)}")
    if can_gather(declaration, args):
        args = gather_tail(declaration, args)
    if called_with_values(args) or called_with_values(kwargs.values()):
        return trace_call(called, declaration.bind(args, renamed))
    bound = declaration.bind(args, renamed)  # raises for wrong names and counts
    given = dict(zip(declaration.names, args)) | renamed
    changed = {
        name: normalise(declaration, name, kind, value, bound)
        for name, kind, value in zip(declaration.names, declaration.kinds, bound)
        if name in given
    }
    if called.many is not None and is_long(called, bound):
        return called.many(*bound)
    same = len(args) == count and all(value is given[name] for name, value in changed.items())
    if same and renamed.keys() == kwargs.keys():
        raise refusal(called, given)
    positional = [changed.pop(name) for name in declaration.names[: len(args)]]
    return called(*positional, **changed)


def is_long(called: Op, args) -> bool:
    """Whether a call's list has more tensors than there are kernels for."""
    return len(args) > 0 and isinstance(args[0], (list, tuple)) and len(args[0]) > called.most


WANTED = {DATA: "Tensor", LIST: "tuple of Tensors"}  # by the kind of a parameter


def refusal(called: Op, given: dict) -> TypeError:
    """What to raise for a call with a value that no parameter of its kind takes."""
    declaration = called.declaration
    for position, (name, kind) in enumerate(zip(declaration.names, declaration.kinds)):
        if name in given and kind in WANTED and not fits(given[name], kind):
            wanted = "Tensor or Number" if position in declaration.numbers else WANTED[kind]
            return wrong_type(called.name, name, position, wanted, type(given[name]))
    return TypeError(f"{called.name}(): cannot be called with ({', '.join(describe(v) for v in given.values())})")


def fits(value, kind: int) -> bool:
    if kind == LIST:
        return isinstance(value, (list, tuple))
    return value is None or isinstance(value, (Tensor, Value, bool, int, float, complex))


def wrong_type(function: str, name: str, position: int, wanted: str, kind: type) -> TypeError:
    function, position = as_called(function, name, position)
    return TypeError(f"{function}(): argument '{name}' (position {position + 1}) must be {wanted}, not {kind.__name__}")


def as_called(function: str, argument: str, position: int) -> tuple[str, int]:
    """The name and an argument's position as users know them, if a public function has called an op that is none."""
    from .activation import FUNCTIONAL

    frame = None if function in FUNCTIONS or function in METHODS else sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        for table in (FUNCTIONS, METHODS, FUNCTIONAL):
            known = table.get(code.co_name)
            if getattr(getattr(known, "__wrapped__", known), "__code__", None) is code:
                names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
                return code.co_name, names.index(argument) if argument in names else position
        frame = frame.f_back
    return function, position


def called_with_values(arguments) -> bool:
    for value in arguments:
        if isinstance(value, Value) or (isinstance(value, (list, tuple)) and any(isinstance(v, Value) for v in value)):
            return True
    return False


def rename(name: str, names) -> str:
    if name in names:
        return name
    return next((known for known in _SYNONYMS.get(name, ()) if known in names), name)


def can_gather(declaration: Declaration, args) -> bool:
    """Whether `f(x, 1, 2, 3)` may mean `f(x, (1, 2, 3))`: integers from the one parameter that takes a tuple on."""
    start = declaration.tuple_position
    return start is not None and len(args) > start + 1 and all(is_integer(v) for v in args[start:])


def gather_tail(declaration: Declaration, args) -> list:
    start = declaration.tuple_position
    return [*args[:start], tuple(int(v) for v in args[start:])]


def is_integer(value) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, (bool, float))


def from_wide(value: int) -> Tensor:
    """A number of 64 bits as a tensor without dimensions: what it does to dtypes is what a number does."""
    made = engine.empty_tensor(engine.layout_of((), None, uint64))
    engine.write_elements(made, [value])
    return made


def normalise(declaration: Declaration, name: str, kind: int, value, others=()):
    """An argument in the form that the fast path takes."""
    if kind == LIST:
        if not isinstance(value, (list, tuple)) and not hasattr(value, "__next__"):
            return value
        value = list(value)
        for place, part in enumerate(value):
            if part is not None and not isinstance(part, (Tensor, Value)):
                raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(part).__name__}")
        return value
    if kind == DATA:
        if type(value) is int and not -(2**63) <= value < 2**63:
            if 0 <= value < 2**64 and any(isinstance(v, Tensor) and v.dtype is uint64 for v in others):
                return from_wide(value)
            raise RuntimeError(f"value cannot be converted to type int64_t without overflow: {value}")
        return as_tensor_argument(value)
    if isinstance(value, (list, tuple)):
        made = tuple(int(v) if isinstance(v, Tensor) or (is_integer(v) and type(v) is not int) else v for v in value)
        return value if type(value) is tuple and all(map(is_same, made, value)) else made
    if isinstance(value, Tensor) and not value.is_floating_point() and value.numel() == 1:
        return value.item()
    if type(value) is type and value in (float, int, bool, complex):
        from .dtypes import of_python_type

        return of_python_type(value)
    if isinstance(value, (int, float)):
        return float(value) if isinstance(value, float) else int(value)
    return value.item() if hasattr(value, "item") and not isinstance(value, Tensor) else value


def is_same(a, b) -> bool:
    return a is b


def as_tensor_argument(value):
    """NumPy scalars and subclasses of Python's numbers as plain numbers; the rest stays."""
    for kind in (bool, int, float, complex):
        if isinstance(value, kind):
            return kind(value)
    if not isinstance(value, Tensor) and hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    return value


def describe(value) -> str:
    if isinstance(value, Tensor):
        return f"Tensor {value.dtype.name}{list(value.shape)}"
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        return f"{type(value).__name__} of {len(value)} tensors"
    return f"{type(value).__name__} {value!r}"[:80]


# -- tracing ----------------------------------------------------------------------------------
def trace_call(called: Op, arguments: list):
    """Record an op on Values: inline, or as one `call` node if it has a derivative of its own."""
    declaration = called.declaration
    if called.name != declaration.name:
        raise RuntimeError(f"{called.name}: an in-place op cannot be traced; use {declaration.name}")
    if declaration.vjp_rule is None:
        return visible_part(declaration, declaration.run(arguments))
    from .derivation import record_call

    return visible_part(declaration, record_call(declaration, arguments))


def visible_part(declaration: Declaration, results):
    count = declaration.visible
    if count is None or not isinstance(results, (tuple, list)):
        return results
    return results[0] if count == 1 else results[:count]


engine.register_value_type(Value)
engine.bind("slow_call", slow_call)
engine.bind("op_named", op_named)
engine.bind("function_named", function_named)
