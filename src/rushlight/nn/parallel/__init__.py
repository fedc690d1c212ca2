"""Modules over several devices. There is one, the processor: `DataParallel` runs its module there."""

from __future__ import annotations

from ...aliases import install
from .data_parallel import DataParallel, data_parallel  # the function hides the module of its name
from .distributed import DistributedDataParallel
from .scatter_gather import gather, parallel_apply, replicate, scatter, scatter_kwargs

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]
_PLACES = dict.fromkeys(("comm", "parallel_apply", "replicate"), "nn.parallel.scatter_gather")
install(__name__, _PLACES)
