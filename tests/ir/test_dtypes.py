"""Element types: promotion and limits are PyTorch's."""

from __future__ import annotations

import pickle
from itertools import product

import pytest

from rushlight.ir import dtypes
from rushlight.ir.dtypes import ALL, STORED, can_cast, dtype_named, finfo, iinfo, promote_types, result_type

torch = pytest.importorskip("torch")

NUMBERS = {bool: True, int: 1, float: 1.0, complex: 1j}
NUMBER_DTYPES = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def theirs(dtype):
    return getattr(torch, dtype.name)


@pytest.mark.parametrize("a", STORED, ids=str)
def test_promote_types(a):
    for b in STORED:
        try:
            expected = torch.promote_types(theirs(a), theirs(b))
        except RuntimeError:
            with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64"):
                promote_types(a, b)
        else:
            assert theirs(promote_types(a, b)) == expected, (a, b)


def operands():
    """(ours, torch's) for tensors with and without dimensions, and Python numbers."""
    for dtype in ALL:
        yield (dtype, False, False), torch.zeros(2, dtype=theirs(dtype))
        yield (dtype, True, False), torch.zeros((), dtype=theirs(dtype))
    for kind, number in NUMBERS.items():
        yield (dtype_named(NUMBER_DTYPES[kind]), True, True), number


@pytest.mark.parametrize("default", ["float32", "float64"])
def test_result_type(default, monkeypatch):
    monkeypatch.setattr(dtypes, "default", dtype_named(default))
    torch.set_default_dtype(getattr(torch, default))
    try:
        for (a, x), (b, y) in product(operands(), operands()):
            expected = torch.result_type(x, y)
            # torch has half-precision complex numbers; here their parts are float32
            expected = torch.complex64 if expected == torch.complex32 else expected
            assert theirs(result_type(a, b)) == expected, (a, b)
    finally:
        torch.set_default_dtype(torch.float32)


def test_can_cast():
    for a, b in product(ALL, ALL):
        assert can_cast(a, b) == torch.can_cast(theirs(a), theirs(b)), (a, b)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_limits(dtype):
    if dtype.kind in "fc":
        names = ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")
        ours, other = finfo(dtype), torch.finfo(theirs(dtype))
    elif dtype.kind in "ui":
        names = ("bits", "max", "min", "dtype")
        ours, other = iinfo(dtype), torch.iinfo(theirs(dtype))
    else:
        for limits in (finfo, iinfo):
            with pytest.raises(TypeError):
                limits(dtype)
        return
    for name in names:
        assert getattr(ours, name) == getattr(other, name), name


def test_types_are_interned():
    for dtype in ALL:
        assert pickle.loads(pickle.dumps(dtype)) is dtype and dtype_named(dtype.name) is dtype
    assert repr(dtypes.float32) == "rushlight.float32" and ALL[3].code == 3
