"""`rushlight.backends.cuda`: not there. The settings are kept and change nothing."""

from __future__ import annotations

import sys
import types

from .settings import kept

matmul = types.SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
    fp32_precision="none",
)
_flash = _math = _mem_efficient = _cudnn = True


def is_built() -> bool:
    """Whether this build could use such a device: False."""
    return False


def _add_switch(name: str, variable: str) -> None:
    """`name_enabled()` and `enable_name(value)`: whether attention may run on a kernel of that kind."""
    module = sys.modules[__name__]

    def enabled() -> bool:
        return getattr(module, variable)

    def enable(value: bool) -> None:
        setattr(module, variable, bool(value))

    enabled.__name__, enabled.__doc__ = f"{name}_enabled", "What was set; there is one kernel for all."
    enable.__name__, enable.__doc__ = f"enable_{name}", "Kept; there is one kernel for all."
    setattr(module, enabled.__name__, enabled)
    setattr(module, enable.__name__, enable)


for _name in ("flash", "math", "mem_efficient", "cudnn"):
    _add_switch(f"{_name}_sdp", f"_{_name}")


def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
):
    """Settings of attention within a `with`; there is one kernel for all."""
    values = {"_flash": enable_flash, "_math": enable_math, "_mem_efficient": enable_mem_efficient}
    return kept(sys.modules[__name__], **values, _cudnn=enable_cudnn)


def preferred_linalg_library(backend=None) -> str:
    """The library of factorizations on the device, of which there is none: "default"."""
    return "default"
