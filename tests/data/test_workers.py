"""Worker processes: order, seeds, shared memory, errors, deaths, time limits, ends."""

import collections
import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

import pytest

import rushlight
from rushlight.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info

Point = collections.namedtuple("Point", ("x", "y"))


class Items(Dataset):
    """Sample i is `function(i)`."""

    def __init__(self, function, n=10):
        self.function, self.n = function, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.function(i)


def tolists(batches):
    return [batch.tolist() for batch in batches]


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    gc.collect()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("workers", [1, 3])
def test_the_same_batches_as_without_workers(workers):
    dataset = TensorDataset(rushlight.randn(23, 3), rushlight.arange(23))
    rushlight.manual_seed(5)
    expected = list(DataLoader(dataset, 4, shuffle=True))
    rushlight.manual_seed(5)
    result = list(DataLoader(dataset, 4, shuffle=True, num_workers=workers))
    assert [[t.tolist() for t in batch] for batch in result] == [[t.tolist() for t in batch] for batch in expected]


def test_structures_and_dtypes_travel():
    def sample(i):
        return {"p": Point(rushlight.ones(2, dtype=rushlight.bfloat16) * i, i), "text": f"number {i}", "none": [2.5]}

    for batch in DataLoader(Items(sample, 4), 2, num_workers=1):
        assert isinstance(batch["p"], Point) and batch["p"].x.dtype is rushlight.bfloat16
        first = batch["p"].y.tolist()[0]
        assert batch["p"].x.tolist() == [[first] * 2, [first + 1] * 2]
        assert batch["text"] == [f"number {first}", f"number {first + 1}"] and batch["none"][0].tolist() == [2.5, 2.5]


def test_empty_and_large_tensors():
    def sample(i):
        return rushlight.full((300, 300), float(i)), rushlight.ones(0, 2), rushlight.ones(4, 3).t()

    for i, (large, empty, transposed) in enumerate(DataLoader(Items(sample, 3), 2, num_workers=1)):
        assert large.shape[1:] == (300, 300) and large[0, 5, 5].item() == 2.0 * i
        assert empty.shape[1:] == (0, 2) and transposed.shape[1:] == (3, 4)


def test_memory_is_reused_and_batches_stay_what_they_are():
    loader = DataLoader(Items(lambda i: rushlight.full((1000,), float(i)), 40), None, num_workers=1)
    addresses, kept = set(), []
    for i, value in enumerate(loader):
        addresses.add(value.data_ptr())
        if i % 10 == 0:
            kept.append(value)
        del value
    assert len(addresses) < 20
    assert [value[0].item() for value in kept] == [0.0, 10.0, 20.0, 30.0]
    gc.collect()
    assert [value.sum().item() for value in kept] == [0.0, 10000.0, 20000.0, 30000.0]


def test_results_can_be_written_to():
    (batch,) = DataLoader(range(3), 3, num_workers=1)
    batch += 1
    assert batch.tolist() == [1, 2, 3]


def test_seeds_and_info():
    def sample(i):
        info = get_worker_info()
        return info.id, info.num_workers, info.seed, rushlight.initial_seed(), random.random(), len(info.dataset)

    loader = DataLoader(Items(sample, 4), None, num_workers=2)
    rushlight.manual_seed(0)
    first = list(loader)
    rushlight.manual_seed(0)
    assert first == list(loader) and first != list(loader)
    assert [s[0] for s in first] == [0, 1, 0, 1] and {s[1] for s in first} == {2} and {s[5] for s in first} == {4}
    assert first[1][2] == first[0][2] + 1 and all(s[2] == s[3] for s in first)
    assert first[0][4] != first[1][4] and get_worker_info() is None


def test_worker_init():
    def init(number):
        os.environ["WORKER_NUMBER"] = str(number)

    loader = DataLoader(Items(lambda i: os.environ["WORKER_NUMBER"], 4), None, num_workers=2, worker_init_fn=init)
    assert list(loader) == ["0", "1", "0", "1"]


def test_an_error_in_worker_init():
    def init(number):
        raise ValueError("no good start")

    with pytest.raises(ValueError, match="no good start"):
        list(DataLoader(range(3), num_workers=1, worker_init_fn=init))


class Share(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        return iter(range(info.id, self.n, info.num_workers))


def test_streams():
    assert sorted(i for b in DataLoader(Share(11), 2, num_workers=3) for i in b.tolist()) == list(range(11))
    assert tolists(DataLoader(Share(7), 2, num_workers=2)) == [[0, 2], [1, 3], [4, 6], [5]]
    assert tolists(DataLoader(Share(7), 2, num_workers=2, drop_last=True)) == [[0, 2], [1, 3], [4, 6]]


def test_out_of_order():
    def sample(i):
        time.sleep(0.3 if i == 0 else 0.0)
        return i

    loader = DataLoader(Items(sample, 8), None, num_workers=2, in_order=False)
    result = list(loader)
    assert sorted(result) == list(range(8)) and result[0] != 0
    assert list(DataLoader(Items(sample, 8), None, num_workers=2)) == list(range(8))


def failing(i):
    if i == 2:
        raise KeyError("third")
    return i


def test_errors_carry_their_traceback():
    iterator = iter(DataLoader(Items(failing, 4), None, num_workers=1))
    assert [next(iterator), next(iterator)] == [0, 1]
    with pytest.raises(KeyError) as caught:
        next(iterator)
    text = str(caught.value)
    assert "Caught KeyError in DataLoader worker process 0" in text and "in failing" in text and "'third'" in text
    assert list(iterator) == [3]


class Odd(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def test_errors_that_can_not_be_made_anew():
    def sample(i):
        raise Odd(1, 2)

    with pytest.raises(RuntimeError, match="Caught Odd in DataLoader worker process 0"):
        list(DataLoader(Items(sample), num_workers=1))


def test_results_that_can_not_be_pickled():
    with pytest.raises(RuntimeError, match="pickle"):
        list(DataLoader(Items(lambda i: lambda: i, 2), None, num_workers=1))


def test_a_killed_worker_is_noticed():
    def sample(i):
        if i == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return i

    started = time.monotonic()
    with pytest.raises(RuntimeError, match=r"worker 0 \(pid \d+\) is killed by signal: Killed"):
        list(DataLoader(Items(sample, 3), None, num_workers=1))
    with pytest.raises(RuntimeError, match="exited unexpectedly with exit code 3"):
        list(DataLoader(Items(lambda i: os._exit(3), 3), None, num_workers=2))
    assert time.monotonic() - started < 5


def test_a_time_limit():
    started = time.monotonic()
    with pytest.raises(RuntimeError, match=r"timed out after 0\.2 seconds"):
        list(DataLoader(Items(lambda i: time.sleep(1), 2), None, num_workers=1, timeout=0.2))
    assert time.monotonic() - started < 4


def test_an_abandoned_pass_ends_its_workers():
    loader = DataLoader(range(100), num_workers=2)
    for _ in loader:
        break
    iterator = iter(loader)
    next(iterator)
    del iterator
    gc.collect()
    assert multiprocessing.active_children() == []


def test_persistent_workers():
    loader = DataLoader(Items(lambda i: os.getpid(), 4), None, num_workers=2, persistent_workers=True)
    first = list(loader)
    for _ in loader:
        break  # what is still on its way must not disturb the next pass
    assert list(loader) == first and len(set(first)) == 2
    numbers = DataLoader(Items(lambda i: i, 9), 2, num_workers=2, persistent_workers=True, prefetch_factor=3)
    for _ in range(3):
        next(iter(numbers))
    assert tolists(numbers) == [[0, 1], [2, 3], [4, 5], [6, 7], [8]]
    loader._workers.close()
    numbers._workers.close()


def test_persistent_streams_start_anew():
    loader = DataLoader(Share(6), 2, num_workers=2, persistent_workers=True)
    assert tolists(loader) == tolists(loader) == [[0, 2], [1, 3], [4], [5]]
    loader._workers.close()


def plus_one(i):
    return rushlight.full((2,), float(i + 1))


@pytest.mark.parametrize("context", ["spawn", multiprocessing.get_context("fork")], ids=["spawn", "fork"])
def test_contexts(context):
    loader = DataLoader(Items(plus_one, 3), None, num_workers=1, multiprocessing_context=context)
    assert tolists(loader) == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]


def test_workers_after_threads():
    """Processes made after the parent's threads have run compute on their own."""
    a = rushlight.randn(300, 300)
    expected = (a @ a).sum().item()
    result = list(DataLoader(Items(lambda i: (a @ a).sum(), 2), None, num_workers=2))
    assert [r.item() for r in result] == pytest.approx([expected] * 2, rel=1e-3)


def test_ctrl_c_ends_everything():
    code = (
        "import time, rushlight\n"
        "class Slow:\n"
        "    def __len__(self): return 1000\n"
        "    def __getitem__(self, i):\n"
        "        time.sleep(0.05)\n"
        "        return i\n"
        "for i, batch in enumerate(rushlight.utils.data.DataLoader(Slow(), num_workers=2)):\n"
        "    print(i, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "0\n"
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert errors.count("Traceback") == 1 and errors.rstrip().endswith("KeyboardInterrupt")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_workers_end_when_the_main_process_is_killed():
    """Forked workers hold each other's pipes, so no end of file tells them."""
    code = (
        "import rushlight, sys, time\n"
        "loader = rushlight.utils.data.DataLoader(range(6), num_workers=2, persistent_workers=True)\n"
        "batches = iter(loader)\n"
        "next(batches)\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)
    while process.stdout.readline() != "ready\n":
        assert process.poll() is None
    process.kill()
    process.wait()
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("workers outlived the main process")
