"""One expression, evaluated with PyTorch and with rushlight as `T`: both must give, or raise, the same."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import rushlight

torch = pytest.importorskip("torch")
TOLERANCE = 2e-6


def evaluate(module, expression: str):
    torch.manual_seed(7)
    rushlight.manual_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return described(eval(expression, {"T": module, "np": np, "math": math}))
        except Exception as error:
            return ("raises", type(error).__name__)


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


def agree(expression: str) -> None:
    """Fail unless both engines give equal results or raise errors of one type."""
    theirs, ours = evaluate(torch, expression), evaluate(rushlight, expression)
    assert close(ours, theirs), f"{expression}\n  rushlight: {str(ours)[:600]}\n  PyTorch:   {str(theirs)[:600]}"


def table(text: str):
    """A parametrised test argument `expression`: one for each line."""
    lines = [line.strip() for line in text.splitlines()]
    return pytest.mark.parametrize("expression", [line for line in lines if line])
