"""Samplers: which keys, how many, and the same orders as PyTorch for equal seeds."""

import pytest

import rushlight
from rushlight.data import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

TEN = range(10)


def test_in_order():
    assert list(SequentialSampler(TEN)) == list(TEN) and len(SequentialSampler(TEN)) == 10


def test_random_order():
    sampler = RandomSampler(TEN)
    first, second = list(sampler), list(sampler)
    assert sorted(first) == list(TEN) and first != second
    assert len(list(RandomSampler(TEN, num_samples=25))) == 25 == len(RandomSampler(TEN, num_samples=25))
    drawn = list(RandomSampler(TEN, replacement=True, num_samples=70))
    assert len(drawn) == 70 and set(drawn) <= set(TEN)


def test_subset_and_weights():
    assert sorted(SubsetRandomSampler([3, 5, 9])) == [3, 5, 9]
    drawn = list(WeightedRandomSampler([0.0, 1.0, 0.0, 3.0], 40))
    assert len(drawn) == 40 and set(drawn) == {1, 3}
    assert sorted(WeightedRandomSampler([1.0, 1.0, 1.0], 3, replacement=False)) == [0, 1, 2]


def test_batches():
    assert list(BatchSampler(TEN, 4, False)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert list(BatchSampler(TEN, 4, True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert len(BatchSampler(TEN, 4, False)) == 3 and len(BatchSampler(TEN, 4, True)) == 2


def test_distributed():
    parts = [DistributedSampler(TEN, 4, rank, shuffle=False) for rank in range(4)]
    assert [list(part) for part in parts] == [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]
    dropped = [list(DistributedSampler(TEN, 4, rank, drop_last=True)) for rank in range(4)]
    assert all(len(part) == 2 for part in dropped) and len({i for part in dropped for i in part}) == 8
    sampler = DistributedSampler(TEN, 2, 0)
    first = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != first
    with pytest.raises(ValueError):
        DistributedSampler(TEN, 2, 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: RandomSampler([]),
        lambda: RandomSampler(TEN, num_samples=0),
        lambda: RandomSampler(TEN, num_samples=-1),
        lambda: WeightedRandomSampler([1.0], 0),
        lambda: WeightedRandomSampler([[1.0]], 1),
        lambda: WeightedRandomSampler([1.0], True),
        lambda: BatchSampler(TEN, 0, False),
        lambda: BatchSampler(TEN, 1.5, False),
        lambda: BatchSampler(TEN, 1, 1),
    ],
)
def test_wrong_options(make):
    with pytest.raises(ValueError):
        make()


def test_orders_equal_pytorch():
    torch = pytest.importorskip("torch")
    from torch.utils import data

    def orders(module, room):
        module.manual_seed(7)
        generator = module.Generator()
        generator.manual_seed(3)
        found = [list(room.RandomSampler(range(100))) for _ in range(2)]
        found.append(list(room.RandomSampler(range(100), generator=generator)))
        found.append(list(room.RandomSampler(range(10), num_samples=23)))
        found.append(list(room.RandomSampler(range(10), replacement=True, num_samples=50)))
        found.append(list(room.SubsetRandomSampler(list(range(5, 50)), generator=generator)))
        found.append(list(room.WeightedRandomSampler([1.0, 2.0, 3.0], 20)))
        found.append(list(room.WeightedRandomSampler([1.0, 2.0, 3.0], 3, replacement=False)))
        found.append(room.random_split(range(20), [12, 8])[0].indices)
        found.append(list(room.DistributedSampler(range(30), 3, 1, seed=5)))
        loader = room.DataLoader(range(20), batch_size=6, shuffle=True)
        found += [batch.tolist() for _ in range(2) for batch in loader]
        return found

    assert orders(rushlight, rushlight.data) == orders(torch, data)
