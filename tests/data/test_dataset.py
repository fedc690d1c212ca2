"""Datasets, their combinations and random splits."""

import pytest

import rushlight
from rushlight.data import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    default_collate,
    random_split,
)


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i * i


class Stream(IterableDataset):
    def __init__(self, *values):
        self.values = values

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)


def test_tensor_dataset():
    dataset = TensorDataset(rushlight.arange(6).view(3, 2), rushlight.arange(3))
    assert len(dataset) == 3 and [t.tolist() for t in dataset[1]] == [[2, 3], 1]
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(rushlight.ones(2), rushlight.ones(3))


def test_gathering_equals_collating():
    dataset = Subset(TensorDataset(rushlight.randn(9, 2, 3), rushlight.arange(9)), [8, 1, 4, 4])
    expected = default_collate([dataset[i] for i in (3, 0, 1)])
    result = dataset.collated([3, 0, 1])
    assert type(result) is type(expected) and [t.tolist() for t in result] == [t.tolist() for t in expected]
    assert [t.dtype for t in result] == [t.dtype for t in expected]


def test_concatenation():
    both = Squares(3) + Squares(4)
    assert isinstance(both, ConcatDataset) and len(both) == 7
    assert [both[i] for i in (0, 2, 3, 6, -1)] == [0, 4, 0, 9, 9]
    with pytest.raises(ValueError):
        both[-8]
    with pytest.raises(AssertionError):
        ConcatDataset([])
    with pytest.raises(AssertionError):
        ConcatDataset([Stream(1)])


def test_chained_streams():
    chain = Stream(1, 2) + Stream(3)
    assert isinstance(chain, ChainDataset) and list(chain) == [1, 2, 3] and len(chain) == 3


def test_stacked_datasets():
    assert StackDataset(Squares(3), Squares(3))[2] == (4, 4)
    named = StackDataset(a=Squares(3), b=Squares(3))
    assert named[1] == {"a": 1, "b": 1} and len(named) == 3
    with pytest.raises(ValueError):
        StackDataset(Squares(2), Squares(3))
    with pytest.raises(ValueError):
        StackDataset()


def test_subset():
    subset = Subset(Squares(10), [9, 5, 2])
    assert len(subset) == 3 and subset[0] == 81 and subset.__getitems__([2, 1]) == [4, 25]


def test_random_split():
    parts = random_split(Squares(10), [7, 3], generator=rushlight.Generator().manual_seed(42))
    assert [len(part) for part in parts] == [7, 3]
    assert sorted(i for part in parts for i in part.indices) == list(range(10))
    again = random_split(Squares(10), [7, 3], generator=rushlight.Generator().manual_seed(42))
    assert [p.indices for p in again] == [p.indices for p in parts]


def test_random_split_of_shares():
    assert [len(part) for part in random_split(Squares(10), [0.25, 0.25, 0.5])] == [3, 2, 5]
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        random_split(Squares(1), [0.9, 0.1])
    for lengths in ([5, 6], [0.5, 0.6], [-0.5, 1.5]):
        with pytest.raises(ValueError):
            random_split(Squares(10), lengths)


def test_abstract_dataset():
    with pytest.raises(NotImplementedError):
        Dataset()[0]
