"""How a quantized tensor's integers are read as numbers: the constants of type `qscheme`."""

from __future__ import annotations

from ..ir import dtypes


class qscheme:
    """A way to quantize: per tensor or per channel, with zero points anywhere (affine) or in the middle (symmetric)."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"{dtypes._MODULE}.{self.name}"

    def __reduce__(self):
        return scheme_named, (self.name,)

    def __copy__(self) -> qscheme:
        return self

    def __deepcopy__(self, memo) -> qscheme:
        return self


qscheme.__module__ = dtypes._MODULE
per_tensor_affine = qscheme("per_tensor_affine")
per_channel_affine = qscheme("per_channel_affine")
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_symmetric = qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")
SCHEMES = {
    scheme.name: scheme
    for scheme in (
        per_tensor_affine,
        per_channel_affine,
        per_tensor_symmetric,
        per_channel_symmetric,
        per_channel_affine_float_qparams,
    )
}


def scheme_named(name: str) -> qscheme:
    """The constant of this name, for pickles."""
    return SCHEMES[name]
