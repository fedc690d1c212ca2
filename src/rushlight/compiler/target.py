"""The processor we compile for: what it is called, what it can do, how wide its vectors are."""

from __future__ import annotations

import functools
import hashlib
import os
from dataclasses import dataclass
from importlib.util import find_spec

from . import disk


@dataclass(frozen=True)
class Target:
    """A code generation target.

    `vector_bytes` is the width of a vector register (64 with AVX-512, 32 with AVX2, 16 with SSE2) and
    `registers` how many there are; register tiles are chosen from these. `compiler` is the version of LLVM.
    """

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    registers: int
    compiler: str = ""

    def lanes(self, itemsize: int) -> int:
        return self.vector_bytes // itemsize

    def has(self, feature: str) -> bool:
        return f"+{feature}" in self.features.split(",")


LEVELS = {"avx512": (64, 32), "avx2": (32, 16), "sse2": (16, 16)}
NEEDED = {"avx512": ("avx512f", "avx512bw", "avx512dq", "avx512vl"), "avx2": ("avx2", "fma")}
# features whose names do not tell that they need the wider registers
VEX_ENCODED = ("fma", "fma4", "xop", "f16c", "vaes", "vpclmulqdq")


@functools.cache
def host() -> Target:
    """The machine we run on; RUSHLIGHT_ISA=avx512|avx2|sse2 lowers it, for tests and for comparison.

    What LLVM says of the processor is kept on disk, so that a process whose kernels are all cached never loads it.
    """
    name = f"target-{_fingerprint()}"
    known = disk.read(name)
    if known is None:
        known = "\n".join(_ask()).encode()
        disk.write(name, known)
    compiler, triple, cpu, features = known.decode().split("\n")
    return _lowered(compiler, triple, cpu, set(features.split(",")))


def _ask() -> tuple[str, str, str, str]:
    """(version, triple, processor, features) by LLVM."""
    import llvmlite
    import llvmlite.binding as llvm

    version = ".".join(map(str, llvm.llvm_version_info))
    features = sorted(name for name, present in llvm.get_host_cpu_features().items() if present)
    return f"{llvmlite.__version__} {version}", llvm.get_process_triple(), llvm.get_host_cpu_name(), ",".join(features)


@functools.cache
def last_cache() -> int:
    """Bytes of the last cache before memory, as the system tells them; 16 MiB where it does not."""
    sizes = [_cache_bytes(f"/sys/devices/system/cpu/cpu0/cache/index{level}/size") for level in range(5)]
    return max(sizes) or 16 << 20


def _cache_bytes(path: str) -> int:
    try:
        with open(path, encoding="ascii") as file:
            text = file.read().strip()
        return int(text[:-1]) * {"K": 1 << 10, "M": 1 << 20}[text[-1]]
    except (OSError, ValueError, KeyError, IndexError):
        return 0


def _fingerprint() -> str:
    """Tells processors and installations of llvmlite apart, at the cost of two small reads."""
    return hashlib.sha256("\n".join([*_processor_lines(), *_llvmlite_files()]).encode()).hexdigest()[:32]


def _processor_lines() -> list[str]:
    """What the system says of the first processor, without what varies from moment to moment."""
    try:
        file = os.open("/proc/cpuinfo", os.O_RDONLY)
    except OSError:
        import platform

        return [platform.machine(), platform.processor(), platform.version()]
    try:
        # the whole file takes milliseconds on a large machine
        text = os.read(file, 16384).decode(errors="replace")
    finally:
        os.close(file)
    wanted = ("vendor_id", "cpu family", "model", "stepping", "flags", "CPU ", "Features", "isa", "uarch")
    return [line for line in text.split("\n\n")[0].splitlines() if line.startswith(wanted)]


def _llvmlite_files() -> list[str]:
    """Where llvmlite is and when it was installed, without importing it."""
    spec = find_spec("llvmlite")
    if spec is None or spec.origin is None:
        return ["no llvmlite"]
    return [spec.origin, str(os.stat(spec.origin).st_mtime_ns)]


def _lowered(compiler: str, triple: str, cpu: str, names: set[str]) -> Target:
    """The target at the level that the processor has, or at the lower one that was asked for."""
    best = next((level for level, needed in NEEDED.items() if names.issuperset(needed)), "sse2")
    wanted = os.environ.get("RUSHLIGHT_ISA", best)
    if wanted not in LEVELS:
        raise ValueError(f"RUSHLIGHT_ISA: expected one of {', '.join(LEVELS)}, got {wanted!r}")
    order = list(LEVELS)
    level = order[max(order.index(wanted), order.index(best))]
    if level != "avx512":
        names = {n for n in names if not n.startswith(("avx512", "avx10", "amx"))}
    if level == "sse2":
        names = {n for n in names if not n.startswith("avx") and n not in VEX_ENCODED}
    if level != best:
        cpu = {"avx2": "haswell", "sse2": "x86-64"}[level]
    return Target(triple, cpu, ",".join(f"+{n}" for n in sorted(names)), *LEVELS[level], compiler)
