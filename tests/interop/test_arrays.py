"""NumPy, DLPack, buffers and files: shared memory, lifetimes, errors."""

import gc
import weakref

import numpy as np
import pytest
from ops.parity import agree, table

import rushlight as rl

EXCHANGE = """
T.tensor([complex(-0.0,-0.0)])
np.add(np.ones(3),T.ones(3))
T.ones(3)+np.ones(3)
np.sin(T.ones(3))
T.ones(3)*np.float64(2)
np.float64(2)*T.ones(3)
T.ones(3)==np.ones(3)
np.asarray(T.ones(3),dtype=np.int64)
__import__('copy').deepcopy(T.ones(2,requires_grad=True)*2)
__import__('copy').deepcopy(T.ones(2,3,requires_grad=True))
__import__('copy').deepcopy([T.ones(2,3).t()])
__import__('copy').copy(T.ones(2))
__import__('pickle').loads(__import__('pickle').dumps(T.arange(6.).reshape(2,3).t()[1:]))
T.ones(3).untyped_storage().nbytes()
T.ones(3).storage().tolist()
len(T.ones(3).untyped_storage())
T.ones(3).untyped_storage()[0]
T.ones(3).is_shared()
T.ones(3).share_memory_().is_shared()
T.ones(3).apply_(lambda v:v+1)
T.ones(3).map_(T.arange(3.),lambda a,b:a+b)
T.ones(3,requires_grad=True).apply_(lambda v:v+1)
T.ones(3).resize_(2,2).shape
T.ones(3,requires_grad=True).resize_(2)
T.ones(3).resize_as_(T.ones(2,2)).shape
T.ones(3).set_(T.zeros(2))
T.ones(3).set_(T.zeros(2).untyped_storage())
T.ones(3).set_(T.zeros(5).untyped_storage(),1,(2,),(2,))
T.ones(3).set_(T.zeros(5).storage(),1,(2,),(2,))
T.ones(3).set_()
T.ones(3).set_(T.zeros(2,dtype=T.int64))
T.ones(3,requires_grad=True).__dlpack__()
T.from_dlpack(np.ones((2,3)).T)
T.from_dlpack(np.array([True,False]))
np.from_dlpack(T.arange(6).reshape(2,3).t())
T.from_dlpack(T.ones(3).__dlpack__())
T.from_dlpack(T.ones(3,dtype=T.bfloat16))
T.from_dlpack(T.ones(3,dtype=T.bool))
T.from_dlpack(T.ones(()))
T.frombuffer(bytearray(b'abcdefgh'),dtype=T.int32)
T.frombuffer(bytearray(b'abcdefg'),dtype=T.int32)
T.frombuffer(b'abcd',dtype=T.uint8,count=2,offset=1)
T.frombuffer(b'',dtype=T.uint8)
T.frombuffer(b'abcd',dtype=T.uint8,count=5)
T.frombuffer(b'abcd',dtype=T.uint8,offset=9)
T.frombuffer(b'abcd',dtype=T.uint8,count=0)
T.frombuffer([1],dtype=T.uint8)
T.frombuffer(np.arange(4.),dtype=T.float64)
T.ones(2).numpy(force=True)
T.ones(2).is_pinned()
T.ones(2).__array_priority__
"""


@table(EXCHANGE)
def test_exchange(expression):
    agree(expression)


def test_dlpack_shares_memory_both_ways():
    array = np.arange(6.0).reshape(2, 3)
    made = rl.from_dlpack(array)
    made[0, 0] = 5
    assert array[0, 0] == 5
    back = np.from_dlpack(made.t())
    back[2, 1] = 7
    assert array[1, 2] == 7


def test_dlpack_keeps_the_owner_alive_and_lets_go():
    array = np.arange(6.0)
    owner = weakref.ref(array)
    made = rl.from_dlpack(array)
    del array
    gc.collect()
    assert owner() is not None and made[5].item() == 5
    del made
    gc.collect()
    assert owner() is None
    made = rl.arange(6.0)
    storage, array = weakref.ref(made._storage), np.from_dlpack(made)
    del made
    assert storage() is not None and array[3] == 3
    del array
    gc.collect()
    assert storage() is None


def test_a_capsule_is_used_once_or_freed():
    made = rl.ones(3)
    capsule, storage = made.__dlpack__(), weakref.ref(made._storage)
    rl.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="only once"):
        rl.from_dlpack(capsule)
    unused = made.__dlpack__(max_version=(1, 0))
    del made, capsule, unused
    gc.collect()
    assert storage() is None


def test_buffers_stay_locked_while_in_use():
    buffer = bytearray(8)
    made = rl.frombuffer(buffer, dtype=rl.uint8, offset=2)
    made[0] = 3
    assert buffer[2] == 3
    with pytest.raises(BufferError):
        buffer.append(1)
    del made
    buffer.append(1)


def test_read_only_memory_is_not_written():
    with pytest.warns(UserWarning, match="not writable"):
        made = rl.frombuffer(b"abcd", dtype=rl.uint8)
    with pytest.raises(RuntimeError, match="read-only"):
        made.add_(1)


def test_files(tmp_path):
    path = str(tmp_path / "numbers")
    made = rl.from_file(path, shared=True, size=4)
    made.fill_(2)
    del made
    gc.collect()
    private = rl.from_file(path, size=4)
    private[0] = 9
    assert rl.from_file(path, size=4).tolist() == [2, 2, 2, 2]
    with pytest.raises(RuntimeError, match="bytes"):
        rl.from_file(path, size=5)


def test_an_array_keeps_the_memory_that_a_tensor_leaves():
    x = rl.arange(6.0).reshape(2, 3)
    array = x.t().numpy()
    assert array.shape == (3, 2) and array.strides == (4, 12) and array.base is not None
    x.data = rl.zeros(2, 3)
    del x
    rl.zeros(2, 3), rl.zeros(2, 3)
    assert array.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_shared_memory_stays_where_it_is():
    x = rl.zeros(4)
    array = x[1:3].numpy()
    x.resize_(1000)[1] = 5
    assert array.tolist() == [0, 0] or x.data_ptr() + 4 == array.ctypes.data
    with pytest.raises(RuntimeError, match="not resizable"):
        rl.from_numpy(array).resize_(1000)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3)])
def test_arrays_of_any_shape_are_shared(shape):
    array = np.ones(shape, np.float32)
    tensor = rl.from_numpy(array)
    assert tensor.shape == shape and tensor.numpy().shape == shape
    tensor.add_(1)
    assert (array == 2).all() and (tensor.numpy() == 2).all()


def test_bytes_of_a_storage_are_a_buffer():
    x = rl.tensor([1, 2], dtype=rl.int16)
    with memoryview(x._storage) as view:
        assert view.nbytes == 4 and not view.readonly and view.tobytes() == b"\1\0\2\0"


def test_a_copy_is_one():
    t = rl.ones(2)
    for made in (np.array(t), np.array(t, copy=True), t.__array__(copy=True), np.array(t, dtype=np.int64)):
        made[0] = 5
        assert t.tolist() == [1, 1]
    assert np.shares_memory(np.asarray(t), t.numpy()) and np.shares_memory(t.__array__(copy=False), t.numpy())
    with pytest.raises(ValueError, match="must be a copy"):
        t.__array__(np.float64, copy=False)


def test_bytes_of_another_order_are_refused():
    with pytest.raises(ValueError, match="byte order"):
        rl.from_numpy(np.ones(2, ">f4"))


def test_tensors_over_one_array_share_its_memory():
    """Whichever way they came to it."""
    x = rl.arange(9.0).reshape(3, 3)
    again, product = rl.from_numpy(x.numpy()), (x @ x).tolist()
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:].add_(again[:-1])
    assert again.add_(x).tolist() == [[0, 2, 4], [6, 8, 10], [12, 14, 16]]
    x.div_(2)
    assert rl.mm(x, x, out=again).tolist() == product
