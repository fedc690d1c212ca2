"""`rushlight.backends.cpu`: what kernels are generated for."""

from __future__ import annotations


def get_cpu_capability() -> str:
    """The vectors that kernels use: "AVX512", "AVX2" or "DEFAULT"."""
    from ..compiler.target import host

    return {64: "AVX512", 32: "AVX2"}.get(host().vector_bytes, "DEFAULT")
