"""Tensors that are sent between processes lie in shared memory: what one writes the others read."""

import errno
import gc
import os
import pathlib
import pickle
import resource
import signal
import subprocess
import sys
import time
from itertools import pairwise
from multiprocessing.reduction import ForkingPickler

import numpy
import pytest

import rushlight as rl
import rushlight.multiprocessing as mp
from rushlight import nn
from rushlight.interop import segments

FORK = mp.get_context("fork")


@pytest.fixture(params=["file_descriptor", "file_system"])
def strategy(request):
    mp.set_sharing_strategy(request.param)
    yield request.param
    mp.set_sharing_strategy("file_descriptor")


def sent(value):
    """What a receiver in this process gets."""
    return pickle.loads(ForkingPickler.dumps(value))


def segments_here() -> int:
    """How many segments this process has mapped, and files of them that have a name."""
    gc.collect()
    maps = pathlib.Path("/proc/self/maps").read_text()
    return maps.count("memfd:rushlight") + maps.count("/dev/shm/rushlight_")


def files_of(pid: int) -> list[str]:
    return [name for name in os.listdir("/dev/shm") if name.startswith(f"rushlight_{pid}_")]


def test_what_is_sent_shares_memory(strategy):
    x = rl.arange(6.0).reshape(2, 3)
    y = sent(x)
    assert x.is_shared() and y.is_shared() and y.stride() == x.stride()
    x[0, 0] = 7
    assert y[0, 0] == 7 and sent(y)._storage is x._storage


DTYPES = (
    """bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64 complex64 complex128"""
)


@pytest.mark.parametrize("name", DTYPES.split())
def test_dtypes(name):
    x = rl.tensor([0, 1, 2]).to(getattr(rl, name))
    y = sent(x[1:])
    assert y.dtype is x.dtype and y.tolist() == x[1:].tolist() and y.data_ptr() == x[1:].data_ptr()


TENSORS = {
    "number": lambda: rl.tensor(3.0),
    "empty": lambda: rl.zeros(0, 3),
    "transposed": lambda: rl.rand(3, 4).T[1:, ::2],
    "expanded": lambda: rl.rand(3, 1).expand(3, 4),
    "conjugate": lambda: rl.rand(3, dtype=rl.complex64).conj(),
    "of NumPy": lambda: rl.from_numpy(numpy.arange(3.0)),
    "leaf": lambda: rl.rand(3, requires_grad=True),
    "parameter": lambda: nn.Parameter(rl.rand(3)),
    "frozen": lambda: nn.Parameter(rl.rand(3), requires_grad=False),
    "large": lambda: rl.rand(100_000),
}


@pytest.mark.parametrize("make", TENSORS.values(), ids=TENSORS)
def test_kinds_of_tensors(make, strategy):
    x = make()
    y = sent(x)
    assert type(y) is type(x) and y.requires_grad == x.requires_grad and y.stride() == x.stride()
    assert y.equal(x) and y.data_ptr() == x.data_ptr() and y.is_conj() == x.is_conj() and y.is_shared()


def test_attributes_go_along():
    x = rl.ones(2)
    x.title = "weights"
    assert sent(x).title == "weights"


def test_results_of_recorded_ops_are_refused():
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        ForkingPickler.dumps(rl.ones(2, requires_grad=True) * 2)
    assert sent((rl.ones(2, requires_grad=True) * 2).detach()).tolist() == [2, 2]


def test_views_share_in_the_receiver():
    x = rl.arange(4)
    looked_at = x.numpy()
    a, b, whole = sent((x[:3], x[2:], x))
    a[2] = 9
    assert b[0] == whole[2] == x[2] == 9 and a._storage is b._storage
    assert looked_at.tolist() == [0, 1, 2, 3]  # what NumPy saw before stays


def test_a_tensor_that_can_not_take_others_along_moves_alone():
    x = rl.arange(4.0)
    alias = x.data
    y = sent(x)
    x[0] = 5
    assert y[0] == 5 and alias.tolist() == [0, 1, 2, 3] and not alias.is_shared()


def test_data_of_a_parameter_is_shared_with_it():
    p = nn.Parameter(rl.zeros(2))
    sent(p.data).fill_(3)
    assert p.tolist() == [3, 3] and p.is_shared()


def test_tied_parameters_stay_tied():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    copy = sent(model)
    assert copy[1].weight is copy[0].weight
    copy[0].weight.data.fill_(1)
    assert model[1].weight.tolist() == [[1, 1], [1, 1]]


def test_sparse_tensors_share_their_parts():
    for x in (rl.eye(3).to_sparse(), rl.eye(3).to_sparse_csr()):
        y = sent(x)
        x.values().fill_(5)
        assert y.layout == x.layout and y.to_dense().tolist() == (rl.eye(3) * 5).tolist()


def test_quantized_tensors_are_copied():
    x = rl.quantize_per_tensor(rl.arange(3.0), 0.5, 2, rl.quint8)
    y = sent(x)
    x.copy_(rl.zeros(3))
    assert y.dequantize().tolist() == [0, 1, 2] and y.q_zero_point() == 2
    with pytest.raises(NotImplementedError, match="quantized tensors are copied"):
        x.share_memory_()


def test_storages():
    x = rl.arange(3.0)
    bytes_, typed = sent(x.untyped_storage()), sent(rl.FloatStorage(x.untyped_storage()))
    bytes_.fill_(0)
    assert x.tolist() == typed.tolist() == [0, 0, 0] and typed.dtype is rl.float32
    assert rl.UntypedStorage._new_shared(8).is_shared()
    fresh = rl.DoubleStorage([1.0])._new_shared(4)
    assert fresh.is_shared() and fresh.size() == 4 and fresh.dtype is rl.float64


def test_pickles_and_copies_for_others_stay_whole():
    import copy

    x = rl.arange(3.0).share_memory_()
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), x.clone()):
        assert y.tolist() == [0, 1, 2] and not y.is_shared()


def test_small_tensors_lie_in_few_segments():
    before = segments_here()
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(50))).share_memory()
    assert segments_here() <= before + 1 and all(p.is_shared() for p in model.parameters())
    starts = sorted((p.data_ptr(), p.nbytes) for p in model.parameters())
    assert all(a + n <= b for (a, n), (b, _) in pairwise(starts)) and starts[0][0] % 64 == 0


# -- several processes ------------------------------------------------------------------------------
def answer(inbox, outbox):
    for x in iter(inbox.get, None):
        x += 1
        outbox.put((x, x[1:], rl.full((100_000,), float(x[0]))))


def test_queues_of_forked_processes(strategy):
    inbox, outbox = FORK.Queue(), FORK.Queue()
    process = FORK.Process(target=answer, args=(inbox, outbox))
    process.start()
    x = rl.zeros(3)
    inbox.put(x)
    inbox.put(None)
    time.sleep(0.1)  # the process has sent all it has: it stays until that is received
    y, view, fresh = outbox.get(timeout=10)
    process.join(10)
    assert process.exitcode == 0 and x.tolist() == [1, 1, 1]
    view.fill_(4)
    assert y.tolist() == x.tolist() == [1, 4, 4] and fresh.sum() == 100_000


def test_nothing_is_left(strategy):
    before, files = segments_here(), len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        x = rl.zeros(100_000)
        ours, theirs = FORK.Pipe()
        process = FORK.Process(target=lambda end: end.send(end.recv().add_(1)), args=(theirs,))
        process.start()
        ours.send(x)
        assert ours.recv()._storage is x._storage and x[5] == 1
        process.join()
        del x, ours, theirs, process
    assert segments_here() <= before + 1 and len(os.listdir("/proc/self/fd")) <= files + 6
    assert len(files_of(os.getpid())) <= 2  # those of small tensors


def send_and_wait(outbox):
    outbox.put(rl.ones(100_000))
    time.sleep(60)


def test_a_killed_sender_takes_nothing_away(strategy):
    before, outbox = segments_here(), FORK.Queue()
    process = FORK.Process(target=send_and_wait, args=(outbox,))
    process.start()
    x = outbox.get(timeout=10)
    process.kill()
    process.join()
    assert x.sum() == 100_000
    x.fill_(2)
    del x
    assert segments_here() == before
    if strategy == "file_system":  # its count stays until the program ends
        for name in files_of(process.pid):
            segments._count(name, -1)


def test_files_of_killed_processes_go_with_the_program():
    code = """
import os, time, rushlight as rl, rushlight.multiprocessing as mp
mp.set_sharing_strategy("file_system")
def child(queue):
    queue.put(rl.ones(100_000))
    time.sleep(60)
queue = mp.get_context("fork").Queue()
process = mp.get_context("fork").Process(target=child, args=(queue,))
process.start()
x = queue.get()
process.kill()
process.join()
print(os.getpid(), process.pid, x.sum().item(), flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    *pids, total = done.stdout.split()
    assert total == "100000.0"
    for _ in range(100):
        if not any(files_of(int(pid)) for pid in pids):
            return
        time.sleep(0.05)
    pytest.fail("files are left in /dev/shm")


def put_and_vanish(outbox):
    outbox.put(rl.ones(3))
    outbox.close()
    outbox.join_thread()
    os._exit(0)


def test_a_sender_that_ended_is_named():
    outbox = FORK.Queue()
    process = FORK.Process(target=put_and_vanish, args=(outbox,))
    process.start()
    process.join()
    with pytest.raises(RuntimeError, match="the process that sent it has ended"):
        outbox.get(timeout=10)


def work_on_slices(x):
    return x * 2


def test_pools_return_tensors():
    with FORK.Pool(2) as pool:
        assert [y.tolist() for y in pool.map(work_on_slices, rl.arange(4).split(2))] == [[0, 2], [4, 6]]


def train(model, seed):
    rl.set_num_threads(1)
    rl.manual_seed(seed)
    optimizer = rl.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(150):
        x = rl.randn(32, 2)
        optimizer.zero_grad()
        ((model(x) - x.sum(1, keepdim=True) * 3) ** 2).mean().backward()
        optimizer.step()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_train_one_model(method):
    context = mp.get_context(method)
    model = nn.Linear(2, 1).share_memory()
    processes = [context.Process(target=train, args=(model, seed)) for seed in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert model.weight.detach().allclose(rl.full((1, 2), 3.0), atol=0.05)


def test_a_forked_child_does_not_write_where_its_parent_will():
    outbox = FORK.Queue()
    ours = rl.zeros(10).share_memory_()
    process = FORK.Process(target=lambda: outbox.put(rl.full((10,), 5.0)))
    process.start()
    theirs = outbox.get(timeout=10)
    later = rl.full((10,), 7.0).share_memory_()
    assert ours.sum() == 0 and theirs.sum() == 50 and later.sum() == 70
    process.join()


# -- limits -----------------------------------------------------------------------------------------
def test_no_room_in_the_file_system(monkeypatch):
    def full(descriptor, offset, size):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(segments, "strategy", "file_system")
    monkeypatch.setattr(os, "posix_fallocate", full)
    before, x = files_of(os.getpid()), rl.ones(100_000)
    with pytest.raises(RuntimeError, match=r"No space left on device; /dev/shm has \d+ bytes left.*'file_descriptor'"):
        x.share_memory_()
    assert x.sum() == 100_000 and files_of(os.getpid()) == before


def test_no_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 8, hard))
    try:
        with pytest.raises(RuntimeError, match=r"Too many open files; raise the limit.*'file_system'"):
            held = [rl.zeros(20_000).share_memory_() for _ in range(20)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert "held" not in locals() and rl.zeros(20_000).share_memory_().is_shared()


def test_memory_that_no_system_has():
    with pytest.raises(RuntimeError, match=r"unable to make \d+ bytes of shared memory: .*"):
        segments.shared_room(1 << 60)


def test_strategies():
    assert mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    assert mp.get_sharing_strategy() == "file_descriptor"
    with pytest.raises(AssertionError, match="invalid sharing strategy 'x'"):
        mp.set_sharing_strategy("x")


def test_the_standard_names_are_there():
    import multiprocessing

    assert all(getattr(mp, name) is getattr(multiprocessing, name) for name in multiprocessing.__all__)
    assert mp.queue.Queue and mp.pool.Pool and set(mp.__all__) <= set(dir(mp))


def test_an_interrupted_program_leaves_nothing():
    code = """
import os, time, rushlight as rl, rushlight.multiprocessing as mp
mp.set_sharing_strategy("file_system")
x = rl.ones(3).share_memory_()
print(os.getpid(), flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        pid = int(process.stdout.readline())
        assert len(files_of(pid)) == 1
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert files_of(pid) == []
