"""The same question to PyTorch and to us: arguments, answers, comparison."""

import numpy as np
import pytest

import rushlight as rl

torch = pytest.importorskip("torch")
SIDES = (torch, rl)
ERRORS = (ValueError, TypeError, RuntimeError, NotImplementedError)


def tensor_on(side, value, dtype="float64"):
    """A float array as a tensor of one side; other values as they are."""
    return side.tensor(value.tolist(), dtype=getattr(side, dtype)) if isinstance(value, np.ndarray) else value


def made_on(side, name, parameters, dtype="float64"):
    """A distribution, with its parameters as tensors."""
    given = {key: tensor_on(side, value, dtype) for key, value in parameters.items()}
    return getattr(side.distributions, name)(**given)


def ours(tensor):
    """PyTorch's tensor as one of ours."""
    return rl.tensor(tensor.tolist(), dtype=getattr(rl, str(tensor.dtype).split(".")[1]))


def answer(function):
    try:
        return function()
    except ERRORS as error:
        return error


def array_of(value):
    return np.asarray(value.detach().numpy() if hasattr(value, "detach") else value, "float64")


def same(ask, tolerance=1e-9):
    """Whether `ask(torch)` and `ask(rushlight)` agree: values, shapes and dtypes, or the kind of error."""
    theirs, own = (answer(lambda side=side: ask(side)) for side in SIDES)
    if isinstance(theirs, Exception) or isinstance(own, Exception):
        assert type(theirs) is type(own), (theirs, own)
    elif hasattr(theirs, "detach"):
        assert tuple(theirs.shape) == tuple(own.shape)
        assert str(theirs.dtype).split(".")[1] == own.dtype.name
        np.testing.assert_allclose(array_of(own), array_of(theirs), rtol=tolerance, atol=tolerance)
    else:
        assert str(own).replace("rushlight", "torch") == str(theirs)
