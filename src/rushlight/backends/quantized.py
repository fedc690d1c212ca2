"""`rushlight.backends.quantized`: the engine of quantized ops.

All quantized ops are generated here, with the arithmetic that PyTorch's engines have in common. The names of these can
be set, and change nothing.
"""

from __future__ import annotations

import sys
import types

NAMES = ("none", "qnnpack", "onednn", "x86", "fbgemm")


class _Module(types.ModuleType):
    _engine = "x86"

    @property
    def supported_engines(self) -> list[str]:
        """The names that can be set."""
        return list(NAMES)

    @property
    def engine(self) -> str:
        """The name that was set last."""
        return self._engine

    @engine.setter
    def engine(self, name: str) -> None:
        if name not in NAMES:
            raise RuntimeError(f"{name} is not a valid value for quantized engine")
        self._engine = name


sys.modules[__name__].__class__ = _Module
