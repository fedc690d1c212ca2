"""`Module`: registration rules, attributes, traversal, conversion, copying, printing."""

import copy
import pickle
import timeit

import pytest

import rushlight
from rushlight import nn
from rushlight.nn import Module, Parameter


class Net(Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.norm = nn.BatchNorm1d(2)
        self.scale = Parameter(rushlight.ones(2))
        self.register_buffer("seen", rushlight.zeros(1), persistent=False)

    def forward(self, x):
        return self.norm(self.fc(x)) * self.scale


def names(pairs):
    return [name for name, _ in pairs]


def test_what_is_registered():
    net = Net()
    assert names(net.named_parameters()) == ["scale", "fc.weight", "fc.bias", "norm.weight", "norm.bias"]
    assert names(net.named_parameters(recurse=False)) == ["scale"]
    assert names(net.named_buffers()) == ["seen", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]
    assert names(net.named_modules()) == ["", "fc", "norm"]
    assert names(net.named_modules(prefix="net")) == ["net", "net.fc", "net.norm"]
    assert names(net.named_children()) == ["fc", "norm"]
    assert list(net.children()) == [net.fc, net.norm] and next(net.modules()) is net
    assert list(net.state_dict())[:3] == ["scale", "fc.weight", "fc.bias"]
    assert "seen" not in net.state_dict() and "norm.running_mean" in net.state_dict()


def test_shared_objects_come_once():
    shared = nn.Linear(2, 2)
    net = nn.Sequential(shared, shared)
    assert names(net.named_parameters()) == ["0.weight", "0.bias"]
    assert len(list(net.named_parameters(remove_duplicate=False))) == 4
    assert names(net.named_modules()) == ["", "0"]
    assert len(list(net.children())) == 1
    assert list(net.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_assignment_moves_a_name():
    net = Net()
    net.scale = None
    assert net.scale is None and "scale" not in names(net.named_parameters())
    net.fc = nn.Identity()
    assert isinstance(net.fc, nn.Identity)
    net.plain = 3
    net.plain = Parameter(rushlight.ones(1))
    assert "plain" in names(net.named_parameters()) and "plain" not in net.__dict__
    net.plain = nn.ReLU()
    assert "plain" not in net._parameters and "plain" in net._modules
    net.seen = rushlight.ones(1)
    assert net._buffers["seen"].item() == 1.0
    net.other = nn.Buffer(rushlight.ones(2), persistent=False)
    assert "other" in names(net.named_buffers()) and "other" not in net.state_dict()


def test_deletion():
    net = Net()
    for name in ("scale", "seen", "fc"):
        delattr(net, name)
        assert not hasattr(net, name)
    with pytest.raises(AttributeError):
        del net.scale


def test_wrong_assignments():
    net = Net()
    with pytest.raises(TypeError, match="as parameter 'scale'"):
        net.scale = rushlight.ones(2)
    with pytest.raises(TypeError, match="as child module 'fc'"):
        net.fc = 5
    with pytest.raises(TypeError, match="as buffer 'seen'"):
        net.seen = 5
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'missing'"):
        net.missing


def test_assignment_before_init():
    class Early(Module):
        def __init__(self, value):
            self.value = value
            super().__init__()

    for value, kind in ((Parameter(rushlight.ones(1)), "parameters"), (nn.ReLU(), "module")):
        with pytest.raises(AttributeError, match=f"cannot assign {kind} before Module.__init__"):
            Early(value)
    with pytest.raises(AttributeError, match="buffer before"):
        Module.register_buffer(Module.__new__(Module), "x", None)


@pytest.mark.parametrize("kind", ["register_parameter", "register_buffer", "add_module"])
def test_wrong_names(kind):
    net = Net()
    register = getattr(net, kind)
    for name, error in (("a.b", KeyError), ("", KeyError), (5, TypeError), ("forward", KeyError)):
        with pytest.raises(error):
            register(name, None)
    with pytest.raises(TypeError):
        register("x", "text")
    register("x", None)
    assert net.x is None


def test_a_parameter_must_be_a_leaf():
    with pytest.raises(TypeError, match="Parameter or None required"):
        Module().register_parameter("w", Parameter(rushlight.ones(2)) * 2)


def test_access_by_dotted_name():
    net = nn.Sequential(Net(), nn.ReLU())
    assert net.get_submodule("") is net and net.get_submodule("0.fc") is net[0].fc
    assert net.get_parameter("0.fc.weight") is net[0].fc.weight
    assert net.get_buffer("0.norm.running_mean") is net[0].norm.running_mean
    for wrong in ("0.nothing", "0.fc.weight", "0.training"):
        with pytest.raises(AttributeError):
            net.get_submodule(wrong)
    with pytest.raises(AttributeError):
        net.get_parameter("0.norm.running_mean")
    with pytest.raises(AttributeError):
        net.get_buffer("0.fc.weight")
    net.set_submodule("0.fc", nn.Identity())
    assert isinstance(net[0].fc, nn.Identity)


def test_modes():
    net = Net()
    assert net.eval() is net and not net.training and not net.norm.training
    assert net.train().norm.training
    with pytest.raises(ValueError):
        net.train("yes")


def test_apply_goes_children_first():
    order = []
    Net().apply(lambda module: order.append(type(module).__name__))
    assert order == ["Linear", "BatchNorm1d", "Net"]


def test_gradients():
    net = Net()
    net(rushlight.randn(4, 3)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad(set_to_none=False)
    assert all(not p.grad.any() for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())


def test_conversion_keeps_parameters():
    net = Net()
    weight = net.fc.weight
    net(rushlight.randn(4, 3)).sum().backward()
    assert net.double() is net
    assert net.fc.weight is weight and weight.dtype is rushlight.float64 and weight.grad.dtype is rushlight.float64
    assert net.norm.running_mean.dtype is rushlight.float64 and net.norm.num_batches_tracked.dtype is rushlight.int64
    assert net(rushlight.randn(4, 3, dtype=rushlight.float64)).dtype is rushlight.float64
    for convert, dtype in (("half", "float16"), ("bfloat16", "bfloat16"), ("float", "float32")):
        getattr(net, convert)()
        assert weight.dtype is getattr(rushlight, dtype)
    net.to("cpu", rushlight.float64)
    assert weight.dtype is rushlight.float64
    net.to(rushlight.ones(1))
    assert weight.dtype is rushlight.float32 and weight.is_leaf and weight.requires_grad
    with pytest.raises(TypeError, match="floating point or complex"):
        net.to(rushlight.int64)
    with pytest.raises(RuntimeError):
        net.to("cuda")


def test_training_goes_on_after_conversion():
    net = nn.Linear(2, 1)
    optimizer = rushlight.optim.SGD(net.parameters(), lr=0.1)
    net.double()
    before = net.weight.tolist()
    net(rushlight.ones(1, 2, dtype=rushlight.float64)).sum().backward()
    optimizer.step()
    assert net.weight.tolist() == [[w - 0.1 for w in row] for row in before]


def test_copies():
    net = Net()
    net.fc.register_forward_hook(lambda module, args, output: output + 1)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(Net()))):
        assert other.fc.weight is not net.fc.weight
        assert type(other.fc.weight) is Parameter and other.fc.weight.requires_grad
    other = copy.deepcopy(net)
    with rushlight.no_grad():
        other.fc.weight.fill_(0.0)
    assert net.fc.weight.abs().sum().item() > 0
    assert copy.deepcopy(net).fc(rushlight.zeros(1, 3)).tolist() == net.fc(rushlight.zeros(1, 3)).tolist()


def test_pickled_values():
    net = Net()
    other = pickle.loads(pickle.dumps(net))
    assert [p.tolist() for p in other.parameters()] == [p.tolist() for p in net.parameters()]
    assert list(other.state_dict()) == list(net.state_dict())


def test_printing():
    class Noted(Module):
        def extra_repr(self):
            return "one\ntwo"

    net = nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.ReLU(), Noted()))
    assert repr(net) == (
        "Sequential(\n  (0): Linear(in_features=1, out_features=2, bias=True)\n  (1): Sequential(\n    (0): ReLU()\n"
        "    (1): Noted(\n      one\n      two\n    )\n  )\n)"
    )
    assert repr(Parameter(rushlight.ones(1))).startswith("Parameter containing:\ntensor([1.]")
    assert {"fc", "scale", "seen", "forward"} <= set(dir(Net())) and "0" not in dir(net)


def test_missing_forward():
    with pytest.raises(NotImplementedError, match="missing the required"):
        Module()(1)


def test_a_call_costs_little():
    """Compared with a plain Python call of the same kind: a ratio, not a time."""

    class Fast(Module):
        def forward(self, x):
            return x

    class Plain:
        def __call__(self, *args, **kwargs):
            return self.forward(*args, **kwargs)

        def forward(self, x):
            return x

    ours, plain = (min(timeit.repeat(lambda m=m: m(1), number=20000, repeat=7)) for m in (Fast(), Plain()))
    assert ours < 2.5 * plain


def test_every_module_is_exported():
    import pathlib
    import re

    for path in pathlib.Path(nn.__file__).parent.glob("*.py"):
        for name in re.findall(r"^class ([A-Z]\w+)\((?:\w*Module|_\w+|\w+Base)\)", path.read_text(), re.M):
            if path.stem not in ("function_module", "recurrent_step", "backward_hooks"):
                assert hasattr(nn, name), f"{name} of {path.name}"


def test_function_modules_take_their_options():
    with pytest.raises(TypeError, match="missing 2 required positional arguments: 'threshold' and 'value'"):
        nn.Threshold()
    with pytest.raises(TypeError, match="unexpected keyword argument 'slope'"):
        nn.LeakyReLU(slope=1)
    with pytest.raises(TypeError, match="multiple values"):
        nn.ELU(1.0, alpha=2.0)
    with pytest.raises(TypeError, match="at most 1"):
        nn.ReLU(True, False)
    import inspect

    assert str(inspect.signature(nn.Threshold)) == "(threshold, value, inplace=False)"


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "in_channels must be divisible by groups"),
        (lambda: nn.Conv2d(4, 3, 3, groups=2), "out_channels must be divisible by groups"),
        (lambda: nn.Conv2d(4, 4, 3, groups=0), "groups must be a positive"),
        (lambda: nn.Conv2d(1, 1, 3, padding="some"), "Invalid padding string"),
        (lambda: nn.Conv2d(1, 1, 3, padding="same", stride=2), "strided"),
        (lambda: nn.Conv2d(1, 1, 3, padding_mode="odd"), "padding_mode must be one of"),
        (lambda: nn.ConvTranspose2d(1, 1, 3, padding_mode="reflect"), 'Only "zeros"'),
        (lambda: nn.Dropout(1.5), "between 0 and 1"),
        (lambda: nn.GroupNorm(2, 3), "divisible by num_groups"),
        (lambda: nn.Hardtanh(1, 0), "max_val must be larger"),
        (lambda: nn.LSTM(2, 2, dropout=2), "range"),
        (lambda: nn.GRU(2, 2, num_layers=0), "num_layers must be greater"),
        (lambda: nn.TripletMarginLoss(margin=0), "margin to be greater than 0"),
        (lambda: nn.BatchNorm2d(2)(rushlight.ones(2, 2)), "expected 4D input"),
        (lambda: nn.ConstantPad1d((1, 2, 3), 0), "expected 2 padding sizes"),
    ],
)
def test_constructors_refuse_what_can_not_work(make, error):
    with pytest.raises(ValueError, match=error):
        make()


def test_registered_names_are_found_wherever_they_are():
    """Instances of one class that have a name in different places, as plain values, or not at all."""

    class Free(Module):
        pass

    values = [Parameter(rushlight.ones(1)), nn.ReLU(), nn.Buffer(rushlight.ones(1)), 5, None]
    frees = [Free() for _ in values]
    for free, value in zip(frees, values):
        free.x = value
    assert all(free.x is value for free, value in zip(frees, values))
    assert not hasattr(Free(), "x")
    del frees[0].x
    assert not hasattr(frees[0], "x")

    class Fixed(Module):
        x = "of the class"

    fixed = Fixed()
    assert fixed.x == "of the class"
    fixed.y = Parameter(rushlight.ones(1))
    assert not hasattr(Fixed(), "y")


def test_shared_memory():
    import os

    net = nn.Linear(2, 1).share_memory()
    assert net.weight.is_shared()
    child = os.fork()
    if not child:
        with rushlight.no_grad():
            net.weight.fill_(5.0)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert net.weight.tolist() == [[5.0, 5.0]]


def test_functional_is_the_catalogue():
    scope = {}
    exec("from rushlight.nn.functional import *", scope)
    assert scope["relu"] is nn.functional.relu and "conv2d" in scope and "annotations" not in scope
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        nn.functional.nothing
    assert "relu" in dir(nn.functional)
