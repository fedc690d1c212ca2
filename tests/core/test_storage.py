"""Memory: the caching allocator, sharing, and what keeps what alive."""

import gc
import weakref

import pytest

import rushlight as rl
from rushlight.core import engine


def in_use():
    return engine.memory_stats()["in_use"]


def test_memory_is_counted_and_given_back():
    before = in_use()
    x = rl.empty(1000, dtype=rl.float32)
    held = in_use() - before
    assert 4000 <= held <= 4500
    view = x[10:]
    del x
    assert in_use() - before == held
    del view
    assert in_use() == before


def test_blocks_are_used_again():
    x = rl.empty(100_000)
    address = x.data_ptr()
    del x
    hits = engine.memory_stats()["hits"]
    y = rl.empty(100_000)
    assert y.data_ptr() == address and engine.memory_stats()["hits"] == hits + 1


def test_peak():
    engine.reset_peak_memory_stats()
    start = engine.memory_stats()["peak"]
    x = rl.empty(1_000_000)
    del x
    assert engine.memory_stats()["peak"] - start >= 4_000_000
    engine.reset_peak_memory_stats()
    assert engine.memory_stats()["peak"] == in_use()


def test_empty_cache_returns_what_is_free():
    x = rl.empty(3_000_000)
    del x
    reserved = engine.memory_stats()["reserved"]
    freed = engine.empty_cache()
    assert freed >= 12_000_000 and engine.memory_stats()["reserved"] == reserved - freed
    assert engine.memory_stats()["reserved"] >= in_use() and engine.empty_cache() == 0


@pytest.mark.parametrize("bytes", [0, 1, 63, 64, 65, 511, 512, 513, 1000, 1024, 1025, 65537, 2 << 20, (2 << 20) + 1])
def test_every_size_class_holds_its_request(bytes):
    """Blocks of neighbouring sizes never overlap."""
    made = [rl.full((bytes,), i, dtype=rl.uint8) for i in range(4)]
    for i, x in enumerate(made):
        assert bytes == 0 or (x[0].item() == i and x[-1].item() == i and x.data_ptr() % 64 == 0)


@pytest.mark.parametrize("shape", [(1 << 59,), (1 << 31, 1 << 31), (1 << 62, 4), (1 << 45,)])
def test_more_than_there_is_raises(shape):
    with pytest.raises(RuntimeError):
        rl.empty(shape, dtype=rl.float64)
    with pytest.raises(RuntimeError):
        rl.ones(1).expand(shape) + 1
    assert rl.ones(3).sum().item() == 3


def test_views_share_storage_and_version():
    x = rl.zeros(4)
    view, copy = x[1:3], x.clone()
    view.add_(1)
    assert x.tolist() == [0, 1, 1, 0] and x._version == 1 == view._version and copy._version == 0
    assert view._base is x and view.storage_offset() == 1 and x.data._version == 0


def test_data_shares_memory_but_not_the_version():
    x = rl.zeros(2)
    x.data.fill_(3)
    assert x.tolist() == [3, 3] and x._version == 0


def test_a_failed_write_changes_nothing():
    x = rl.zeros(3)
    for write in (lambda: x.add_(rl.ones(2)), lambda: x.copy_(rl.ones(4)), lambda: x.mul_(rl.ones(2, 3))):
        with pytest.raises(RuntimeError):
            write()
    assert x.tolist() == [0, 0, 0] and x._version == 0


def test_tensors_and_graphs_die_without_the_garbage_collector():
    gc.collect()
    gc.disable()
    try:
        before = in_use()
        x = rl.ones(1000, requires_grad=True)
        y = ((x * 2).exp().view(10, 100).softmax(1)[2:].t() @ rl.ones(8)).sum()
        y.backward()
        alive = weakref.ref(x)
        del x, y
        assert alive() is None and in_use() == before
    finally:
        gc.enable()


def test_numpy_memory_lives_as_long_as_its_tensor():
    np = pytest.importorskip("numpy")
    array = np.arange(6.0)
    x = rl.from_numpy(array)[2:]
    del array
    gc.collect()
    assert x.tolist() == [2, 3, 4, 5]
    back = x.numpy()
    del x
    gc.collect()
    assert back.tolist() == [2, 3, 4, 5]


def test_read_only_memory_is_not_written():
    np = pytest.importorskip("numpy")
    array = np.zeros(3)
    array.flags.writeable = False
    x = rl.from_numpy(array)
    for write in (lambda: x.add_(1), lambda: x.fill_(1), lambda: x.__setitem__(0, 1.0), lambda: rl.add(x, 1, out=x)):
        with pytest.raises(RuntimeError, match="read-only"):
            write()
    assert array.tolist() == [0, 0, 0]
