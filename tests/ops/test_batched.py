"""Every op of the table under `vmap` against a loop over samples: all operands batched, and some shared."""

import numpy as np
import pytest

import rushlight as rl
from rushlight.func import grad, vmap
from rushlight.ops import OPS

from .op_samples import Maker
from .op_table import TABLE
from .test_op_table import as_list, flat_tensors, in_numpy, replaced, tensors_of

SAMPLES = 2
ROWS = pytest.mark.parametrize("row", [row for row in TABLE if row.name in OPS], ids=lambda row: row.name)


def samples_of(row, letter, gradient=False):
    """The row's first call with tensors, once for each sample: (function of its tensors, their values for each)."""
    makers = [Maker(f"{row.name}{k}", letter) for k in range(SAMPLES)]
    calls = [
        call if isinstance(call[-1], dict) else (*call, {}) for call in map(next, map(iter, map(row.samples, makers)))
    ]
    arguments = [tensors_of(call, letter, gradient=gradient) for call in calls]

    def function(*given):
        args, kwargs = replaced(*arguments[0], iter(given))
        return tuple(as_list(OPS[row.name](*args, **kwargs)))

    return function, [flat_tensors(*a) for a in arguments]


def masks(count: int) -> list:
    """Which operands are batched: all; the first alone; all but the first."""
    every = (True,) * count
    return [every] if count == 1 else [every, (True, *(False,) * (count - 1)), (False, *every[1:])]


def batched(values, mask):
    """Operands for `vmap` and its in_dims, and the operands of each sample."""
    given = [rl.stack(list(ts)) if m else ts[0] for ts, m in zip(zip(*values), mask)]
    each = [[ts[k] if m else ts[0] for ts, m in zip(zip(*values), mask)] for k in range(SAMPLES)]
    return given, tuple(0 if m else None for m in mask), each


def check(found, expected, rtol):
    for y, parts in zip(found, zip(*expected, strict=True), strict=True):
        wanted = np.stack([in_numpy(p) for p in parts])
        assert y.dtype is parts[0].dtype and tuple(y.shape) == wanted.shape
        np.testing.assert_allclose(in_numpy(y), wanted, rtol=rtol, atol=rtol)


@ROWS
def test_values(row):
    function, values = samples_of(row, row.dtypes[0])
    if not values[0] or len({tuple(t.shape for t in sample) for sample in values}) > 1:
        return
    for mask in masks(len(values[0])):
        given, dims, each = batched(values, mask)
        check(vmap(function, dims)(*given), [function(*sample) for sample in each], 1e-4)


@ROWS
def test_gradients(row):
    """The gradients of each sample, and their sums for operands that all samples share."""
    if row.grad == "" or "f" not in row.dtypes:
        return
    function, values = samples_of(row, "d", gradient=True)
    wanted = tuple(i for i, t in enumerate(values[0]) if t.requires_grad)
    if not wanted or not any(y.requires_grad for y in function(*values[0])):
        return
    if len({tuple(t.shape for t in sample) for sample in values}) > 1:
        return
    values = [[t.detach() for t in sample] for sample in values]

    def number(*given):
        outputs = [y for y in function(*given) if y.is_floating_point() or y.is_complex()]
        outputs = [rl.view_as_real(y) if y.is_complex() else y for y in outputs]
        return sum((y * rl.arange(1.0, y.numel() + 1, dtype=y.dtype).reshape(y.shape)).sum() for y in outputs)

    mask = masks(len(values[0]))[-1]
    given, dims, each = batched(values, mask)
    expected = [grad(number, wanted)(*sample) for sample in each]
    check(vmap(grad(number, wanted), dims)(*given), expected, 1e-6)
    together = grad(lambda *given: vmap(number, dims)(*given).sum(), wanted)(*given)
    for i, g, parts in zip(wanted, together, zip(*expected)):
        parts = rl.stack(list(parts))
        np.testing.assert_allclose(g.numpy(), (parts if mask[i] else parts.sum(0)).numpy(), rtol=1e-6, atol=1e-8)
