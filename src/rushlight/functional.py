"""`rushlight.functional`: functions of the catalogue under an older name."""

from __future__ import annotations

from .ops import FUNCTIONS

_NAMES = """
    align_tensors atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist
    chain_matmul einsum istft lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive
    unravel_index
""".split()  # noqa: SIM905


def __getattr__(name: str):
    if name in _NAMES and name in FUNCTIONS:
        return FUNCTIONS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(name for name in _NAMES if name in FUNCTIONS)
