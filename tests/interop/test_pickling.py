"""Deep copies, pickles and storages."""

import copy
import os
import pickle

import pytest

import rushlight as rl


@pytest.mark.parametrize("again", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value, protocol=5))])
def test_shared_memory_stays_shared(again):
    first = rl.arange(6.0).reshape(2, 3)
    second = first.t()
    a, b = again((first, second))
    a[0, 1] = 9
    assert b[1, 0] == 9 and first[0, 1] == 1 and b.stride() == (1, 3)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_what_is_kept(again):
    x = rl.ones(2, dtype=rl.float64, requires_grad=True)
    x.note = "kept"
    made = again(x)
    assert made.requires_grad and made.note == "kept" and made.dtype is rl.float64 and made.is_leaf


def test_gradients_are_copied_deeply():
    x = rl.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    made = copy.deepcopy(x)
    made.grad[0] = 0
    assert x.grad.tolist() == [3, 3] and made.grad.tolist() == [0, 3]
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)


@pytest.mark.parametrize("shape", [(), (0, 3), (2, 0)])
def test_small_and_empty(shape):
    assert pickle.loads(pickle.dumps(rl.ones(shape))).shape == shape
    assert copy.deepcopy(rl.ones(shape)).shape == shape


def test_subclasses_stay_themselves():
    class Mine(rl.Tensor):
        pass

    made = copy.deepcopy(rl.ones(2).as_subclass(Mine) if hasattr(rl.Tensor, "as_subclass") else Mine([1.0, 1.0]))
    assert type(made) is Mine and made.tolist() == [1, 1]


def test_storages():
    x = rl.arange(6.0)
    storage = x[2:].untyped_storage()
    assert storage.nbytes() == 24 and storage.data_ptr() == x.data_ptr() and storage == x.untyped_storage()
    with pytest.warns(UserWarning, match="deprecated"):
        typed = x.storage()
    typed[1] = 8
    assert x[1] == 8 and typed.tolist() == x.tolist() and len(typed) == 6
    assert typed.clone().fill_(0).tolist() == [0] * 6 and x[1] == 8
    assert pickle.loads(pickle.dumps(typed)).tolist() == x.tolist()


def test_set_and_resize():
    x, y = rl.zeros(3), rl.arange(6.0)
    x.set_(y.untyped_storage(), 1, (2, 2), (3, 1))
    assert x.tolist() == [[1, 2], [4, 5]]
    x.fill_(0)
    assert y.tolist() == [0, 0, 0, 3, 0, 0]
    assert rl.arange(4.0).resize_(2, 3)[0].tolist() == [0, 1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_shared_memory_is_seen_by_a_child():
    x = rl.zeros(2).share_memory_()
    child = os.fork()
    if child == 0:
        x.data.reshape(2).untyped_storage()[3] = 64  # the top byte of 2.0
        os._exit(0)
    os.waitpid(child, 0)
    assert x.is_shared() and x.tolist() == [2, 0]
