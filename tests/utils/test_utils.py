"""Thin names of `torch.utils`."""

from collections import OrderedDict

import pytest

import rushlight as rl
from rushlight import utils


def test_dlpack():
    x = rl.rand(3)
    y = utils.dlpack.from_dlpack(utils.dlpack.to_dlpack(x))
    assert y.data_ptr() == x.data_ptr() and x.__dlpack_device__()[0] == utils.dlpack.DLDeviceType.kDLCPU


def test_handles():
    hooks, marks = OrderedDict(), OrderedDict()
    with utils.hooks.RemovableHandle(hooks, extra_dict=marks) as handle:
        hooks[handle.id] = marks[handle.id] = 1
    assert not hooks and not marks
    second = utils.hooks.RemovableHandle(hooks, extra_dict=[marks])
    hooks[second.id] = 1
    second.remove()
    second.remove()
    assert not hooks and second.id > handle.id
    assert utils.hooks.unserializable_hook(len_hook := lambda grad: None) is len_hook


def test_set_module():
    class Thing:
        pass

    utils.set_module(Thing, "elsewhere")
    assert Thing.__module__ == "elsewhere"
    with pytest.raises(TypeError):
        utils.set_module(Thing, 3)


def test_switch(monkeypatch):
    assert utils.deterministic.fill_uninitialized_memory is True
    monkeypatch.setattr(utils.deterministic, "fill_uninitialized_memory", False)
    assert utils.deterministic.fill_uninitialized_memory is False
    with pytest.raises(RuntimeError, match="bool"):
        utils.deterministic.fill_uninitialized_memory = 1


def test_environment():
    assert "self-test  passed" in utils.collect_env.get_pretty_env_info()
    with pytest.raises(AttributeError, match="nothing"):
        utils.nothing
