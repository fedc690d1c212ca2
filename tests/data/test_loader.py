"""`DataLoader` without workers: batches, options, errors."""

import subprocess
import sys

import pytest

import rushlight
from rushlight.data import DataLoader, IterableDataset, TensorDataset

X, Y = rushlight.arange(20).view(10, 2), rushlight.arange(10)


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(7))


def test_batches():
    loader = DataLoader(TensorDataset(X, Y), batch_size=4)
    batches = list(loader)
    assert len(loader) == 3 and [len(y) for _, y in batches] == [4, 4, 2]
    assert batches[1][0].tolist() == X[4:8].tolist() and isinstance(batches[0], list)
    assert len(DataLoader(TensorDataset(X), batch_size=4, drop_last=True)) == 2
    assert [len(b) for b in DataLoader(range(10), 4, drop_last=True)] == [4, 4]


def test_shuffled():
    rushlight.manual_seed(0)
    loader = DataLoader(TensorDataset(Y), batch_size=3, shuffle=True)
    first = [i for (y,) in loader for i in y.tolist()]
    second = [i for (y,) in loader for i in y.tolist()]
    assert sorted(first) == sorted(second) == list(range(10)) and first != second
    rushlight.manual_seed(0)
    assert [i for (y,) in loader for i in y.tolist()] == first


def test_own_generator():
    rushlight.manual_seed(0)
    before = rushlight.get_rng_state().tolist()
    generator = rushlight.Generator().manual_seed(1)
    list(DataLoader(range(5), shuffle=True, generator=generator))
    assert rushlight.get_rng_state().tolist() == before


def test_single_samples():
    assert list(DataLoader(range(3), batch_size=None)) == [0, 1, 2]
    assert list(DataLoader(Stream(), batch_size=None)) == list(range(7))


def test_streams():
    assert [b.tolist() for b in DataLoader(Stream(), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [b.tolist() for b in DataLoader(Stream(), 3, drop_last=True)] == [[0, 1, 2], [3, 4, 5]]


def test_own_collate_and_samplers():
    assert list(DataLoader(range(4), 2, collate_fn=tuple)) == [(0, 1), (2, 3)]
    assert [b.tolist() for b in DataLoader(range(9), 2, sampler=[8, 1, 5])] == [[8, 1], [5]]
    assert [b.tolist() for b in DataLoader(range(9), batch_sampler=[[8], [1, 5]])] == [[8], [1, 5]]


def test_whole_batches_from_the_dataset():
    class Whole:
        def __len__(self):
            return 4

        def __getitems__(self, indices):
            return [i * 10 for i in indices]

    assert [b.tolist() for b in DataLoader(Whole(), 2)] == [[0, 10], [20, 30]]


def test_a_changed_dataset_class_is_respected():
    class Negative(TensorDataset):
        def __getitem__(self, i):
            return -self.tensors[0][i]

    assert [b.tolist() for b in DataLoader(Negative(Y), 5)] == [[0, -1, -2, -3, -4], [-5, -6, -7, -8, -9]]


def test_errors_pass_through():
    class Broken:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        list(DataLoader(Broken()))


@pytest.mark.parametrize(
    "options",
    [
        {"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"persistent_workers": True},
        {"multiprocessing_context": "fork"}, {"num_workers": 1, "prefetch_factor": 0},
        {"sampler": [0], "shuffle": True}, {"batch_sampler": [[0]], "batch_size": 2},
        {"batch_sampler": [[0]], "shuffle": True}, {"batch_size": None, "drop_last": True}, {"batch_size": 0},
    ],
    ids=str,
)  # fmt: skip
def test_options_that_exclude_each_other(options):
    with pytest.raises(ValueError):
        DataLoader(range(3), **options)


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}], ids=str)
def test_streams_have_no_keys(options):
    with pytest.raises(ValueError, match="IterableDataset"):
        DataLoader(Stream(), **options)


def test_options_are_fixed():
    loader = DataLoader(range(3))
    with pytest.raises(ValueError, match="batch_size attribute should not be set"):
        loader.batch_size = 5


def test_nothing_heavy_is_imported():
    code = (
        "import sys, rushlight\n"
        "for batch in rushlight.utils.data.DataLoader(range(3)): pass\n"
        "print(*[m for m in ('numpy', 'llvmlite', 'multiprocessing') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "numpy" not in run.stdout and "multiprocessing" not in run.stdout
