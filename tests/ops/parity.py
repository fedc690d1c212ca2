"""One expression, evaluated with PyTorch and with rushlight as `T`: both must give, or raise, the same."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import rushlight

torch = pytest.importorskip("torch")
TOLERANCE = 2e-6


def evaluate(module, expression: str, names=None):
    torch.manual_seed(7)
    rushlight.manual_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            given = {} if names is None else names(module)
            return described(eval(expression, {"T": module, "np": np, "math": math, **given}))
        except Exception as error:
            return ("raises", [kind.__name__ for kind in type(error).__mro__])


def described(value):
    """What is compared of a result: of a tensor its dtype, shape, requires_grad and numbers."""
    if isinstance(value, (torch.Tensor, rushlight.Tensor)):
        dtype = str(value.dtype).partition(".")[2]
        return ("tensor", dtype, tuple(value.shape), value.requires_grad, value.detach().tolist())
    if isinstance(value, (tuple, list)):
        return [described(part) for part in value]
    return value if isinstance(value, (bool, int, float, complex)) else str(value).replace("torch.", "rushlight.")


def close(a, b) -> bool:
    if isinstance(a, (tuple, list)):
        return isinstance(b, (tuple, list)) and len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, (float, complex)) and isinstance(b, (float, complex)):
        return a == b or (a != a and b != b) or abs(a - b) <= TOLERANCE * (1 + abs(b))
    return type(a) is type(b) and a == b


def agree(expression: str, names=None) -> None:
    """Fail unless both engines give equal results or raise errors of one type (ours may be of several).

    `names(module)` gives what the expression may use besides T.
    """
    theirs, ours = (evaluate(module, expression, names) for module in (torch, rushlight))
    if raised(theirs) and raised(ours):
        kind = theirs[1][0].lstrip("_")  # PyTorch keeps LinAlgError in a private module
        theirs, ours = kind, kind if kind in ours[1] else ours[1][0]
    assert close(ours, theirs), f"{expression}\n  rushlight: {str(ours)[:600]}\n  PyTorch:   {str(theirs)[:600]}"


def raised(outcome) -> bool:
    return isinstance(outcome, tuple) and outcome[0] == "raises"


def numbers(module) -> dict:
    """Tensors to use in expressions: X (3, 4), Y (4,), S a scalar, E an empty one, and `L` to make others."""
    count = module.arange(12.0, dtype=module.float64)
    return {
        "L": module.tensor,
        "X": count.reshape(3, 4) - 3,
        "Y": count[:4] * 1.5 + 1,
        "S": module.tensor(5.0, dtype=module.float64),
        "E": module.tensor([]),
        "gradients": lambda function: gradients(module, function),
    }


def gradients(module, function) -> list:
    """The gradients at X, Y and S of the sum of squares of what `function(X, Y, S)` gives."""
    leaves = [numbers(module)[name].requires_grad_() for name in "XYS"]
    made = function(*leaves)
    parts = [p for p in (made if isinstance(made, (tuple, list)) else [made]) if p.requires_grad]
    sum((p * p.conj()).real.sum() if p.is_complex() else (p * p).sum() for p in parts).backward()
    return [leaf.grad for leaf in leaves if leaf.grad is not None]


def table(text: str):
    """A parametrised test argument `expression`: one for each line."""
    lines = [line.strip() for line in text.splitlines()]
    return pytest.mark.parametrize("expression", [line for line in lines if line])
