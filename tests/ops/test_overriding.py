"""Types that override functions: subclasses of Tensor and types that are none, by `__torch_function__`."""

import abc
import copy
import pickle

import pytest

import rushlight as rl
from rushlight import nn

F = nn.functional


# -- a type that is no tensor: PyTorch's example of a matrix with one number on its diagonal ---------------
HANDLED = {}


def implements(function):
    def register(handler):
        HANDLED[function] = handler
        return handler

    return register


class ScalarTensor:
    """`value` on the diagonal of an n x n matrix."""

    def __init__(self, n, value):
        self.n, self.value = n, value

    def tensor(self):
        return self.value * rl.eye(self.n)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in HANDLED or not all(issubclass(t, (rl.Tensor, ScalarTensor)) for t in types):
            return NotImplemented
        return HANDLED[func](*args, **(kwargs or {}))


def dense(value):
    return value.tensor() if isinstance(value, ScalarTensor) else value


@implements(rl.mean)
def mean(input, dim=None):
    return input.value / input.n if dim is None else dense(input).mean(dim)


@implements(rl.add)
def add(input, other):
    if all(isinstance(v, ScalarTensor) for v in (input, other)):
        return ScalarTensor(input.n, input.value + other.value)
    return rl.add(dense(input), dense(other))


@implements(rl.cat)
def cat(tensors, dim=0, *, out=None):
    return "cat", len(tensors), dim, type(out).__name__


@implements(F.linear)
def linear(input, weight, bias=None):
    return F.linear(dense(input), weight, bias)


@implements(F.layer_norm)
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return "layer_norm", normalized_shape


@implements(rl.einsum)
def einsum(equation, *operands):
    return "einsum", equation, len(operands)


@implements(rl.linalg.norm)
def norm(input):
    return "norm"


@implements(rl.fft.fft)
def fft(input):
    return "fft"


@implements(rl.special.polygamma)
def polygamma(n, input):
    return "polygamma", n


@implements(rl.svd)
def svd(input):
    return "svd"


D = ScalarTensor(2, 3)
X = rl.tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    "call, result",
    {
        "keyword": (lambda: rl.mean(input=D), 1.5),
        "first": (lambda: rl.mean(D), 1.5),
        "list": (lambda: rl.cat([X, D]), ("cat", 2, 0, "NoneType")),
        "tuple": (lambda: rl.cat((D, X), dim=1), ("cat", 2, 1, "NoneType")),
        "out": (lambda: rl.cat([X, X], out=D), ("cat", 2, 0, "ScalarTensor")),
        "composite of operands": (lambda: rl.einsum("ij,jk", X, D), ("einsum", "ij,jk", 2)),
        "module": (lambda: nn.LayerNorm(2)(D), ("layer_norm", (2,))),
        "linalg": (lambda: rl.linalg.norm(D), "norm"),
        "fft": (lambda: rl.fft.fft(D), "fft"),
        "special": (lambda: rl.special.polygamma(1, D), ("polygamma", 1)),
        "loaded late": (lambda: rl.svd(D), "svd"),
    }.values(),
)
def test_functions_of_a_type_that_is_no_tensor(call, result):
    assert call() == result


def test_operators_and_modules_take_it():
    assert rl.add(D, D).value == 6 and (X + D).tolist() == [[4, 2], [3, 7]]
    layer = nn.Linear(2, 3)
    rl.testing.assert_close(layer(D), layer(3 * rl.eye(2)))


def test_what_all_types_refuse():
    with pytest.raises(TypeError, match=r"no implementation found for 'mul' on types that implement.*ScalarTensor\]"):
        rl.mul(D, 2)
    with pytest.raises(TypeError, match=r"'linalg_det|'det'"):
        rl.linalg.det(D)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for -: .*Tensor' and 'ScalarTensor'"):
        X - D
    with pytest.raises(TypeError, match="must be Tensor, not Plain"):
        rl.exp(type("Plain", (), {})())


def test_python_asks_the_other_operand_where_types_refuse():
    class Right(ScalarTensor):
        def __rsub__(self, other):
            return "right"

    assert X - Right(2, 1) == "right"


# -- precedence ---------------------------------------------------------------------------------------------
def test_subclasses_come_first_then_from_left_to_right():
    asked = []

    def kind(name, *bases, answer=NotImplemented):
        def handler(cls, func, types, args=(), kwargs=None):
            asked.append((cls.__name__, [t.__name__ for t in types]))
            return answer

        return type(name, bases, {"__torch_function__": classmethod(handler)})

    base, other = kind("Base"), kind("Other")
    derived = kind("Derived", base)
    with pytest.raises(TypeError, match="Derived.*Base.*Other"):
        rl.add(base(), other(), alpha=derived())
    everyone = ["Derived", "Base", "Other"]
    assert asked == [(name, everyone) for name in everyone]
    asked.clear()
    assert rl.stack([rl.ones(1), kind("Last", answer=3)()]) == 3 and asked == [("Last", ["Last"])]


def test_a_plain_method_still_works_but_warns():
    class Old:
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return self

    old = Old()
    with pytest.warns(DeprecationWarning, match="classmethod"):
        assert rl.exp(old) is old


# -- subclasses of Tensor -------------------------------------------------------------------------------
class Mine(rl.Tensor):
    """A subclass that overrides nothing itself."""


def mine(*shape):
    return rl.arange(1.0, 1 + rl.Size(shape).numel()).reshape(shape).as_subclass(Mine)


KEPT = {
    "operator": lambda x: x + 1,
    "reflected": lambda x: 2 - x,
    "two": lambda x: rl.ones(2, 3) * x,
    "comparison": lambda x: x > 2,
    "negative": lambda x: -x,
    "function": lambda x: rl.exp(x),
    "method": lambda x: x.sum(dim=1),
    "composite": lambda x: x.clone(),
    "functional": lambda x: F.softmax(x, dim=1),
    "linear": lambda x: F.linear(x, rl.ones(4, 3)),
    "module": lambda x: nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.LayerNorm(2))(x),
    "recurrent": lambda x: nn.GRU(3, 2)(x)[0],
    "index": lambda x: x[0],
    "mask": lambda x: x[x > 2],
    "view": lambda x: x.reshape(3, 2),
    "transpose": lambda x: x.T,
    "data": lambda x: x.data,
    "detach": lambda x: x.detach(),
    "cast": lambda x: x.to(rl.float64),
    "in place": lambda x: x.add_(1),
    "filled": lambda x: x.zero_(),
    "list of arguments": lambda x: rl.cat([rl.ones(1, 3), x]),
    "list of results": lambda x: x.split(1)[0],
    "named results": lambda x: rl.max(x, 1).values,
    "iteration": lambda x: next(iter(x)),
    "einsum": lambda x: rl.einsum("ij,kj", x, rl.ones(4, 3)),
    "linalg": lambda x: rl.linalg.norm(x),
    "fft": lambda x: rl.fft.fft(x),
    "svd": lambda x: rl.linalg.svd(x).S,
    "like": lambda x: rl.zeros_like(x),
    "deep copy": lambda x: copy.deepcopy(x),
    "copy": lambda x: copy.copy(x),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "where": lambda x: rl.where(x > 2, x, 0.0),
    "made": lambda x: Mine([1.0, 2.0]),
    "made of sizes": lambda x: Mine(2, 3).zero_(),
    "requires_grad_": lambda x: x.requires_grad_(),
}


@pytest.mark.parametrize("call", KEPT.values(), ids=KEPT)
def test_results_are_of_the_subclass(call):
    ours, plain = mine(2, 3), rl.arange(1.0, 7).reshape(2, 3)
    rl.manual_seed(0)
    result = call(ours)
    rl.manual_seed(0)
    expected = call(plain)
    assert type(result) is Mine and result.tolist() == expected.tolist()


def test_what_is_no_tensor_stays_so():
    x = mine(2, 3)
    assert type(x.shape) is rl.Size and x.dim() == 2 and len(x) == 2 and x.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert type(x.numpy()).__name__ == "ndarray" and float(x[0, 0]) == 1 and 3 in x and bool(x[0, 0])
    assert repr(x).startswith("Mine(") and x.grad is None and type(x._base) is rl.Tensor
    with pytest.warns(UserWarning, match="copy construct"):
        assert type(rl.tensor(x)) is rl.Tensor
    assert rl.as_tensor(x) is x and type(rl.Tensor(2).as_subclass(rl.Tensor)) is rl.Tensor
    x[0] = 7
    assert x[0].tolist() == [7, 7, 7]
    x += 1
    assert type(x) is Mine and x[0, 0].item() == 8


def test_gradients_flow_through_results():
    x = mine(2, 3).requires_grad_()
    loss = (F.gelu(x * 2) ** 2).sum()
    assert type(loss) is Mine
    loss.backward()
    plain = x.detach().as_subclass(rl.Tensor).clone().requires_grad_()
    (F.gelu(plain * 2) ** 2).sum().backward()
    assert x.grad.tolist() == plain.grad.tolist()
    (found,) = rl.autograd.grad((x * 3).sum(), x)
    assert found.tolist() == [[3, 3, 3]] * 2


def test_attributes_and_constructors_of_a_subclass():
    class Metadata(rl.Tensor):
        @staticmethod
        def __new__(cls, data, metadata=None):
            return super().__new__(cls, data)

        def __init__(self, data, metadata=None):
            self.metadata = metadata

    x = Metadata([1.0, 2.0], metadata="kept")
    assert type(x) is Metadata and x.tolist() == [1, 2] and x.metadata == "kept"
    assert copy.deepcopy(x).metadata == "kept" and type(x * 2) is Metadata
    made = rl.Tensor._make_subclass(Mine, rl.ones(2), True)
    assert type(made) is Mine and made.requires_grad and made.is_leaf


def test_unrelated_subclasses_refuse_each_other():
    class Other(rl.Tensor):
        pass

    class Derived(Mine):
        pass

    with pytest.raises(TypeError, match="no implementation found for 'add'.*Mine.*Other"):
        rl.add(mine(2), rl.ones(2).as_subclass(Other))
    assert type(mine(2) + rl.ones(2).as_subclass(Derived)) is Derived


def test_super_runs_the_method_and_keeps_the_type():
    class Loud(rl.Tensor):
        def sum(self, *args, **kwargs):
            return super().sum(*args, **kwargs) * 2

        def detach(self):
            return super().detach()

        def __len__(self):
            return super().__len__() + 10

    x = rl.ones(3).as_subclass(Loud)
    assert x.sum().item() == 6 and type(x.sum()) is Loud and type(x.detach()) is Loud and len(x) == 13


def test_parameters_of_a_subclass():
    parameter = nn.Parameter(mine(2, 3))
    assert type(parameter) is Mine and isinstance(parameter, nn.Parameter) and parameter.requires_grad
    assert not isinstance(mine(2), nn.Parameter) and not isinstance(rl.ones(2), nn.Parameter)
    layer = nn.Linear(3, 2, bias=False)
    layer.weight = parameter
    assert [type(p) for p in layer.parameters()] == [Mine]
    out = layer(rl.ones(1, 3))
    out.sum().backward()
    rl.optim.SGD(layer.parameters(), lr=1.0).step()
    assert type(out) is Mine and layer.weight.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert isinstance(copy.deepcopy(layer).weight, nn.Parameter) and type(nn.Parameter(rl.ones(2)) * 2) is rl.Tensor

    class Loses(rl.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return rl._C._disabled_torch_function_impl(func, types, args, kwargs)

    with pytest.raises(RuntimeError, match="requires that detach"):
        nn.Parameter(rl.ones(2).as_subclass(Loses))


def test_a_subclass_may_opt_out():
    class Out(rl.Tensor):
        __torch_function__ = rl._C._disabled_torch_function_impl

    assert type(rl.ones(2).as_subclass(Out) * 2) is rl.Tensor


def test_dispatch_below_autograd_is_refused():
    class Wrapper(rl.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    for make in (lambda: Wrapper([1.0]), lambda: rl.ones(2).as_subclass(Wrapper), lambda: Wrapper()):
        with pytest.raises(NotImplementedError, match="__torch_dispatch__.*__torch_function__"):
            make()
    with pytest.raises(NotImplementedError, match="_make_wrapper_subclass.*__torch_function__"):
        rl.Tensor._make_wrapper_subclass(Mine, (2, 3))


def test_classes_with_abstract_methods_are_refused():
    class Abstract(rl.Tensor, metaclass=abc.ABCMeta):
        @abc.abstractmethod
        def what(self):
            """To be defined."""

    with pytest.raises(TypeError, match="abstract"):
        rl.ones(2).as_subclass(Abstract)


def test_errors_pass_through():
    with pytest.raises(IndexError):
        mine(2, 3).sum(dim=5)
    assert type(mine(2) + 1) is Mine  # overriding is on again


def test_public_functions_are_pickled_by_their_names():
    functions = (rl.linalg.norm, rl.norm, rl.fft.fft, rl.special.polygamma, rl.autograd.grad, rl.svd, rl.Tensor.dim)
    for function in functions:
        assert pickle.loads(pickle.dumps(function)) is function
