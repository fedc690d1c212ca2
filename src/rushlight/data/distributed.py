"""Sharing a dataset among the processes of a group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized

from .. import ops
from ..random import Generator
from .sampler import Sampler


class DistributedSampler(Sampler[int]):
    """The share of one of `num_replicas` processes: every process gets equally many keys.

    The order is shuffled with `seed` plus the epoch (call `set_epoch` before each pass). What does not divide is
    filled up from the start, or left out with `drop_last`.
    """

    def __init__(
        self, dataset: Sized, num_replicas: int, rank: int, shuffle: bool = True, seed: int = 0,
        drop_last: bool = False,
    ):  # fmt: skip
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        whole = len(dataset) // num_replicas if drop_last else math.ceil(len(dataset) / num_replicas)
        self.num_samples, self.total_size = whole, whole * num_replicas

    def __iter__(self) -> Iterator[int]:
        keys = list(range(len(self.dataset)))
        if self.shuffle:
            generator = Generator()
            generator.manual_seed(self.seed + self.epoch)
            keys = ops.randperm(len(keys), generator=generator).tolist()
        while keys and len(keys) < self.total_size:
            keys += keys[: self.total_size - len(keys)]
        return iter(keys[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of the coming pass."""
        self.epoch = epoch
