"""`rushlight.utils.deterministic`: a switch of programs that look for differences between runs."""

from __future__ import annotations

import sys
import types


class _Switches(types.ModuleType):
    @property
    def fill_uninitialized_memory(self) -> bool:
        """Remembered, without effect: `empty` and `resize_` never fill memory."""
        return self.__dict__.get("_fill", True)

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise RuntimeError(f"expected a bool, but got {type(mode)}")
        self.__dict__["_fill"] = mode


sys.modules[__name__].__class__ = _Switches
