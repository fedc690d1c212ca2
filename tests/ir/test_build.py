# ruff: noqa: B023 - lambdas are called before their loop goes on
"""Build functions and operators against PyTorch: values, dtypes, shapes, errors."""

from __future__ import annotations

import operator
from itertools import product

import numpy as np
import pytest

from rushlight.ir import build as B
from rushlight.ir.dtypes import ALL, DType, bfloat16, float32, float64, int32, int64, uint8
from rushlight.ir.graph import Graph, Value
from rushlight.ir.interpret import interpret
from rushlight.ir.sizes import Scope

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf", "ignore:Casting complex")

NUMBERS = (True, 3, -2, 2.5, 1 + 2j)


def torch_type(dtype: DType):
    return getattr(torch, dtype.name)


def tensors(shape=(3,), seed=0):
    """One tensor of every dtype, and a number of no dimensions."""
    generator = torch.Generator().manual_seed(seed)
    for dtype in ALL:
        values = torch.randint(1, 6, shape, generator=generator)
        yield values.to(torch_type(dtype))


def run(function, *operands, weak=()):
    """Call with Values for tensors, run-time numbers for operands in `weak`, other operands as they are."""
    graph, arrays = Graph(), []
    with graph:
        values = []
        for i, x in enumerate(operands):
            if isinstance(x, torch.Tensor):
                values.append(graph.tensor(tuple(x.shape), by_torch_type(x.dtype)))
                arrays.append(array(x))
            elif i in weak:
                kind = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}[type(x)]
                values.append(graph.scalar(next(d for d in ALL if d.name == kind)))
                arrays.append(x)
            else:
                values.append(x)
        result = function(*values)
        results = result if isinstance(result, tuple) else (result,)
        graph.returns(results)
    return results, interpret(graph, arrays)


def by_torch_type(dtype) -> DType:
    return next(d for d in ALL if torch_type(d) == dtype)


def array(tensor):
    return tensor.float().numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()


def agree(function, reference, *operands, weak=(), tolerance=1e-5) -> None:
    """Same dtype, shape and values as PyTorch, or an error on both sides."""
    try:
        expected = reference(*operands)
    except (RuntimeError, TypeError) as error:
        if "ComplexHalf" in str(error):
            return  # a type that exists only there
        with pytest.raises((RuntimeError, TypeError)):
            run(function, *operands, weak=weak)
        return
    if expected.dtype == torch.complex32:
        expected = expected.to(torch.complex64)
        tolerance = 5e-3
    if expected.is_complex() and torch.bfloat16 in [getattr(x, "dtype", None) for x in operands]:
        tolerance = 5e-3  # torch divides by a number via its reciprocal, in bfloat16
    (value,), (found,) = run(function, *operands, weak=weak)
    assert torch_type(value.dtype) == expected.dtype, operands
    if expected.dtype in (torch.float16, torch.bfloat16):
        exact = function in (operator.add, operator.sub, operator.mul)  # torch divides by a number via its reciprocal
        tolerance = 0 if exact else 1e-2
    np.testing.assert_allclose(found, array(expected), rtol=tolerance, atol=tolerance, err_msg=str(operands))


ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv)


@pytest.mark.parametrize("function", ARITHMETIC, ids=lambda f: f.__name__)
def test_arithmetic_of_all_pairs_of_types(function):
    for a, b in product(tensors(), tensors(seed=1)):
        agree(function, function, a, b)
    for a, b in product(tensors(), tensors(shape=(), seed=1)):
        agree(function, function, a, b)
        agree(function, function, b, a)
    for a, number in product([*tensors(), *tensors(shape=())], NUMBERS):
        agree(function, function, a, number)
        agree(function, function, number, a)
        agree(function, function, a, number, weak=(1,))


COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge)


@pytest.mark.parametrize("function", COMPARISONS, ids=lambda f: f.__name__)
def test_comparisons(function):
    for a, b in product(tensors(), [*tensors(seed=1), *NUMBERS]):
        agree(function, function, a, b)
    for number in (300, -1, 2**40):
        agree(function, function, torch.tensor([1, 255], dtype=torch.uint8), number)
        agree(function, function, number, torch.tensor([1, 255], dtype=torch.uint8))


def test_equality_is_a_function_and_identity_an_operator():
    for a, number in product(tensors(), (3, 2.5, 300, 2**40)):
        agree(B.eq, torch.eq, a, number)
        agree(B.ne, torch.ne, a, number)
    graph = Graph()
    x, y = graph.tensor((2,), float32), graph.tensor((2,), float32)
    assert x == x and x != y and len({x, y, x}) == 2


BINARY = {
    operator.floordiv: lambda a, b: torch.div(a, b, rounding_mode="floor"),
    B.trunc_divide: lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    operator.mod: torch.remainder,
    B.fmod: torch.fmod,
    B.maximum: torch.maximum,
    B.minimum: torch.minimum,
    operator.and_: torch.bitwise_and,
    operator.or_: torch.bitwise_or,
    operator.xor: torch.bitwise_xor,
    B.logical_and: torch.logical_and,
    B.logical_or: torch.logical_or,
    B.logical_xor: torch.logical_xor,
    B.atan2: torch.atan2,
    operator.pow: torch.pow,
}


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_binary_functions(function):
    for a, b in product(tensors(), tensors(seed=1)):
        if torch.float16 in (a.dtype, b.dtype) and (a.is_complex() or b.is_complex()):
            continue
        if torch.bool in (a.dtype, b.dtype) and function is operator.pow:
            continue
        if a.dtype == b.dtype == torch.bool and function in (B.trunc_divide, operator.floordiv, operator.mod, B.fmod):
            continue  # torch divides bools for one of these only
        agree(function, BINARY[function], a, b)


UNARY = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tan", "atan",
    "sinh", "cosh", "tanh", "asinh", "erf", "erfc", "lgamma", "digamma", "sigmoid", "floor", "ceil", "trunc", "round",
    "abs", "sign", "isfinite", "isnan", "isinf", "neg", "square", "logical_not", "angle",
)  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_unary_functions(name):
    theirs = {"sign": torch.sgn, "trunc": torch.trunc}.get(name, getattr(torch, name))
    for x in tensors():
        if name in ("floor", "ceil", "round", "trunc", "square", "abs") and x.dtype == torch.bool:
            continue
        if name == "expm1" and x.is_complex():
            continue  # torch's own accuracy is low there
        agree(getattr(B, name), theirs, x, tolerance=1e-4)
        if x.is_floating_point() and name not in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt"):
            agree(getattr(B, name), theirs, -x + 0.25, tolerance=1e-4)


def test_reductions():
    for x in tensors(shape=(2, 3, 2)):
        for dims, keepdim in product((0, -1, (0, 2)), (False, True)):
            given = {"dim": dims, "keepdim": keepdim}
            agree(lambda v: B.sum(v, dims, keepdim), lambda v: v.sum(**given), x)
            agree(lambda v: B.any(v, dims, keepdim), lambda v: v.bool().any(**given), x)
            agree(lambda v: B.all(v, dims, keepdim), lambda v: v.bool().all(**given), x)
            agree(lambda v: B.mean(v, dims, keepdim), lambda v: v.mean(**given), x)
            if not x.is_complex():
                agree(lambda v: B.max(v, dims, keepdim), lambda v: v.amax(**given), x)
                agree(lambda v: B.min(v, dims, keepdim), lambda v: v.amin(**given), x)
        for dim in (0, 1):
            agree(lambda v: B.prod(v, dim), lambda v: v.prod(dim), x)
            agree(lambda v: B.cumsum(v, dim), lambda v: v.cumsum(dim), x)
            agree(lambda v: B.cumprod(v, dim), lambda v: v.cumprod(dim), x)
        agree(B.sum, torch.sum, x)


def test_half_sums_are_rounded_once():
    x = torch.full((4096,), 0.1, dtype=torch.bfloat16)
    (value,), (found,) = run(B.sum, x)
    assert value.dtype is bfloat16 and found == array(x.sum())


def test_places():
    x = torch.tensor([[1.0, 3, 3], [float("nan"), 5, float("nan")]])
    for dim, keepdim in product((None, 0, 1, -1), (False, True)):
        for ours, theirs in ((B.argmax, torch.argmax), (B.argmin, torch.argmin)):
            agree(lambda v: ours(v, dim, keepdim), lambda v: theirs(v, dim=dim, keepdim=keepdim), x)
    agree(B.argmax, torch.argmax, torch.tensor(3.0))


@pytest.mark.parametrize("name", ["cummax", "cummin", "sort", "topk"])
def test_values_and_places(name):
    x = torch.tensor([[1.0, 3, 3, float("nan"), 5, 4, -2]])
    arguments = (3, 1) if name == "topk" else (1,)
    given = {"stable": True, "dim": 1} if name == "sort" else dict(zip(("k", "dim"), arguments[-2:]))
    given = {"dim": 1} if name.startswith("cum") else given
    expected = getattr(torch, name)(x, **given)
    _, found = run(lambda v: getattr(B, name)(v, *arguments), x)
    for ours, theirs in zip(found, expected):
        np.testing.assert_array_equal(ours, theirs.numpy())
    for result in run(lambda v: getattr(B, name)(v, *((1, 0) if name == "topk" else (0,))), torch.tensor(2.0))[1]:
        assert result.shape == ()


def test_where_and_cast():
    condition = torch.tensor([True, False, True])
    for a, b in product([*tensors(), *NUMBERS], [*tensors(seed=1), *NUMBERS]):
        if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
            agree(B.where, torch.where, condition, a, b)
    for x, dtype in product(tensors(), ALL):
        agree(lambda v: B.cast(v, dtype), lambda v: v.to(torch_type(dtype)), x)
    big = torch.tensor([-1.7, 300.4, 1e3])
    agree(lambda v: B.cast(v, int32), lambda v: v.to(torch.int32), big)


def test_matmul():
    shapes = [(3,), (2, 3), (3, 2), (4, 2, 3), (4, 3, 2), (5, 1, 3, 2), (3, 3)]
    for a, b in product(shapes, shapes):
        agree(operator.matmul, operator.matmul, torch.randn(a), torch.randn(b))
    agree(operator.matmul, operator.matmul, torch.tensor([[1, 2]]), torch.tensor([[3], [4]]))


INDICES = [
    0, -1, (1, 2), (slice(1, None),), (slice(None, -1), slice(0, 10)), (Ellipsis, 1), (None, 0, Ellipsis, None),
    (slice(2, 1),), (slice(None), slice(None, None, 2)), (slice(1, 4, 3), -2), (slice(-1, None), slice(-100, 2)), (),
    Ellipsis, None, (slice(5, 9),),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_basic_indexing(index):
    x = torch.arange(60.0).reshape(3, 4, 5)
    agree(lambda v: v[index], lambda v: v[index], x)


def test_indexing_errors():
    x = torch.zeros(3, 4)
    for index, error in [(3, IndexError), ((0, -5), IndexError), ((0, 0, 0), IndexError), ("a", TypeError)]:
        with pytest.raises(error):
            run(lambda v: v[index], x)
    with pytest.raises(ValueError, match="positive"):
        run(lambda v: v[::-1], x)
    with pytest.raises(TypeError, match="0-d"):
        run(lambda v: list(v), torch.tensor(1.0))
    assert len(run(lambda v: tuple(v), x)[1]) == 3


ARRANGEMENTS = {
    "reshape": (lambda v: B.reshape(v, (2, -1)), lambda v: v.reshape(2, -1)),
    "transpose": (lambda v: B.transpose(v, 0, -1), lambda v: v.transpose(0, -1)),
    "permute": (lambda v: B.permute(v, (2, 0, -2)), lambda v: v.permute(2, 0, 1)),
    "expand": (lambda v: B.expand(v[:1], (7, -1, 3, 4)), lambda v: v[:1].expand(7, -1, 3, 4)),
    "unsqueeze": (lambda v: B.unsqueeze(v, -1), lambda v: v.unsqueeze(-1)),
    "squeeze": (lambda v: B.squeeze(B.unsqueeze(v, 1)), lambda v: v),
    "flatten": (lambda v: B.flatten(v, 1), lambda v: v.flatten(1)),
    "pad": (
        lambda v: B.pad(v, (0, -1, 2), (1, 0, -1), 3),
        lambda v: torch.nn.functional.pad(v, (2, -1, -1, 0, 0, 1), value=3),
    ),
    "flip": (lambda v: B.flip(v, (0, -1)), lambda v: v.flip(0, -1)),
    "diagonal": (lambda v: B.diagonal(v, 1, -1, 0), lambda v: v.diagonal(1, -1, 0)),
    "unfold": (lambda v: B.unfold(v, -1, 2, 2), lambda v: v.unfold(-1, 2, 2)),
    "concat": (lambda v: B.concat([v, B.cast(v, float64)], -1), lambda v: torch.cat([v, v.double()], -1)),
    "stack": (lambda v: B.stack([v, v], -1), lambda v: torch.stack([v, v], -1)),
    "select": (lambda v: B.select(v, 1, 2), lambda v: v.select(1, 2)),
    "iota": (lambda v: B.iota((2, 3), -1), lambda v: torch.arange(3).expand(2, 3)),
    "mean": (lambda v: B.mean(v, (0, 2)), lambda v: v.mean((0, 2))),
    "clamp": (lambda v: B.clamp(v, -0.5, 1), lambda v: v.clamp(-0.5, 1)),
}


@pytest.mark.parametrize("name", ARRANGEMENTS)
def test_arrangements(name):
    ours, theirs = ARRANGEMENTS[name]
    agree(ours, theirs, torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0)))


def test_errors_name_what_is_wrong():
    x, y = torch.zeros(2, 3), torch.zeros(2, 4)
    with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match the size of tensor b \(4\)"):
        run(operator.add, x, y)
    with pytest.raises(RuntimeError, match="invalid for input"):
        run(lambda v: B.reshape(v, (4, -1)), x)
    with pytest.raises(IndexError, match="Dimension out of range"):
        run(lambda v: B.sum(v, 2), x)
    with pytest.raises(RuntimeError, match="bool tensor"):
        run(operator.neg, x.bool())
    with pytest.raises(RuntimeError, match="inner sizes"):
        run(operator.matmul, x, x)
    with pytest.raises(OverflowError):
        run(lambda v: v + 2**70, x)
    with pytest.raises(TypeError):
        run(lambda v: v + "a", x)
    with pytest.raises(TypeError, match="truth"):
        run(lambda v: bool(v > 0), x)


def test_integers_wrap_as_in_torch():
    for dtype, number in [(torch.uint8, 300), (torch.int8, -300), (torch.int32, 2**40 + 3)]:
        agree(operator.add, operator.add, torch.tensor([1], dtype=dtype), number)


def test_runtime_numbers_stay_numbers():
    graph = Graph()
    with graph:
        x, n, s = graph.tensor((2,), bfloat16), graph.tensor((2,), int64), graph.scalar(float64)
        scale = s * 2 + 1
        assert scale.weak and scale.dtype is float64 and (s > 1).weak
        assert (x * scale).dtype is bfloat16 and not (x * scale).weak
        assert (n * scale).dtype is float32
        assert (graph.scalar(int64) / 2).dtype is float64 and B.exp(graph.scalar(int64)).dtype is float64


def test_number_is_not_rounded_to_half_before_use():
    x = torch.tensor([3.0, 7.0], dtype=torch.bfloat16)
    for function, number in product(ARITHMETIC[:3], (0.1, torch.tensor(0.1), torch.tensor(0.1, dtype=torch.float64))):
        agree(function, function, x, number)


def test_literal_powers():
    for dtype in (torch.bfloat16, torch.float32, torch.int64, torch.complex64):
        x = torch.tensor([1.3, 2.7, 3.1]).to(dtype)
        for exponent in (0, 1, 2, 3, 4, 2.5, 0.5, -0.5, -1.0):
            agree(operator.pow, operator.pow, x, exponent)
        agree(operator.pow, operator.pow, 2, x)
    x = torch.tensor([1.3, 2.7, 3.1], dtype=torch.bfloat16)
    once = (x.float() ** 3).bfloat16()  # torch itself rounds each product
    np.testing.assert_array_equal(run(lambda v: v**3, x)[1][0], array(once))


def test_symbolic_sizes_as_data_and_shapes():
    scope = Scope()
    n = scope.symbol(4)
    graph = Graph(scope)
    with graph:
        x = graph.tensor((n, 3), float32)
        graph.returns([B.mean(x, 0), x * n, x[: n - 1], B.reshape(x, (-1,)), B.iota((n,)) + n])
    array = np.arange(18, dtype="float32").reshape(6, 3)
    mean, scaled, cut, flat, ramp = interpret(graph, [array])
    np.testing.assert_array_equal(mean, array.mean(0))
    np.testing.assert_array_equal(scaled, array * 6)
    assert cut.shape == (5, 3) and flat.shape == (18,) and ramp.tolist() == [6, 7, 8, 9, 10, 11]
    assert list(scope.guards) == ["s0 > 1"]


def test_values_stay_light():
    assert not hasattr(Value((), uint8), "__dict__")
