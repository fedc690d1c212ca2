"""Words in messages: functions as users call them, dtypes as PyTorch names them, the dim that does not fit."""

import pytest

import rushlight as rl
from rushlight import nn

F = nn.functional
X, I = rl.ones(2, 3), rl.zeros(2, 3, dtype=rl.int64)

TYPES = {
    "clone(): argument 'input' (position 1) must be Tensor, not str": lambda: rl.clone("x"),
    "isin(): argument 'elements' (position 1) must be Tensor, not str": lambda: rl.isin("x", X),
    "scatter(): argument 'src' (position 4) must be Tensor or Number, not str": lambda: rl.scatter(X, 0, I, "x"),
    "clamp(): argument 'min' (position 2) must be Tensor or Number, not str": lambda: X.clamp("x"),
    "add(): argument 'alpha' (position 3) must be Tensor or Number, not str": lambda: rl.add(X, X, alpha="x"),
    "add_(): argument 'other' (position 2) must be Tensor or Number, not str": lambda: X.add_("x"),
    "relu(): argument 'input' (position 1) must be Tensor, not NoneType": lambda: F.relu(None),
    "sum(): argument 'dim' (position 2) must be int, not str": lambda: X.sum("x"),
    "argument 'kernel_size' must be tuple of ints, but got 'x'": lambda: F.max_pool2d(rl.ones(1, 1, 4, 4), "x"),
    "argument 'output_size' must be tuple of ints": lambda: F.adaptive_avg_pool2d(rl.ones(1, 1, 4, 4), "x"),
    "unsupported format string passed to Tensor.__format__": lambda: f"{X:.2f}",
    "unsupported operand type(s) for +: 'rushlight.Tensor' and 'str'": lambda: X + "a",
}


@pytest.mark.parametrize("message", TYPES)
def test_errors_of_types(message):
    with pytest.raises(TypeError) as caught:
        TYPES[message]()
    assert message in str(caught.value)


WORDS = {
    "Expected a long tensor for index, but got Float": lambda: X.take(X),
    "result type Float can't be cast to the desired output type Long": lambda: I.add_(1.5),
    "result type ComplexFloat can't be cast to the desired output type Float": lambda: X.clone().mul_(1j),
    "self.dtype = Float and source.dtype = Long": lambda: X.put(rl.tensor([0]), rl.tensor([1])),
    "Float did not match Double": lambda: rl.isclose(X, X.double()),
    "boolean tensor, but got a tensor with dtype Float": lambda: rl.where(X, X, X),
    "Input dtype must be either a floating point or complex dtype. Got: Long": lambda: I.mean(),
    "std and var only support floating point and complex dtypes": lambda: I.std(),
    "\"median_cpu\" not implemented for 'ComplexFloat'": lambda: X.to(rl.complex64).median(),
    "\"bincount_cpu\" not implemented for 'Float'": lambda: X[0].bincount(),
    "The size of tensor a (3) must match the size of tensor b (5) at non-singleton dimension 1": lambda: (
        X + rl.ones(4, 5)
    ),
    "Trying to create tensor with negative dimension: [-2, 6]": lambda: X.repeat(-1, 2),
    "Number of elements of source < number of ones in mask": lambda: X.masked_scatter(X > 0, rl.ones(1)),
}


@pytest.mark.parametrize("message", WORDS)
def test_words(message):
    with pytest.raises(RuntimeError) as caught:
        WORDS[message]()
    assert message in str(caught.value)


def test_classes_have_the_names_that_users_know():
    assert repr(rl.Tensor) == "<class 'rushlight.Tensor'>" and repr(rl.Size) == "<class 'rushlight.Size'>"
    with pytest.raises(AttributeError, match="'dtype' object has no attribute 'foo'"):
        _ = rl.float32.foo
