"""The list of workloads: each is a function of a torch-like module `T` that returns a step to time.

`bytes` and `flops` are what the mathematics needs at least; they give the share of the machine's limit.
"""

from __future__ import annotations

from dataclasses import dataclass

M = 1 << 20


@dataclass
class Workload:
    name: str
    make: object
    bytes: float = 0
    flops: float = 0
    floor: float = 0  # the least speed-up over PyTorch that we accept
    aim: float = 0


WORKLOADS: dict[str, Workload] = {}


def workload(name: str, floor: float, aim: float, *, bytes: float = 0, flops: float = 0):
    def register(make):
        WORKLOADS[name] = Workload(name, make, bytes, flops, floor, aim)
        return make

    return register


def normal(T, *shape, grad: bool = False):
    import numpy as np

    values = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    return T.from_numpy(values).clone().requires_grad_(grad)
