"""`DistributedDataParallel`: a name to test for, until processes can train together."""

from __future__ import annotations

from ..module import Module


class DistributedDataParallel(Module):
    """Not there yet: RuntimeError when it is made. No module is an instance of it."""

    def __init__(self, module: Module, *args, **kwargs):
        raise RuntimeError(
            "DistributedDataParallel: distributed training is not supported yet; train in one process (all cores work "
            "on each op), and use the module itself"
        )
