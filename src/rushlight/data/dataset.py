"""Datasets: what a `DataLoader` draws samples from."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from .. import ops
from ..core import Tensor

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """A map from keys (usually 0 ... len - 1) to samples.

    Subclasses define `__getitem__`, and `__len__` for most samplers; `__getitems__(indices)`, if there, fetches a whole
    batch of samples at once.
    """

    def __getitem__(self, index) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """A stream of samples: subclasses define `__iter__`.

    With worker processes each has a copy of the dataset; use `get_worker_info` to give each its share.
    """

    def __add__(self, other: Dataset[T_co]) -> ChainDataset:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Samples are the slices along dim 0 of several tensors of equal length."""

    def __init__(self, *tensors: Tensor):
        if any(tensor.shape[0] != tensors[0].shape[0] for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]

    def collated(self, indices: Sequence[int]) -> list[Tensor]:
        """What `default_collate` makes of the samples at these indices, gathered at once."""
        indices = ops.tensor([int(i) for i in indices])
        return [tensor.index_select(0, indices) for tensor in self.tensors]


class StackDataset(Dataset):
    """Samples are tuples (or with keywords dictionaries) of the samples of several datasets of equal length."""

    def __init__(self, *args: Dataset, **kwargs: Dataset):
        if bool(args) == bool(kwargs):
            if args:
                raise ValueError(
                    "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output"
                )
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        parts = list(args or kwargs.values())
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Datasets one after another."""

    def __init__(self, datasets: Iterable[Dataset]):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int):
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        start = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - start]


class ChainDataset(IterableDataset):
    """Streams one after another."""

    def __init__(self, datasets: Iterable[Dataset]):
        super().__init__()
        self.datasets = datasets

    def __iter__(self) -> Iterator:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset[T_co]):
    """The samples of a dataset at given indices."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list:
        own = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(own)
        return [self.dataset[i] for i in own]

    def __len__(self) -> int:
        return len(self.indices)

    def collated(self, indices: Sequence[int]) -> list[Tensor]:
        """See `TensorDataset.collated`."""
        return self.dataset.collated([self.indices[i] for i in indices])


def gathers(dataset: Dataset) -> bool:
    """Whether `dataset.collated(indices)` gives what collating its samples one by one gives."""
    kind = type(dataset)
    if isinstance(dataset, Subset):
        plain = kind.__getitem__ is Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__
        return plain and gathers(dataset.dataset)
    plain = isinstance(dataset, TensorDataset) and kind.__getitem__ is TensorDataset.__getitem__
    return plain and not hasattr(dataset, "__getitems__") and all(type(t) is Tensor for t in dataset.tensors)


def random_split(dataset: Dataset, lengths: Sequence[int | float], generator=None) -> list[Subset]:
    """Splits a dataset at random into subsets of the given lengths, or of shares that sum to 1.

    What rounding leaves of the shares goes one each to the first subsets. The order comes from `generator`, or from the
    default one.
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths_of_shares(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = ops.randperm(sum(lengths), generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths)]


def _lengths_of_shares(total: int, shares: Sequence[float]) -> list[int]:
    if any(not 0 <= share <= 1 for share in shares):
        raise ValueError("Fractions in lengths must be between 0 and 1")
    lengths = [math.floor(total * share) for share in shares]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    if 0 in lengths:
        warnings.warn(
            f"Length of split at index {lengths.index(0)} is 0. This might result in an empty dataset.", stacklevel=3
        )
    return lengths
