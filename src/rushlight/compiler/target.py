"""The processor we compile for: what it is called, what it can do, how wide its vectors are."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A code generation target.

    `vector_bytes` is the width of a vector register (64 with AVX-512, 32 with AVX2, 16 with SSE2) and
    `registers` how many there are; register tiles are chosen from these.
    """

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    registers: int

    def lanes(self, itemsize: int) -> int:
        return self.vector_bytes // itemsize

    def has(self, feature: str) -> bool:
        return f"+{feature}" in self.features.split(",")


LEVELS = {"avx512": (64, 32), "avx2": (32, 16), "sse2": (16, 16)}


@functools.cache
def host() -> Target:
    """The machine we run on; RUSHLIGHT_ISA=avx512|avx2|sse2 lowers it, for tests and for comparison."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    has = features.get
    best = "sse2"
    if has("avx2") and has("fma"):
        best = "avx2"
        if all(has(f) for f in ("avx512f", "avx512bw", "avx512dq", "avx512vl")):
            best = "avx512"
    wanted = os.environ.get("RUSHLIGHT_ISA", best)
    if wanted not in LEVELS:
        raise ValueError(f"RUSHLIGHT_ISA: expected one of {', '.join(LEVELS)}, got {wanted!r}")
    order = list(LEVELS)
    level = order[max(order.index(wanted), order.index(best))]
    names = {name for name, present in features.items() if present}
    if level != "avx512":
        names = {n for n in names if not n.startswith("avx512")}
    if level == "sse2":
        names = {n for n in names if not n.startswith("avx") and n not in ("fma", "f16c", "vaes", "vpclmulqdq")}
    cpu = llvm.get_host_cpu_name() if level == best else {"avx2": "haswell", "sse2": "x86-64"}[level]
    width, registers = LEVELS[level]
    return Target(llvm.get_process_triple(), cpu, ",".join(f"+{n}" for n in sorted(names)), width, registers)
