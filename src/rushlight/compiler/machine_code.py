"""Object code from LLVM IR text: the only place where LLVM itself runs."""

from __future__ import annotations

import threading

from .target import host

_thread = threading.local()
_start = threading.Lock()


def emit(text: str) -> bytes:
    """Object code for a module: parse, SROA and a few clean-ups, code generation.

    Our text is already vectorised and unrolled: LLVM's standard pipeline costs ten times as much for nothing. Several
    threads may emit at once. Raises RuntimeError, with LLVM's message, for text that is not valid.
    """
    import llvmlite.binding as llvm

    machine = _machine()
    # a context of its own for each module: threads share nothing, and its memory goes with it
    with llvm.create_context() as context, _parse(text, context) as module:
        module.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=0)
        passes = llvm.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        _unlocked("LLVMPY_RunNewModulePassManager")(passes, module, llvm.create_pass_builder(machine, options))
        return _object_code(machine, module)


def _unlocked(name: str):
    """A function of llvmlite without the lock that it takes around each call for the sake of shared contexts."""
    from llvmlite.binding import ffi

    function = getattr(ffi.lib, name)
    return getattr(function, "_cfn", function)


def _parse(text: str, context):
    import ctypes

    from llvmlite.binding import ModuleRef, ffi

    with ffi.OutputString() as message:
        pointer = _unlocked("LLVMPY_ParseAssembly")(context, ctypes.c_char_p(text.encode()), message)
        module = ModuleRef(pointer, context)
        if message:
            module.close()
            raise RuntimeError(f"LLVM IR parsing error\n{message}")
    return module


def _object_code(machine, module) -> bytes:
    import ctypes

    from llvmlite.binding import ffi

    with ffi.OutputString() as message:
        buffer = _unlocked("LLVMPY_TargetMachineEmitToMemory")(machine, module, 1, message)
        if not buffer:
            raise RuntimeError(str(message))
    try:
        return ctypes.string_at(ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _machine():
    """This thread's target machine."""
    import llvmlite.binding as llvm

    if not hasattr(_thread, "machine"):
        with _start:
            llvm.initialize_native_target()
            llvm.initialize_native_asmprinter()
        target = host()
        _thread.machine = llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="small"
        )
    return _thread.machine


class Linked:
    """An object file linked by LLVM, where `object_file` cannot: addresses of functions by name."""

    def __init__(self, code: bytes):
        import llvmlite.binding as llvm

        _machine()
        machine = llvm.Target.from_triple(host().triple).create_target_machine(opt=3, jit=True)
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self.engine.finalize_object()

    def __getitem__(self, name: str) -> int:
        address = self.engine.get_function_address(name)
        if not address:
            raise KeyError(name)
        return address
