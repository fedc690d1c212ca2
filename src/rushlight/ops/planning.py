"""From a call's key to its plan: the second level of the cache.

A key holds, per argument, a layout, the type of a run-time number, or a static value. Its *form* replaces
layouts by their structure. A `Structure` is what one trace of the body on symbolic sizes yields: guards on the
sizes, and a recipe that computes outputs, temporaries and kernel parameters from them. A new shape of a known form
costs one call of the recipe and compiles nothing.
"""

from __future__ import annotations

from ..core.engine import Layout, Op, Plan, batched_layout, layout_of, missing
from ..ir import dtypes
from ..ir.graph import Graph, Value
from ..ir.sizes import Scope, Sym, contiguous_strides, source
from .declare import DATA, LIST, STATIC
from .entries import entry_count, plan_entries
from .lazy import seen_through
from .results import Finished, finish

_SCALARS = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128}


UNUSUAL = (AttributeError, TypeError, ArithmeticError, KeyError, AssertionError, NameError, RecursionError, SystemError)


def plan_call(called: Op, key: tuple, flat: list, out_layouts: tuple = ()) -> Plan:
    """The plan for a key not seen before, from a known structure if there is one."""
    called.declaration.check_tensors(key)
    count = entry_count(called.declaration, key)
    if count > 1:
        return plan_entries(called, key, count, lambda one: parts_of(called, one))
    structure, parts = parts_of(called, key, out_layouts)
    plan = Plan(*parts)
    plan.derive, plan.natural, plan.info = structure.derive, structure.natural, key
    return plan


def parts_of(called: Op, key: tuple, out_layouts: tuple = ()) -> tuple[Structure, tuple]:
    """The structure for a key and what it makes of the key's sizes: the parts of a plan."""
    form, values = [], []
    for entry in (*key, *out_layouts):
        if type(entry) is Layout:  # what nearly all are: a new size should cost little
            form.append(entry.form)
            values += entry.values
        else:
            form.append(form_of(entry))
            for layout in layouts_in(entry):
                values += layout.values
    known = called.structures.setdefault((tuple(form), len(out_layouts)), [])
    for structure in known:
        parts = structure.recipe(*values)
        if parts is not None:
            return structure, parts
    try:
        structure = Structure(called, key, out_layouts)
        parts = structure.recipe(*values)
    except UNUSUAL as error:
        raise called.declaration.explained(error, key) from error
    if parts is None:
        raise RuntimeError(
            f"{called.name}: the guards of a new structure reject the sizes it was made for: {structure.source}"
        )
    known.append(structure)
    return structure, parts


def is_elementwise(plan: Plan) -> bool:
    """Whether the planned call reads one element of each operand to write one, so that both may be the same memory."""
    return plan.derive.__self__.elementwise


def layouts_in(entry):
    if isinstance(entry, Layout):
        return (entry,)
    if isinstance(entry, tuple) and entry and all(part is None or isinstance(part, Layout) for part in entry):
        return tuple(part for part in entry if part is not None)
    return ()


def form_of(entry):
    if isinstance(entry, Layout):
        return entry.form
    if layouts_in(entry):
        return ("list", *(None if part is None else part.form for part in entry))
    return (type(entry), entry) if isinstance(entry, (bool, int, float)) else entry


class Template:
    """How the entries of a key become the arguments of a body, given Values for the data among them."""

    def __init__(self, called: Op, key: tuple):
        self.declaration = called.declaration
        self.variadic = self.declaration is None or not hasattr(self.declaration, "names")
        self.key = key

    def entries(self):
        """The data entries in flat order: layouts or types of numbers."""
        for position, entry in enumerate(self.key):
            kind = self.kind(position)
            if kind == LIST and entry is not missing:
                yield from (part for part in entry if part is not None)
            elif kind == DATA and entry is not None and entry is not missing:
                yield entry

    def kind(self, position: int) -> int:
        return DATA if self.variadic else self.declaration.kinds[position]

    def arguments(self, flat) -> list:
        """Arguments in declared order with `flat` data put in."""
        supply = iter(flat)
        arguments = []
        for position, entry in enumerate(self.key):
            kind = self.kind(position)
            if entry is missing:
                arguments.append(self.declaration.defaults[self.declaration.names[position]])
            elif kind == STATIC or entry is None:
                arguments.append(entry)
            elif kind == LIST:
                arguments.append([None if part is None else next(supply) for part in entry])
            else:
                arguments.append(next(supply))
        if not self.variadic:
            arguments += [self.declaration.defaults[name] for name in self.declaration.names[len(self.key) :]]
        return arguments

    def parameters(self):
        """Per parameter: None (static, absent), "one", or the list's entries; to flatten what a rule returns."""
        found = []
        for position, entry in enumerate(self.key):
            kind = self.kind(position)
            if entry is missing or entry is None or kind == STATIC:
                found.append(None if kind == STATIC else "absent")
            else:
                found.append(entry if kind == LIST else "one")
        if not self.variadic:
            found += [None if k == STATIC else "absent" for k in self.declaration.kinds[len(self.key) :]]
        return found


class Tracer:
    """A scope and graph under construction, with the symbols named in the order of the layouts' values."""

    def __init__(self):
        self.scope = Scope()
        self.graph = Graph(self.scope)
        self.symbols: list[str] = []
        self.bits: dict[Value, int] = {}  # of inputs that are read through a conjugate or a negative
        self.sizes: dict = {}  # of the levels of `vmap`

    def value(self, entry) -> Value:
        """A graph input for a layout or the type of a number."""
        if not isinstance(entry, Layout):
            return self.graph.scalar(_SCALARS[entry])
        if entry.batch:
            return self.batch_value(entry)
        shape, strides = self.geometry(entry)
        value = self.graph.tensor(shape, entry.dtype, strides)
        if not entry.bits:
            return value
        with self.graph:
            seen = seen_through(value, entry.bits)
        seen.strides = value.strides  # the body may ask how the memory lies
        self.bits[seen] = entry.bits
        return seen

    def batch_value(self, layout: Layout) -> Value:
        """A graph input for a tensor with its batch dims in front; sizes of those that take no memory are noted."""
        found = self.value(layout.physical)
        sizes = iter(found.shape)
        for level, size, stride in layout.batch:
            size = next(sizes) if stride else self.symbol(size) if size > 1 else size
            if self.sizes.setdefault(level, size) != size:
                raise RuntimeError(
                    "vmap: tensors of different batch sizes meet: one escaped from the vmap that made it"
                )
        return found

    def geometry(self, layout: Layout):
        """Shape and strides with a symbol for every number of the layout's `values`."""
        _, pattern, kind = layout.form
        shape = tuple(self.symbol(n) if p == 2 else n for n, p in zip(layout.shape, pattern))
        if kind is None:
            return shape, contiguous_strides(shape)
        if kind[:1] != ("s",):
            strides: list = [0] * len(shape)
            step = 1
            for dim in reversed(kind):
                strides[dim] = step
                step = shape[dim] * step
            return shape, tuple(strides)
        return shape, tuple(self.symbol(n) if k == 2 else k for n, k in zip(layout.strides, kind[1:]))

    def symbol(self, number: int) -> Sym:
        made = self.scope.symbol(number)
        self.symbols.append(f"s{len(self.symbols)}")
        return made


class Structure:
    """One trace of an op: guards, recipe, and how calls of this structure are differentiated."""

    def __init__(self, called: Op, key: tuple, out_layouts: tuple):
        self.called = called
        self.gradients: dict = {}
        self.template = Template(called, key)
        tracer = Tracer()
        entries = list(self.template.entries())
        flat = [tracer.value(entry) for entry in entries]
        with tracer.graph:
            arguments = self.template.arguments(flat)
            if any(isinstance(entry, Layout) and entry.batch for entry in (*entries, *out_layouts)):
                finished = finish_batch(called, self.template, entries, tracer, arguments, flat, out_layouts)
            else:
                results = called.declaration.run(arguments)
                finished = finish(called, results, arguments, flat, tracer, out_layouts)
        self.elementwise = finished.elementwise
        self.natural = called.declaration.natural_number(key)
        lowered = None
        if finished.computed:
            from ..compiler.kernel import compile_all
            from ..compiler.lower import lower

            lowered = lower(tracer.graph.returns(finished.computed, finished.strides, finished.aliases))
            compile_all([kernel for launch in lowered.launches for kernel in launch.kernels])
        self.source, self.recipe = write_recipe(tracer, finished, lowered)

    def derive(self, plan: Plan, flags: list):
        """The gradient plan when the flagged flat inputs require gradients."""
        known = self.gradients.setdefault(tuple(flags), [])
        for candidate in known:
            if candidate.holds(self.template, plan):
                return candidate.plan
        from .derivation import Derived

        known.append(Derived(self, plan, tuple(flags)))
        return known[-1].plan


def finish_batch(called: Op, template: Template, entries: list, tracer, arguments, flat, out_layouts) -> Finished:
    """`finish` for a call with batch dims that nobody sees: outputs say which of their dims these are."""
    from .batched import Batch

    if out_layouts:
        raise RuntimeError(
            f"{called.name}: out= is not supported inside of vmap; assign the result, or use the op without out="
        )
    batch = Batch(called, template, entries, tracer, flat)
    finished = finish(called, batch.run(), arguments, flat, tracer, out_layouts)
    finished.outputs = [
        (*output, marks) if marks and output[0] in ("new", "view") else output
        for output, marks in zip(finished.outputs, batch.marks, strict=True)
    ]
    return finished


def write_recipe(tracer: Tracer, finished: Finished, lowered):
    """Python source, and the function, that computes a plan's parts from the sizes."""
    constants: dict = {"L": layout_of, "LB": batched_layout, "inf": float("inf"), "nan": float("nan")}
    outputs = ", ".join(output_source(output, constants) for output in finished.outputs)
    launches = ", ".join(launch_source(launch, finished.positions) for launch in lowered.launches) if lowered else ""
    temps = ", ".join(source(size) for size in lowered.temps) if lowered else ""
    # zeroed outputs are numbered among the computed ones
    zeroed = [(r, finished.positions[i] if r == "output" else i) for r, i in lowered.zeroed] if lowered else []
    facts = (
        f"{zeroed!r}, {finished.form!r}, {finished.differentiable!r}, {finished.elementwise!r}, {finished.visible!r}"
    )
    guards = [g for g in tracer.scope.guards if not is_trivial(g)]
    check = f"    if not ({' and '.join(guards)}):\n        return None\n" if guards else ""
    text = (
        f"def recipe({', '.join(tracer.symbols)}):\n{check}    return [{outputs}], [{launches}], [{temps}], {facts}\n"
    )
    exec(compile(text, "<recipe>", "exec"), constants)
    return text, constants["recipe"]


def is_trivial(guard: str) -> bool:
    """`s3 > 1` holds by the form: sizes 0 and 1 are not symbolic."""
    name, _, rest = guard.partition(" ")
    return rest == "> 1" and name[:1] == "s" and name[1:].isdigit()


def output_source(output: tuple, constants: dict) -> str:
    kind = output[0]
    if kind == "new":
        _, shape, strides, dtype, *levels = output
        return f"('new', {layout_source(shape, strides, dtype, constants, 0, *levels)})"
    if kind == "view":
        _, index, shape, strides, offset, dtype, bits, *levels = output
        layout = layout_source(shape, strides, dtype, constants, bits, *levels)
        return f"('view', {index}, {layout}, {source(offset)})"
    return repr(output)


def layout_source(shape, strides, dtype, constants: dict, bits: int = 0, levels: tuple = ()) -> str:
    """A call that makes a layout; `levels` are those of batch dims that nobody sees, as `batched_layout` takes them."""
    constants[dtype.name] = dtype
    text = f"{tuple_source(shape)}, {'None' if strides is None else tuple_source(strides)}, {dtype.name}"
    lazy = f", {bits}" if bits else ""
    if not levels:
        return f"L({text}{lazy})"
    return f"LB({text}, ({''.join(f'({level}, {source(size)}), ' for level, size in levels)}){lazy})"


def tuple_source(sizes) -> str:
    return "(" + "".join(source(n) + ", " for n in sizes) + ")"


def launch_source(launch, positions: list) -> str:
    """A launch as `Plan` takes it; outputs are numbered among all results of the op, not only computed ones."""
    buffers = ", ".join(
        f"({b.role!r}, {positions[b.index] if b.role == 'output' else b.index}, {source(b.offset)})"
        for b in launch.buffers
    )
    params = ", ".join(param_source(p) for p in launch.params)
    numbers = ", ".join(source(n) for n in (launch.range, launch.grain, launch.scratch))
    return f"({launch.kernel.address}, [{buffers}], [{params}], {numbers})"


def param_source(param) -> str:
    if hasattr(param, "slot"):
        return f"({param.index}, {param.slot!r})"
    if hasattr(param, "address"):
        return str(param.address)
    return source(param)
