"""Prints what the compiler does: RUSHLIGHT_DEBUG=graph,loops,llvm,asm (any of them) writes these stages to stderr."""

from __future__ import annotations

import functools
import os
import sys

STAGES = ("graph", "loops", "llvm", "asm")


def wants(stage: str) -> bool:
    """Whether a stage is to be printed: "graph", "loops", "llvm" or "asm"."""
    wanted = os.environ.get("RUSHLIGHT_DEBUG")
    return bool(wanted) and stage in _stages(wanted)


@functools.lru_cache(maxsize=1)
def _stages(wanted: str) -> frozenset[str]:
    """The stages that the variable names; what it says beside them is reported, once."""
    named = frozenset(filter(None, map(str.strip, wanted.split(","))))
    for unknown in sorted(named.difference(STAGES)):
        print(f"RUSHLIGHT_DEBUG: there is no stage {unknown!r}; there are {', '.join(STAGES)}", file=sys.stderr)
    return named


def show(stage: str, text: str) -> None:
    print(f"--- {stage}\n{text.rstrip()}", file=sys.stderr)


def show_launch(launch) -> None:
    """The text, and the machine code, of a launch's kernel."""
    if wants("llvm"):
        show("llvm", launch.kernel.text)
    if wants("asm"):
        show("asm", assembly(launch.kernel.text))


def assembly(text: str) -> str:
    """The machine code of a module as text, made as `machine_code` makes it."""
    import llvmlite.binding as llvm

    from .target import host

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = host()
    machine = llvm.Target.from_triple(target.triple).create_target_machine(target.cpu, target.features, opt=3)
    module = llvm.parse_assembly(text)
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0)))
    return machine.emit_assembly(module)


def nest_text(nest) -> str:
    """A loop nest in a few lines."""
    lines = [f"{'map' if nest.is_map else 'row'} of {nest.lanes} lanes"]
    for dim in nest.outer:
        lines.append(f"  for {dim}" + (" (vectors)" if nest.vertical and dim is nest.vector else ""))
    for number, one in enumerate(nest.passes):
        lines.append(f"    pass {number}")
        for dim in nest.inner:
            lines.append(f"      for {dim}" + (" (vectors)" if dim is nest.vector else ""))
        lines += [f"        {_expr(e)}" for e in one.reduces]
        lines += [f"        keep {_expr(e)}" for e in one.keep]
        lines += [f"        {_access(a)} = {_expr(e)}" for e, a in one.stores]
    lines += [f"    {_access(a)} = {_expr(e)}" for e, a in nest.results]
    return "\n".join(lines)


def _expr(expr, depth: int = 6) -> str:
    if expr.kind == "load":
        return _access(expr.data)
    if expr.kind == "fetch":
        return f"{_access(expr.data)}[{', '.join(_expr(a, depth - 1) for a in expr.args)}]"
    if expr.kind in ("constant", "size"):
        return repr(expr.data)
    if expr.kind in ("scalar", "index"):
        return expr.kind
    return f"{expr.name}({', '.join(_expr(a, depth - 1) for a in expr.args) if depth else '...'})"


def _access(access) -> str:
    array = access.array
    strides = ", ".join(f"{d}*{s}" for d, s in access.strides.items())
    return f"{array.role}{array.index}[{strides}]"
