"""From LLVM IR text to the address of a function, through memory and (later) disk."""

from __future__ import annotations

import threading

from .target import host

_lock = threading.RLock()
_addresses: dict[str, int] = {}
_keep_alive: list = []


def load(name: str, text: str) -> int:
    """The address of `@name` in the module `text`, compiled if this process has not done so yet."""
    with _lock:
        address = _addresses.get(text)
        if address is None:
            address = _addresses[text] = _link(name, emit(text))
        return address


def emit(text: str) -> bytes:
    """Object code for a module: parse, SROA and a few clean-ups, code generation."""
    import llvmlite.binding as llvm

    machine = _machine()
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=0)
    builder = llvm.create_pass_builder(machine, options)
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    return machine.emit_object(module)


def _machine():
    import llvmlite.binding as llvm

    if not _keep_alive:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = host()
        machine = llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="small"
        )
        _keep_alive.append(machine)
    return _keep_alive[0]


def _link(name: str, code: bytes) -> int:
    import llvmlite.binding as llvm

    machine = llvm.Target.from_triple(host().triple).create_target_machine(opt=3, jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _keep_alive.append(engine)
    return engine.get_function_address(name)
