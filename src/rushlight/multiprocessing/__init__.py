"""The standard `multiprocessing`, whose queues, pipes and arguments of processes share tensors instead of copying them.

A tensor that is sent moves to shared memory with all that view the same memory; what one process writes to it the
others read. `model.share_memory()` before processes start lets them train one model together (Hogwild):

    def train(model):
        ...

    if __name__ == "__main__":
        model = Net().share_memory()
        processes = [torch.multiprocessing.Process(target=train, args=(model,)) for _ in range(4)]
        ...

Gradients are not sent, and results of recorded ops are refused. Sparse tensors share their parts, quantized ones are
copied. All sharing is undone by the system when the last process that uses the memory ends; see `interop/segments.py`.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403

from ..interop import segments
from . import reductions
from .spawn import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    *multiprocessing.__all__,
    "ProcessContext",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]

reductions.init_reductions()


def get_all_sharing_strategies() -> set[str]:
    """The ways to share memory that there are: "file_descriptor" and "file_system"."""
    return set(segments.STRATEGIES)


def get_sharing_strategy() -> str:
    """How memory is shared that is made from now on."""
    return segments.strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how memory is shared that this process makes from now on.

    With "file_descriptor" (the default) memory has no name, takes a descriptor for each block of more than 64 KiB, and
    goes with the last process that uses it; a tensor must be received before its sender ends. With "file_system" it
    lies in /dev/shm, takes no descriptors, and waits there to be received; what a killed process leaves is removed
    when the program ends.

    Raises:
        AssertionError: for another name
    """
    if new_strategy not in segments.STRATEGIES:
        raise AssertionError(
            f"invalid sharing strategy {new_strategy!r}, expected one of {get_all_sharing_strategies()}"
        )
    if new_strategy == "file_system":
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # before children are made, which then have the same one
    segments.strategy = new_strategy


def __getattr__(name: str):
    if name == "queue":  # as modules of PyTorch's they add nothing to the standard ones
        from multiprocessing import queues

        return queues
    if name == "pool":
        from multiprocessing import pool

        return pool
    return getattr(multiprocessing, name)
