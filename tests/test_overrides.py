"""`rushlight.overrides`: helpers for libraries, modes, and what a type that logs sees beside PyTorch's."""

import importlib
import inspect
import threading

import pytest

import rushlight as rl
from rushlight import nn, overrides

F = nn.functional


class Logging(rl.Tensor):
    """A subclass that notes what it is asked for."""

    seen = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(func)
        return super().__torch_function__(func, types, args, kwargs or {})


class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, types, args, kwargs


class Count(overrides.TorchFunctionMode):
    def __init__(self):
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


# -- functions of one's own ------------------------------------------------------------------------------
def public(x, y=0):
    if overrides.has_torch_function_unary(x):
        return overrides.handle_torch_function(public, (x,), x, y=y)
    return x, y


def test_functions_of_libraries_can_be_overridden():
    duck = Duck()
    assert public(1, 2) == (1, 2) and public(duck, 2) == (public, (Duck,), (duck,), {"y": 2})
    wrapped = overrides.wrap_torch_function(lambda x, y=0: (y,))(lambda x, y=0: (x, y))
    assert wrapped(duck) == (duck, 0) and wrapped(1, duck) == (wrapped, (Duck,), (1, duck), {})
    with pytest.raises(TypeError, match="implements __torch_function__"):
        overrides.handle_torch_function(public, (1,), 1)


def test_what_has_a_torch_function():
    x, duck = rl.ones(2), Duck()
    assert overrides.has_torch_function((x, duck)) and not overrides.has_torch_function((x, 1, nn.Parameter(x)))
    assert overrides.has_torch_function_variadic(x, duck) and not overrides.has_torch_function_variadic(x, None)
    with rl._C.DisableTorchFunctionSubclass():
        assert not overrides.has_torch_function((duck,)) and not rl._C._is_torch_function_enabled()
    assert overrides.is_tensor_like(x) and overrides.is_tensor_like(duck) and not overrides.is_tensor_like([1])


def test_disabled_overrides():
    x = rl.ones(2).as_subclass(Logging)
    with rl._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is rl.Tensor
    with Count() as mode, rl._C.DisableTorchFunctionSubclass():
        x + 1
    with Count() as blind, rl._C.DisableTorchFunction():
        assert type(x + 1) is rl.Tensor and not overrides.has_torch_function((x,))
    assert mode.seen == [rl.Tensor.add] and blind.seen == [] and type(x + 1) is Logging


# -- what there is ------------------------------------------------------------------------------------------
def test_lists_of_functions():
    overridable, ignored = overrides.get_overridable_functions(), overrides.get_ignored_functions()
    assert rl.add in overridable[rl] and F.linear in overridable[F] and rl.linalg.norm in overridable[rl.linalg]
    assert rl.Tensor.dim in overridable[rl.Tensor] and rl.Tensor.__getitem__ in overridable[rl.Tensor]
    assert overridable[rl.Tensor.shape] == [rl.Tensor.shape.__get__]
    assert {rl.zeros, rl.tensor, rl.is_tensor} <= ignored
    assert not ignored & {f for functions in overridable.values() for f in functions}


def test_every_function_is_overridden():
    """Each function of the list goes to a type that overrides it, wherever that stands among the arguments."""
    duck, count = Duck(), 0
    for owner, functions in overrides.get_overridable_functions().items():
        if owner is rl.Tensor or not hasattr(owner, "__dict__") or not inspect.ismodule(owner):
            continue
        for function in functions:
            count += 1
            assert function(duck)[0] is function and function(1, [duck], out=duck)[1] == (Duck,), function
    assert count > 700


def test_testing_overrides_have_the_signatures():
    found = overrides.get_testing_overrides()
    assert found[rl.add](1, other=2) == -1 and "approximate" in inspect.signature(found[F.gelu]).parameters
    with pytest.raises(TypeError):
        found[rl.add](1, 2, nothing=3)
    assert found[rl.Tensor.shape.__get__](1) == -1 and all(f is not None for f in found)


@pytest.mark.parametrize(
    "function, name, of_tensors",
    [
        (rl.clone, "rushlight.clone", False),
        (rl.Tensor.clone, "rushlight.Tensor.clone", True),
        (rl.Tensor.dim, "rushlight.Tensor.dim", True),
        (rl.Tensor.shape.__get__, "rushlight.Tensor.shape.__get__", True),
        (rl.Tensor.__getitem__, "rushlight.Tensor.__getitem__", True),
        (F.softmax, "rushlight.nn.functional.softmax", False),
        (rl.linalg.norm, "rushlight.linalg.norm", False),
        (rl.fft.fft, "rushlight.fft.fft", False),
        (len, None, False),
    ],
)
def test_names(function, name, of_tensors):
    overrides.get_overridable_functions()
    assert overrides.resolve_name(function) == name
    assert overrides.is_tensor_method_or_property(function) is of_tensors


# -- modes -----------------------------------------------------------------------------------------------
def test_a_mode_sees_calls_with_plain_tensors_and_factories():
    x = rl.ones(2, 3)
    with Count() as mode:
        y = rl.zeros(3) + 1
        1 - y
        x.shape, x[0], x.dim()
        F.linear(x, rl.ones(2, 3))
        rl.tensor([1.0]).sum()
    names = [overrides.resolve_name(f).removeprefix("rushlight.").removeprefix("Tensor.") for f in mode.seen]
    assert " ".join(names) == "zeros add __rsub__ shape.__get__ __getitem__ dim ones linear tensor sum"
    y + 1
    assert len(mode.seen) == 10


def test_modes_nest():
    order = []

    class Named(overrides.BaseTorchFunctionMode):
        def __init__(self, name):
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            order.append(self.name)
            return super().__torch_function__(func, types, args, kwargs)

    with Named("outer") as outer, Named.push("inner") as inner:
        assert overrides._get_current_function_mode_stack() == [outer, inner]
        rl.ones(2)
        with overrides._pop_mode_temporarily():
            rl.ones(2)
    assert order == ["inner", "outer", "outer"] and overrides._get_current_function_mode() is None


def test_a_mode_comes_before_types_and_may_pass():
    class Pass(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented if types else 3 if func is rl.ones else func(*args, **(kwargs or {}))

    x = Logging([1.0])
    Logging.seen.clear()
    with Pass():
        assert rl.ones(2) == 3 and type(rl.exp(x)) is Logging
    assert Logging.seen == [rl.exp]
    with pytest.raises(TypeError, match="no implementation found for 'exp'.*Mode"), overrides_nothing():
        rl.exp(rl.ones(2))


def overrides_nothing():
    class Mode(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {})) if func is rl.ones else NotImplemented

    return Mode()


def test_a_mode_is_its_threads_and_ends_with_errors():
    with Count() as mode:
        worker = threading.Thread(target=lambda: rl.ones(2) + 1)
        worker.start()
        worker.join()
        with pytest.raises(RuntimeError):
            rl.ones(2) @ rl.ones(3)
    assert [f.__name__ for f in mode.seen] == ["ones", "ones", "matmul"] and rl._C._len_torch_function_stack() == 0
    with pytest.raises(RuntimeError, match="no mode"):
        rl._C._pop_torch_function_stack()


def test_a_training_step_under_a_mode():
    layer, x = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Tanh()), rl.randn(4, 3)
    optimizer = rl.optim.Adam(layer.parameters())
    with Count() as mode:
        layer(x).pow(2).sum().backward()
        optimizer.step()
    assert {"linear", "batch_norm", "tanh", "sum", "backward"} <= {f.__name__ for f in mode.seen}


# -- beside PyTorch ----------------------------------------------------------------------------------------
EXPRESSIONS = """
x + 1 | 1 + x | x - 1 | 1 - x | x * 2 | x / 2 | 2 / x | x // 2 | 2 // x | x % 2 | 2 % x | x ** 2 | 2 ** x | -x | +x
abs(x) | x == 1 | x < 1 | x >= w[:2] | x @ x.T | w @ x.T | x.int() & 1 | x.int() << 1 | 1 << x.int() | x[0] | len(x)
x.shape | x.size() | x.dim() | x.ndim | x.dtype | x.grad | x.data | x.T | x.mT | x.real | x.is_leaf | x.requires_grad
x.detach() | x.clone() | bool(i) | int(i) | float(i) | i.item() | x.tolist() | x.numpy() | x.to(torch.float64)
x.double() | x.sum() | x.sum(dim=0) | torch.add(x, 1) | torch.add(x, 1, out=torch.empty(2, 3)) | torch.cat([x, x])
torch.stack((x, w[:2])) | torch.split(x, 1) | x.split(1) | torch.einsum('ij,kj', x, w) | F.linear(x, w) | F.relu(x)
F.softmax(x, dim=1) | F.layer_norm(x, (3,)) | F.dropout(x) | F.mse_loss(x, x) | F.gelu(x)
F.conv1d(x[None], w[None, :2]) | torch.max(x, 1) | x.max() | x.unbind() | x.chunk(2) | x.view(6) | x.reshape(3, 2)
x.contiguous() | x.numel() | x.stride() | x.is_contiguous() | x.storage_offset() | x.repeat(2, 1) | x.norm()
torch.norm(x) | torch.linalg.norm(x) | torch.fft.fft(x) | torch.special.erf(x) | repr(x) | f'{x}' | 3.0 in x | hash(x)
torch.where(x > 0, x, w[:2]) | torch.zeros_like(x) | x.new_zeros(2) | x.is_floating_point() | torch.is_tensor(x)
torch.numel(x) | torch.as_tensor(x) | x.type() | x.layout | x.is_sparse | x.is_cuda | x._version | x._base
x.element_size() | x.itemsize | x.nbytes | torch.broadcast_tensors(x, w[0]) | torch.allclose(x, x) | torch.unique(x)
torch.tensordot(x, x, dims=2) | torch.equal(x, x) | x.nonzero() | x.index_select(0, torch.tensor([0]))
x.masked_fill(x > 2, 0) | x.clone().add_(1) | x.clone().zero_() | torch.nn.Linear(3, 4)(x) | torch.nn.LayerNorm(3)(x)
torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh())(x) | x.clone().requires_grad_().sum().backward()
""".replace("\n", " | ").split(" | ")


def watched(torch, expression: str) -> tuple:
    """What a subclass that logs sees while an expression is evaluated, and the type of the result."""

    class Watching(torch.Tensor):
        seen = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.arange(1.0, 7).reshape(2, 3).as_subclass(Watching)
    names = {"torch": torch, "F": torch.nn.functional, "x": x, "i": torch.tensor([3]).as_subclass(Watching)}
    names["w"] = torch.ones(4, 3)
    Watching.seen.clear()
    result = eval(expression, names)
    called = list(Watching.seen)
    kinds = [type(part).__name__ for part in (result if isinstance(result, (tuple, list)) else (result,))]
    shown = [importlib.import_module(f"{torch.__name__}.overrides").resolve_name(f) for f in called]
    return [name.removesuffix(".__get__").rpartition(".")[2] for name in shown], [
        "dtype" if "dtype" in kind.lower() else kind.lower() for kind in kinds
    ]


@pytest.mark.parametrize("expression", [e.strip() for e in EXPRESSIONS if e.strip()])
def test_a_subclass_sees_what_it_sees_in_pytorch(expression):
    torch = pytest.importorskip("torch")
    ours, theirs = watched(rl, expression), watched(torch, expression)
    assert ours[0] == theirs[0]
    if expression != "x.layout":
        assert ours[1] == theirs[1]
