"""How a recorded call is differentiated: the backward of an op is itself an op, traced from the forward's graph.

Cheap intermediates are computed again inside the backward kernel; what must be kept are the inputs and outputs that the
backward graph still reads after dead code is gone.
"""

from __future__ import annotations

from ..core import engine
from ..core.engine import GradientPlan, Layout, Op, Plan
from ..ir import build as B
from ..ir.derive import append_vjp
from ..ir.graph import Graph, Value, current_graph
from ..ir.primitives.call import call
from .batched import levels_of, logical
from .declare import LIST, Derived
from .planning import Template, Tracer, is_trivial, plan_call
from .titles import title_of


class BackwardDeclaration(Derived):
    """The body of a backward op: arguments are the forward's flat inputs, its outputs, and the cotangents."""

    keeps = "view"  # a cotangent may be passed through, or be seen through a view

    def __init__(self, template: Template, name: str, flags: tuple, outputs: int):
        self.template, self.name, self.flags, self.outputs = template, name, flags, outputs

    def channels_source(self, flat: list, j: int) -> Value:
        """A gradient keeps channels innermost if what it belongs to has them so."""
        return flat[[i for i, flag in enumerate(self.flags) if flag][j]]

    def levels_of_result(self, j: int, key: tuple, levels: tuple) -> tuple:
        """A gradient has samples where what it belongs to has them, and at levels that came after the forward."""
        count = len(self.flags)
        of_forward = {level for entry in key[: count + self.outputs] for level in levels_of(entry)}
        own = levels_of(key[[i for i, flag in enumerate(self.flags) if flag][j]])
        return tuple(level for level in levels if level in own or level not in of_forward)

    def run(self, arguments: list) -> list:
        count = len(self.flags)
        inputs, outputs = arguments[:count], arguments[count : count + self.outputs]
        return gradients(self.template, self.flags, inputs, outputs, arguments[count + self.outputs :])


class Derived:
    """A gradient plan, and the sizes it is for: what a backward pass reads may depend on them."""

    def __init__(self, structure, plan: Plan, flags: tuple):
        tracer = Tracer()
        self.plan = make_gradient_plan(structure, plan, flags, tracer)
        self.forms = [layout.form for layout in self.layouts(structure.template, plan)]
        guards = [g for g in tracer.scope.guards if not is_trivial(g)]
        self.condition = eval(f"lambda {', '.join(tracer.symbols)}: {' and '.join(guards)}") if guards else None

    @staticmethod
    def layouts(template: Template, plan: Plan) -> list[Layout]:
        """Those of the inputs, the outputs and the cotangents, in the order of their symbols."""
        entries = [logical(entry) for entry in template_entries(template, plan)]
        outputs = [logical(layout) for layout in plan.layouts_of(entries)]
        found = [layout for layout in (*entries, *outputs) if isinstance(layout, Layout)]
        return found + [layout for layout in outputs if layout is not None and layout.floating]

    def holds(self, template: Template, plan: Plan) -> bool:
        layouts = self.layouts(template, plan)
        if [layout.form for layout in layouts] != self.forms:  # an output's dimension of size 1 makes another form
            return False
        return self.condition is None or self.condition(*(n for layout in layouts for n in layout.values))


def make_gradient_plan(structure, plan: Plan, flags: tuple, tracer: Tracer) -> GradientPlan:
    """Find what a backward pass reads, and make its op."""
    template = structure.template
    wanted = tuple(i for i, flag in enumerate(flags) if flag)
    entries = [logical(entry) for entry in template_entries(template, plan)]
    flat = [tracer.value(entry) for entry in entries]
    layouts = [logical(layout) for layout in output_layouts(plan, flat, entries)]
    floating = [layout is not None and layout.floating for layout in layouts]
    outputs = [None if layout is None else tracer.value(layout) for layout in layouts]
    cotangents = [tracer.value(layout) if flag else None for layout, flag in zip(layouts, floating)]
    with tracer.graph:
        found = gradients(template, flags, flat, outputs, cotangents)
    used = reached([v for v in found if v is not None])
    kept_inputs = [1 if id(v) in used and not v.weak else 0 for v in flat]
    kept_outputs = [1 if v is not None and id(v) in used else 0 for v in outputs]
    name = structure.called.declaration.name
    backward = backward_op(template, name + "_backward", flags, len(layouts))
    return GradientPlan(backward, kept_inputs, kept_outputs, floating, wanted, title_of(name, plan.info))


def backward_op(template: Template, name: str, flags: tuple, outputs: int) -> Op:
    """The op that computes the cotangents of the flagged flat inputs."""
    backward = Op(name, (), b"", 0, plan_call, variadic=True)
    backward.declaration = BackwardDeclaration(template, name, flags, outputs)
    backward.structures = {}
    return backward


def partial_backward(backward: Op, needed: bytes) -> Op:
    """The op that computes some of a backward op's cotangents: a pass may want no others."""
    whole, flags = backward.declaration, iter(needed)
    chosen = tuple(bool(flag and next(flags)) for flag in whole.flags)
    return backward_op(whole.template, whole.name, chosen, whole.outputs)


def template_entries(template: Template, plan: Plan) -> list:
    """The data entries of the very call: `plan.info` is its key."""
    return list(Template.entries(_with_key(template, plan.info)))


def _with_key(template: Template, key: tuple) -> Template:
    copy = Template.__new__(Template)
    copy.declaration, copy.variadic, copy.key = template.declaration, template.variadic, key
    return copy


def output_layouts(plan: Plan, flat: list, entries: list) -> list[Layout]:
    """Layouts of the outputs; those written in place have the layout of what they overwrite."""
    return plan.layouts_of(entries)


def reached(values: list[Value]) -> set[int]:
    """Ids of all values that the given ones depend on."""
    seen: set[int] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if id(value) not in seen:
            seen.add(id(value))
            if value.node is not None:
                stack.extend(value.node.inputs)
    return seen


def gradients(template: Template, flags, flat: list, outputs: list, cotangents: list) -> list:
    """Cotangents of the flagged flat inputs, recorded in the current graph."""
    declaration = template.declaration
    wanted = [i for i, flag in enumerate(flags) if flag]
    if getattr(declaration, "vjp_rule", None) is not None:
        found = from_rule(template, flat, outputs, cotangents)
    else:
        found = from_graph(template, wanted, flat, outputs, cotangents)
        if not template.variadic:
            # steps and the like: their derivative is 0, which is more than no derivative
            found = [B.zeros_like(x) if g is None and x.dtype.kind in "fc" else g for g, x in zip(found, flat)]
    return [fitted(found[i], flat[i]) for i in wanted]


def from_rule(template: Template, flat: list, outputs: list, cotangents: list) -> list:
    """Apply the op's own rule and lay its answers out per flat input."""
    declaration = template.declaration
    answers = declaration.vjp_rule(tuple(cotangents), tuple(outputs), *template.arguments(flat))
    answers = list(answers) if isinstance(answers, (tuple, list)) else [answers]
    found: list = []
    data = [p for p in template.parameters() if p is not None]
    answers += [None] * (len(data) - len(answers))
    for parameter, answer in zip(data, answers):
        if parameter == "absent":
            continue
        if parameter == "one":
            found.append(answer)
        else:
            parts = [None] * len(parameter) if answer is None else answer
            found += [part for part, entry in zip(parts, parameter) if entry is not None]
    return found


def from_graph(template: Template, wanted: list, flat: list, outputs: list, cotangents: list) -> list:
    """Trace the forward again and run it backwards; results that were kept replace those computed again."""
    graph = current_graph()
    start = len(graph.nodes)
    results = template.declaration.run(template.arguments(flat))
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    results = [as_output(r, o) for r, o in zip(results, outputs)]
    middle = len(graph.nodes)
    active = [(r, c) for r, c in zip(results, cotangents) if c is not None and r is not None]
    answers = append_vjp(
        graph.nodes[start:middle], [r for r, _ in active], [c for _, c in active], [flat[i] for i in wanted]
    )
    kept = {id(r): o for r, o in zip(results, outputs) if r is not None and r.node is not None}
    for node in graph.nodes[middle:]:
        node.inputs = tuple(kept.get(id(v), v) for v in node.inputs)
    found: list = [None] * len(flat)
    for i, answer in zip(wanted, answers):
        found[i] = kept.get(id(answer), answer)
    return found


def as_output(result, output: Value):
    """A body's result as the op delivers it: cast when written in place."""
    if result is None or not isinstance(result, Value):
        return None
    return B.cast(result, output.dtype) if result.dtype is not output.dtype else result


def fitted(cotangent, value: Value):
    """A cotangent of exactly the input's shape and dtype."""
    if cotangent is None:
        return None
    if len(cotangent.shape) != len(value.shape) or any(a != b for a, b in zip(cotangent.shape, value.shape)):
        cotangent = B.sum_to(cotangent, value.shape)
    return B.cast(cotangent, value.dtype) if cotangent.dtype is not value.dtype else cotangent


# -- ops with a rule of their own, called inside another op's body --------------------------------
def record_call(declaration, arguments: list):
    """One `call` node for the op; its graph is inlined when lowered, its rule used when differentiated."""
    flat, arguments = lifted(declaration, arguments)
    inner = Graph(current_graph().scope)
    inputs = [inner.scalar(v.dtype) if v.weak else inner.tensor(v.shape, v.dtype) for v in flat]
    supply = iter(inputs)
    with inner:
        results = declaration.run([replaced(a, supply) for a in arguments])
        values = list(results) if isinstance(results, (tuple, list)) else [results]
        inner.returns(values)
    made = call(*flat, op=CallRule(declaration, arguments), graph=inner)
    return made[0] if not isinstance(results, (tuple, list)) else tuple(made)


def lifted(declaration, arguments: list):
    """Numbers given for data parameters stay literals; Values are the call's inputs."""
    flat = [v for a in arguments for v in (a if isinstance(a, (list, tuple)) else [a]) if isinstance(v, Value)]
    return flat, arguments


def replaced(argument, supply):
    if isinstance(argument, Value):
        return next(supply)
    if isinstance(argument, (list, tuple)) and any(isinstance(v, Value) for v in argument):
        return [next(supply) if isinstance(v, Value) else v for v in argument]
    return argument


class CallRule:
    """What a `call` node carries: the op's name and its derivative rule over the node's inputs."""

    def __init__(self, declaration, arguments: list):
        self.declaration, self.arguments = declaration, arguments
        self.name = declaration.name

    def vjp_rule(self, node, cotangents) -> list:
        """One cotangent (or None) per input of the node."""
        declaration = self.declaration
        supply = iter(node.inputs)
        arguments = [replaced(a, supply) for a in self.arguments]
        answers = declaration.vjp_rule(tuple(cotangents), tuple(node.outputs), *arguments)
        answers = list(answers) if isinstance(answers, (tuple, list)) else [answers]
        data = [a for a, kind in zip(arguments, declaration.kinds) if kind in (0, LIST)]
        answers += [None] * (len(data) - len(answers))
        found: list = []
        for argument, answer in zip(data, answers):
            if isinstance(argument, Value):
                found.append(answer)
            elif isinstance(argument, (list, tuple)):
                parts = [None] * len(argument) if answer is None else answer
                found += [part for part, a in zip(parts, argument) if isinstance(a, Value)]
        return [None if f is None else fitted(f, v) for f, v in zip(found, node.inputs)]


engine.bind("partial_backward", partial_backward)
