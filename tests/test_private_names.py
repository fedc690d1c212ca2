"""Names of PyTorch that are private, or gone since, and that published programs import all the same."""

import importlib

import pytest

import rushlight as rl
from rushlight import _utils


def test_six():
    from rushlight._six import PY37, container_abcs, inf, int_classes, nan, string_classes, with_metaclass

    assert isinstance("a", string_classes) and isinstance(1, int_classes) and PY37 and inf > 0 and nan != nan
    assert isinstance([], container_abcs.Sequence)

    class Meta(type):
        pass

    class Made(with_metaclass(Meta, dict)):
        value = 1

    assert type(Made) is Meta and Made.__mro__ == (Made, dict, object) and Made.value == 1


def test_modules_of_classes():
    assert importlib.import_module("rushlight._tensor").Tensor is rl.Tensor
    assert rl.storage.TypedStorage is rl.TypedStorage and isinstance(rl.UntypedStorage(1), rl.storage._StorageBase)


def test_configuration():
    assert "rushlight" in rl.__config__.show() and "self-test  passed" in rl.__config__.show()
    assert f"get_num_threads() : {rl.get_num_threads()}\n" in rl.__config__.parallel_info()


def test_rows_of_tensors():
    tensors = [rl.rand(2, 3), rl.rand(0), rl.rand(2, 2).T]
    flat = _utils._flatten_dense_tensors(tensors)
    parts = _utils._unflatten_dense_tensors(flat, tensors)
    assert flat.shape == (10,) and all(p.equal(t) for p, t in zip(parts, tensors, strict=True))
    parts[0].fill_(0)
    assert flat[:6].sum() == 0
    sparse = [rl.eye(2).to_sparse(), rl.ones(1, 2).to_sparse()]
    made = _utils._unflatten_sparse_tensors(_utils._flatten_sparse_tensors(sparse), sparse)
    assert all(m.to_dense().equal(s.to_dense()) for m, s in zip(made, sparse, strict=True))


def groups(module, utils):
    """What `_take_tensors` makes of a list, and its parts in the old order."""
    kinds = [module.float32, module.int64, module.float32, module.float32, module.int64]
    tensors = [module.full((size,), size, dtype=kind) for size, kind in zip([10, 10, 20, 3, 1], kinds)]
    taken = list(utils._take_tensors(tensors, 100))
    flat = sorted((t for group in taken for t in group), key=lambda t: t.type())
    return [[t.tolist() for t in g] for g in taken], [t.tolist() for t in utils._reorder_tensors_as(flat, tensors)]


def test_lists_of_about_one_size():
    torch = pytest.importorskip("torch")
    ours, theirs = groups(rl, _utils), groups(torch, torch._utils)
    assert ours[0] == theirs[0] and ours[1] == theirs[1]


def test_tensors_of_old_pickles():
    storage = rl.FloatStorage([0.0, 1, 2, 3, 4, 5])
    x = _utils._rebuild_tensor_v2(storage, 1, (2, 2), (1, 2), True, {})
    assert x.tolist() == [[1, 3], [2, 4]] and x.requires_grad and x.data_ptr() == storage.data_ptr() + 4
    assert type(_utils._rebuild_parameter(rl.ones(2), False, {})) is rl.nn.Parameter


def test_errors_of_other_threads():
    try:
        {}["key"]
    except KeyError:
        caught = _utils.ExceptionWrapper(where="in a thread")
    assert caught.exc_type is KeyError and caught.where == "in a thread"
    with pytest.raises(KeyError, match="Caught KeyError in a thread.\nOriginal Traceback"):
        caught.reraise()


def test_devices():
    assert _utils._get_device_index("cuda:1") == 1 and _utils._get_device_index("cpu", allow_cpu=True) == -1
    assert _utils._get_device_index(2) == 2 and _utils._get_all_device_indices() is None
    with pytest.raises(ValueError, match="got: cpu"):
        _utils._get_device_index("cpu")
