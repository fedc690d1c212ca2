"""Containers of modules and of parameters."""

from collections import OrderedDict

import pytest

import rushlight
from rushlight import nn


def kinds(modules):
    return [type(module).__name__ for module in modules]


def test_sequential():
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    assert net(rushlight.ones(4, 2)).shape == (4, 1)
    assert len(net) == 3 and isinstance(net[-1], nn.Linear) and kinds(net[1:]) == ["ReLU", "Linear"]
    assert isinstance(net[:2], nn.Sequential) and net[:2][0] is net[0]
    net[1] = nn.Tanh()
    net.append(nn.Sigmoid())
    net.insert(0, nn.Identity())
    assert kinds(net) == ["Identity", "Linear", "Tanh", "Linear", "Sigmoid"]
    assert list(net._modules) == ["0", "1", "2", "3", "4"]
    del net[0]
    assert kinds([net.pop(1)]) == ["Tanh"] and list(net._modules) == ["0", "1", "2"]
    del net[1:]
    assert kinds(net) == ["Linear"]
    net.extend([nn.ReLU(), nn.ReLU()])
    assert kinds(net + nn.Sequential(nn.Tanh())) == ["Linear", "ReLU", "ReLU", "Tanh"]
    assert len(net * 2) == 6
    with pytest.raises(IndexError):
        net[10]
    with pytest.raises(TypeError):
        nn.Sequential(5)


def test_named_sequential():
    net = nn.Sequential(OrderedDict(first=nn.Linear(2, 2), second=nn.ReLU()))
    assert net.first is net[0] and list(net.state_dict()) == ["first.weight", "first.bias"]
    del net[1]
    assert list(net._modules) == ["first"]


def test_module_list():
    modules = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])
    modules.append(nn.ReLU())
    modules += [nn.Tanh()]
    assert len(modules) == 5 and kinds(modules[-2:]) == ["ReLU", "Tanh"] and isinstance(modules[:1], nn.ModuleList)
    assert list(modules.state_dict())[-1] == "2.bias"
    assert repr(modules).startswith("ModuleList(\n  (0-2): 3 x Linear(")
    assert repr(nn.ModuleList()) == "ModuleList()"
    modules.insert(1, nn.GELU())
    assert kinds(modules)[:3] == ["Linear", "GELU", "Linear"]
    with pytest.raises(NotImplementedError):
        modules(1)
    with pytest.raises(TypeError):
        modules.extend(5)


def test_module_dict():
    modules = nn.ModuleDict({"a": nn.ReLU()})
    modules["b"] = nn.Linear(1, 1)
    modules.update([("c", nn.Tanh())])
    assert list(modules) == ["a", "b", "c"] == list(modules.keys()) and "b" in modules and len(modules) == 3
    assert kinds(modules.values()) == ["ReLU", "Linear", "Tanh"] and dict(modules.items())["a"] is modules["a"]
    assert kinds([modules.pop("a")]) == ["ReLU"]
    del modules["b"]
    modules.clear()
    assert len(modules) == 0
    with pytest.raises(KeyError):
        modules["a"]


def test_parameter_list():
    values = nn.ParameterList([rushlight.ones(2), nn.Parameter(rushlight.ones(1)), "text"])
    assert all(isinstance(value, nn.Parameter) for value in list(values)[:2]) and values[2] == "text"
    assert [name for name, _ in values.named_parameters()] == ["0", "1"]
    values.append(rushlight.zeros(3))
    values[0] = nn.Parameter(rushlight.zeros(5))
    assert len(values) == 4 and values[-1].shape == (3,) and values[0].shape == (5,) and len(values[1:3]) == 2
    assert "(0): Parameter containing: [rushlight.float32 of size 5]" in repr(values)
    with pytest.raises(IndexError):
        values[4]


def test_parameter_dict():
    values = nn.ParameterDict({"a": rushlight.ones(2)})
    values["b"] = rushlight.zeros(1)
    assert isinstance(values["a"], nn.Parameter) and list(values) == ["a", "b"] and "b" in values
    assert list(values.state_dict()) == ["a", "b"] and [k for k, _ in values.items()] == ["a", "b"]
    assert values.get("x", 5) == 5 and values.setdefault("c", rushlight.ones(3)).shape == (3,)
    assert list(values | nn.ParameterDict({"d": rushlight.ones(1)})) == ["a", "b", "c", "d"]
    assert list(reversed(values)) == ["c", "b", "a"] and values.popitem()[0] == "c"
    del values["a"]
    with pytest.raises(KeyError):
        values["a"]
    with pytest.raises(TypeError):
        values[5] = rushlight.ones(1)
