"""Lowers a graph to a list of kernel launches: simplify, fuse, order, then write each kernel."""

from __future__ import annotations

from ..ir.graph import Graph, Value
from . import debug
from .cluster import Cluster, Step, TemplateStep
from .codegen import write_kernel
from .epilogue import fuse_biases
from .expressions import Body
from .fuse import Fuser, fuse
from .launch import Lowered
from .memory import Memory
from .nest import Nest
from .order import ordered, overwrite_inputs
from .partial import split_reductions
from .simplify import is_none, simplify
from .templates import Array, Context, template_for
from .uniform import share_constants


def lower(graph: Graph) -> Lowered:
    """The launches that compute a graph, with sizes still symbolic where the graph's are.

    Decisions that depend on symbolic sizes are recorded as guards in the graph's scope: the result holds for
    all sizes that fulfil them.
    """
    lowered = Lowered([])
    context = Context(lowered)
    graph = share_constants(fuse_biases(split_reductions(simplify(graph))))
    if debug.wants("graph"):
        debug.show("graph", str(graph))
    memory = Memory(graph, context)
    fuser = fuse(graph, memory)
    copies = move_unsafe_outputs(fuser, context)
    for step in ordered(fuser.steps):
        lower_step(step, fuser, context)
    for cluster in copies:
        lower_step(cluster, fuser, context)
    return lowered


def move_unsafe_outputs(fuser: Fuser, context: Context) -> list[Cluster]:
    """Give outputs that may not overwrite their inputs memory of their own; returns the final copies."""
    copies = []
    for j in overwrite_inputs(fuser):
        output = fuser.memory.outputs[j]
        value = Value(output.shape, output.dtype)  # what the memory holds when all else has run
        target = Array(output.role, output.index, output.shape, output.strides, output.dtype)
        own = context.temp(output.shape, output.dtype)
        output.role, output.index, output.strides = own.role, own.index, own.strides
        fuser.memory.homes[value] = output
        cluster = Cluster(value.shape, len(fuser.graph.nodes))
        cluster.stores.append((value, cluster.access, target))
        copies.append(cluster)
    return copies


def lower_step(step: Step, fuser: Fuser, context: Context) -> None:
    if type(step) is TemplateStep:
        lower_template(step, fuser, context)
    elif not any(is_none(d.size) for d in step.loops()):
        nest = Nest(Body(step, fuser.memory))
        if debug.wants("loops"):
            debug.show("loops", debug.nest_text(nest))
        launch = write_kernel(nest)
        debug.show_launch(launch)
        context.lowered.launches.append(launch)


def lower_template(step: TemplateStep, fuser: Fuser, context: Context) -> None:
    node = step.node
    name = node.prim.name
    operands = fuser.memory.operands(node)
    results = [fuser.memory.home(v) for v in node.outputs]
    first = len(context.lowered.launches)
    if name in ("dot", "conv") and len(operands) == 3:
        from .dot import Epilogue

        template_for(name)(context, node, operands[:2], results, Epilogue(operands[2]))
    else:
        template_for(name)(context, node, operands, results)
    for launch in context.lowered.launches[first:]:
        debug.show_launch(launch)
