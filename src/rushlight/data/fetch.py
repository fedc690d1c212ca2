"""Fetching a batch: from keys, or the next ones of a stream. The same in the main process and in workers."""

from __future__ import annotations

import itertools

from .collate import default_collate
from .dataset import IterableDataset, gathers


class MapFetcher:
    """Batches of a dataset with keys."""

    def __init__(self, dataset, batched: bool, collate):
        self.dataset, self.batched, self.collate = dataset, batched, collate
        self.gathers = batched and collate is default_collate and gathers(dataset)

    def __call__(self, keys):
        if not self.batched:
            return self.collate(self.dataset[keys])
        if self.gathers:
            return self.dataset.collated(keys)
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.collate(self.dataset.__getitems__(keys))
        return self.collate([self.dataset[key] for key in keys])


class StreamFetcher:
    """Batches of a stream; the keys only say how many samples to take. StopIteration at its end."""

    def __init__(self, dataset, batched: bool, collate, drop_last: bool):
        self.samples = iter(dataset)
        self.batched, self.collate, self.drop_last = batched, collate, drop_last

    def __call__(self, keys):
        if not self.batched:
            return self.collate(next(self.samples))
        batch = list(itertools.islice(self.samples, len(keys)))
        if not batch or (self.drop_last and len(batch) < len(keys)):
            raise StopIteration
        return self.collate(batch)


def make_fetcher(dataset, batched: bool, collate, drop_last: bool):
    """The fetcher for a kind of dataset."""
    if isinstance(dataset, IterableDataset):
        return StreamFetcher(dataset, batched, collate, drop_last)
    return MapFetcher(dataset, batched, collate)
