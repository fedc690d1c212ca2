"""Storages as objects: facts, elements, sizes, copies, and tensors over them."""

import copy
import gc
import pickle
import threading

import numpy as np
import pytest
from ops.parity import agree, table

import rushlight as rl

FACTS = """
x.untyped_storage().nbytes(), x.untyped_storage().size(), len(x.untyped_storage())
[x.storage().nbytes(), x.storage().size(), len(x.storage()), x.storage().element_size()]
x.storage().dtype, x.storage().device, x.storage().type()
x[2:].untyped_storage().data_ptr() == x.data_ptr(), x.storage().data_ptr() == x.data_ptr()
x.storage()[1], x.storage()[-1], x.untyped_storage()[6], x.untyped_storage()[4:8].tolist()
x.storage()[100]
x.untyped_storage()[100]
x.storage()[::2]
x.untyped_storage()[::2]
x.storage()["a"]
x.untyped_storage().resize_(64).nbytes(), x.tolist(), x.untyped_storage().resize_(8).nbytes()
x.storage().resize_(8), x.storage().size(), x.storage().tolist()[:6]
x.untyped_storage().resize_(-1)
x.untyped_storage().fill_(1).tolist(), x.storage().fill_(2).tolist(), x
x.storage().copy_(T.ones(6).storage()).tolist(), x
x.storage().copy_(T.ones(6).double().storage())
x.untyped_storage().copy_(T.ones(3).untyped_storage())
[getattr(x.storage(), kind)().tolist() for kind in ("clone", "double", "int", "bool", "half", "byte", "long")]
[x.storage().is_shared(), x.storage().is_pinned(), x.storage().is_cuda, x.storage().is_sparse, x.storage().is_hpu]
x.untyped_storage().share_memory_().is_shared(), x.is_shared(), x
x.untyped_storage() == x.untyped_storage(), T.ones(1).untyped_storage() == T.ones(1).untyped_storage()
T.FloatStorage(3).size(), T.FloatStorage([1, 2, 3]).tolist(), T.FloatStorage().size(), T.FloatStorage([1.5, 2]).dtype
T.FloatTensor(T.FloatStorage([1, 2, 3])), T.LongTensor(T.LongStorage([1, 2, 3]))
T.DoubleTensor(T.FloatStorage([1, 2, 3]))
T.Storage([1, 2]).tolist(), T.Storage is T.FloatStorage
T.UntypedStorage(3).nbytes(), T.UntypedStorage([1, 2, 300]).tolist(), T.UntypedStorage().nbytes()
T.TypedStorage([1, 2, 3], dtype=T.int32).tolist(), T.TypedStorage(3, dtype=T.int32).size(), T.TypedStorage().dtype
T.TypedStorage(wrap_storage=T.UntypedStorage(8), dtype=T.float32).size()
(lambda s: (s.byteswap(T.int16), s.tolist()))(T.UntypedStorage([1, 2, 3, 4]))
T.tensor([]).set_(T.FloatStorage([1, 2, 3, 4])), T.tensor([]).set_(T.FloatStorage([1, 2, 3, 4]), 1, (2,), (2,))
T.tensor([]).set_(T.FloatStorage([1, 2, 3, 4]), 1, (3,)), T.tensor([]).set_(T.ones(4), 1, (2,), (1,))
T.tensor([1.0]).set_()
T.tensor([]).set_(T.DoubleStorage([1, 2, 3, 4]))
T.tensor([]).set_(T.ones(4).double())
T.tensor([]).set_(T.FloatStorage([1, 2]), -1, (2,), (1,))
T.tensor([]).set_(T.ones(4).untyped_storage(), 0, (4,))
T.tensor([]).set_(T.FloatStorage([1, 2]), 0, (10,), (1,)).untyped_storage().nbytes()
T.tensor([]).set_(T.FloatStorage([1, 2]), 2, (3, 2)).untyped_storage().nbytes()
T.tensor([]).set_(T.FloatStorage([1, 2]), 0, (3,))[:2], T.tensor([]).set_(T.ones(2), 0, (4,), (2,)).shape
T.ones(2, requires_grad=True).set_(T.ones(2).untyped_storage())
T.tensor([]).set_(source=T.FloatStorage([1, 2]), storage_offset=0, size=(2,), stride=(1,))
x.storage().pickle_storage_type(), x.storage_type() is T.FloatStorage, x.double().storage_type() is T.DoubleStorage
T.is_storage(x.storage()), T.is_storage(x.untyped_storage()), T.is_storage(x)
[isinstance(x.storage(), kind) for kind in (T.FloatStorage, T.TypedStorage, T.DoubleStorage, T.UntypedStorage)]
list(T.ones(1).untyped_storage()), x.untyped_storage().filename, x.untyped_storage().device
x.storage().__setitem__(slice(0, 2), 5), x.untyped_storage().__setitem__(11, 0), x
"""


@table(FACTS)
def test_facts(expression):
    agree(expression, lambda T: {"x": T.arange(6.0)})


def test_slices_of_bytes_share_them():
    x = rl.zeros(2)
    x.untyped_storage()[4:].fill_(255)
    assert x[0] == 0 and x[1].isnan()
    part = x.untyped_storage()[4:8]
    with pytest.raises(RuntimeError, match="not resizable"):
        x.untyped_storage().resize_(1000)
    del part
    assert x.untyped_storage().resize_(1000).nbytes() == 1000


def test_tensors_follow_a_storage_that_grows():
    x = rl.arange(4.0)
    view = x[1:]
    x.untyped_storage().resize_(1 << 20)
    x.fill_(3)
    assert view.tolist() == [3, 3, 3] and view.data_ptr() == x.data_ptr() + 4
    grown = rl.arange(2.0)
    other = grown[:1]
    grown.resize_(1000)[:2] = rl.tensor([7.0, 8.0])
    assert other.tolist() == [7]
    x.untyped_storage().resize_(0)
    assert x.tolist() == [3, 3, 3, 3]  # the block stays while tensors reach into it


def test_memory_that_others_look_at_does_not_move():
    for share in (lambda x: x.numpy(), lambda x: x.__dlpack__(), lambda x: x.data):
        x = rl.arange(4.0)
        held = share(x)
        assert not x.untyped_storage().resizable()
        with pytest.raises(RuntimeError, match="not resizable"):
            x.untyped_storage().resize_(1 << 20)
        with pytest.raises(RuntimeError, match="not resizable"):
            rl.zeros(0).set_(x.untyped_storage(), 0, (1 << 18,))
        x.resize_(1 << 18)
        assert x[:4].tolist() == [0, 1, 2, 3] and held is not None


def test_memory_that_kernels_run_on_does_not_move():
    x, stop, refused = rl.rand(1 << 20), [], []

    def grow():
        size = x.untyped_storage().nbytes()
        while not stop:
            size += 64
            try:
                x.untyped_storage().resize_(size)
            except RuntimeError:
                refused.append(1)

    thread = threading.Thread(target=grow)
    thread.start()
    expected = float(x.sum())
    sums = [float(x.exp().log().sum()) for _ in range(30)]
    stop.append(1)
    thread.join()
    assert all(abs(found - expected) < 100 for found in sums)


def test_sharing_moves_all_views():
    x = rl.zeros(4)
    view = x[2:]
    x.share_memory_()
    view.fill_(1)
    assert x.tolist() == [0, 0, 1, 1] and view.is_shared()


def test_copies():
    x = rl.arange(3.0)
    for storage in (x.untyped_storage(), rl.FloatStorage([0, 1, 2])):
        for other in (copy.copy(storage), copy.deepcopy(storage), pickle.loads(pickle.dumps(storage)), storage.clone()):
            assert other.tolist() == storage.tolist() and other.data_ptr() != storage.data_ptr()
            assert type(other) is type(storage)


def test_memory_that_ends_meanwhile_is_never_seen_with_another_shape():
    """The end of memory runs Python code, which must see the new memory and shape together, as other threads must."""
    seen = []

    class Watched(np.ndarray):
        def __del__(self):
            seen.append(float(t.sum()))

    for change in (lambda t: t.set_(rl.ones(2)), lambda t: setattr(t, "data", rl.ones(2))):
        t = rl.from_numpy(np.zeros(100000, np.float32).view(Watched))
        change(t)
        gc.collect()
    assert seen and set(seen) == {2.0}
