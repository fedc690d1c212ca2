"""Small facts about tensors."""

import pickle

import pytest

import rushlight as rl


class Mine(rl.Tensor):
    pass


def test_subclasses_stay_in_the_graph():
    x = rl.ones(2, requires_grad=True)
    made = x.as_subclass(Mine)
    assert type(made) is Mine and made.data_ptr() == x.data_ptr()
    (made * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="subclass"):
        x.as_subclass(int)


def test_places_in_memory():
    x = rl.ones(2, 3)
    assert x.is_set_to(x.detach()) and not x.is_set_to(x.t()) and not x.is_set_to(x.clone())
    assert x.t().dim_order() == (1, 0) and x.dim_order() == (0, 1) and x.const_data_ptr() == x.data_ptr()
    assert x.to_dense() is x and rl.get_device(x) == -1


def test_names():
    assert rl.typename(rl.ones(1)) == "rushlight.FloatTensor" and rl.typename(3) == "int"
    assert rl.typename(Mine).endswith("Mine")


def test_storages_of_a_dtype():
    assert rl.FloatStorage(3).size() == 3 and rl.LongStorage([1, 2]).tolist() == [1, 2]
    assert pickle.loads(pickle.dumps(rl.LongStorage([1, 2]))).tolist() == [1, 2]
    assert rl.FloatTensor(rl.FloatStorage([1.0, 2.0])).tolist() == [1, 2]


def test_what_is_not_there():
    for call in (rl.ones(1).cuda, rl.ones(1).pin_memory):
        with pytest.raises(RuntimeError):
            call()


def test_switches():
    rl.use_deterministic_algorithms(True)
    assert rl.are_deterministic_algorithms_enabled() and rl.get_deterministic_debug_mode() == 2
    rl.set_deterministic_debug_mode("default")
    assert not rl.are_deterministic_algorithms_enabled()
    with pytest.raises(RuntimeError, match="precision"):
        rl.set_float32_matmul_precision("low")
    assert rl.get_float32_matmul_precision() == "highest"


def test_what_the_build_says():
    assert rl.compiled_with_cxx11_abi() and not rl.is_vulkan_available() and not rl.is_distributed(rl.ones(1))
    assert rl.set_flush_denormal(True) is False


def test_other_kinds_of_tensors():
    x = rl.ones(1)
    assert not (x.is_nested or x.is_xla or x.is_vulkan or x.is_ipu or x.is_mtia or x.is_maia)


def test_forms_of_methods():
    x = rl.ones(1, requires_grad=True) * 2
    assert rl.detach_(x) is x and x.grad_fn is None
    with rl.inference_mode():
        y = rl.ones(1)
    assert rl.is_inference(y) and not rl.is_inference(x)


def test_warnings_and_threads(monkeypatch):
    from rushlight.ops import facts

    monkeypatch.setattr(facts, "_state", dict(facts._state))
    rl.set_warn_always(True)
    assert rl.is_warn_always_enabled()
    with pytest.raises(TypeError, match="bool"):
        rl.set_warn_always(1)
    assert rl.get_num_interop_threads() >= 1
    with pytest.raises(RuntimeError, match="positive"):
        rl.set_num_interop_threads(0)
    rl.set_num_interop_threads(3)
    assert rl.get_num_interop_threads() == 3
    with pytest.raises(RuntimeError, match="cannot set"):
        rl.set_num_interop_threads(2)


def test_methods_under_former_names():
    x = rl.arange(6.0).reshape(2, 3)
    assert reversed(x).tolist() == [[3, 4, 5], [0, 1, 2]] and reversed(rl.tensor(1)).item() == 1
    assert rl.equal(x.__div__(2), x / 2) and rl.equal(x.__rdiv__(2), 2 / x) and rl.equal(x.clone().__idiv__(2), x / 2)
    assert rl.tensor(3.7).__long__() == 3 and rl.tensor(3.0).__nonzero__() is True
    with pytest.warns(UserWarning, match="resize is deprecated"):
        assert rl.equal(x.resize(3, 2), x.reshape(3, 2))
    with pytest.warns(UserWarning, match="resize_as"), pytest.raises(RuntimeError):
        x.resize_as(rl.ones(5))
    with pytest.raises(RuntimeError, match="removed"):
        x.reinforce(1)
