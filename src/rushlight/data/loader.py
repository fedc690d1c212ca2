"""`DataLoader`: batches of a dataset, fetched here or by worker processes."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator

from ..ops.notices import warn_user
from ..random import random_int64
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .fetch import make_fetcher
from .sampler import BatchSampler, RandomSampler, SequentialSampler

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Endless:
    """The sampler of a stream, which has no keys."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader:
    """Iterates over a dataset in batches.

    `sampler` gives the order of keys (in order, or random with `shuffle`), `batch_sampler` whole batches;
    `batch_size=None` yields single samples. `collate_fn` joins samples into a batch. With `num_workers` > 0 processes
    fetch ahead, `prefetch_factor` (2) batches each; tensors come back through shared memory. Worker i is seeded with
    a seed drawn for the pass plus i, then calls `worker_init_fn(i)`. `timeout` (seconds) limits the wait for a batch.
    With `persistent_workers` the processes live on between passes. `in_order=False` yields batches as they are ready.

    Orders are drawn from `generator` or the default one. `pin_memory` changes nothing: there is no device to pin for.
    """

    _ready = False

    def __init__(
        self, dataset, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Iterable | None = None,
        batch_sampler: Iterable | None = None, num_workers: int = 0, collate_fn: Callable | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0, worker_init_fn: Callable | None = None,
        multiprocessing_context=None, generator=None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ):  # fmt: skip
        self.dataset, self.num_workers, self.generator = dataset, num_workers, generator
        self.pin_memory, self.pin_memory_device, self.timeout = pin_memory, pin_memory_device, timeout
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.persistent_workers, self.in_order = persistent_workers, in_order
        self._check_workers()
        self._check_order(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler = self._make_sampler(shuffle) if sampler is None else sampler
        if batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self._workers = None
        self._ready = True

    def _check_workers(self) -> None:
        if self.num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if self.num_workers > PROCESSORS:
            warn_user(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {PROCESSORS}, which is smaller than what this DataLoader is going to "
                "create. Please be aware that excessive worker creation might get DataLoader running slow or even "
                "freeze, lower the worker number to avoid potential slowness/freeze if necessary."
            )
        if self.timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if self.num_workers == 0:
            if self.prefetch_factor is not None:
                raise ValueError("prefetch_factor needs worker processes: set num_workers > 0, or leave it None")
            if self.persistent_workers:
                raise ValueError("persistent_workers option needs num_workers > 0")
            if self.multiprocessing_context is not None:
                raise ValueError("multiprocessing_context needs worker processes: set num_workers > 0")
        elif self.prefetch_factor < 1:
            raise ValueError(f"prefetch_factor should be positive, got {self.prefetch_factor}")

    def _check_order(self, batch_size, shuffle, sampler, batch_sampler, drop_last) -> None:
        if isinstance(self.dataset, IterableDataset):
            for name, value in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if value not in (None, False):
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
        if batch_sampler is None and batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")

    def _make_sampler(self, shuffle: bool | None):
        if isinstance(self.dataset, IterableDataset):
            return _Endless()
        return RandomSampler(self.dataset, generator=self.generator) if shuffle else SequentialSampler(self.dataset)

    def __setattr__(self, name: str, value) -> None:
        if self._ready and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator:
        keys = self.sampler if self.batch_sampler is None else self.batch_sampler
        if self.num_workers == 0:
            return self._iterate_here(keys, self._draw_seed())
        from .workers import WorkerPool

        if not self.persistent_workers:
            return WorkerPool(self, self._draw_seed()).run(iter(keys))
        if self._workers is None or self._workers.closed:
            self._workers = WorkerPool(self, self._draw_seed())
        return self._workers.run(iter(keys))

    def _draw_seed(self) -> int:
        """The base of the workers' seeds: drawn before the order, and without workers too, so that orders agree."""
        return random_int64(self.generator)

    def _iterate_here(self, keys: Iterable, seed: int) -> Iterator:
        fetch = make_fetcher(self.dataset, self.batch_sampler is not None, self.collate_fn, self.drop_last)
        return _Batches(iter(keys), fetch)

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        samples = len(self.dataset)
        if self.batch_size is None:
            return samples
        return samples // self.batch_size if self.drop_last else -(-samples // self.batch_size)


class _Batches:
    """Batches fetched in this process."""

    def __init__(self, keys: Iterator, fetch: Callable):
        self.keys, self.fetch = keys, fetch

    def __iter__(self) -> _Batches:
        return self

    def __next__(self):
        return self.fetch(next(self.keys))
