"""`rushlight.utils.dlpack`: memory shared with other libraries through DLPack."""

from __future__ import annotations

import enum

from ..ops import FUNCTIONS

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]

from_dlpack, to_dlpack = FUNCTIONS["from_dlpack"], FUNCTIONS["to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """Numbers that DLPack has for kinds of devices."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17
