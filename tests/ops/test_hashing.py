"""Hashes."""

import functools
import operator
import struct

import pytest

import rushlight as rl


def bits(number):
    return struct.unpack("<Q", struct.pack("<d", number) if isinstance(number, float) else struct.pack("<q", number))[0]


def expected(numbers):
    return functools.reduce(operator.xor, map(bits, numbers), 0)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 64, 101])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "float16"])
def test_exclusive_or(n, dtype):
    x = (rl.rand(n) * 200 - 100).to(getattr(rl, dtype))
    found = rl.hash_tensor(x)
    assert found.dtype is rl.uint64 and found.item() == expected(x.tolist())


def test_dims():
    x = rl.rand(2, 3, 4)
    rows = x.hash_tensor(2, keepdim=True)
    assert rows.shape == (2, 3, 1) and rows[1, 0, 0].item() == expected(x[1, 0].tolist())
    outer = x.hash_tensor((0, 2))
    assert outer.shape == (3,) and outer[1].item() == expected(x[:, 1].reshape(-1).tolist())
    assert rl.hash_tensor(rl.zeros(2, 0), 1).tolist() == [0, 0]
    out = rl.empty(0, dtype=rl.uint64)
    assert rl.hash_tensor(x, out=out) is out and out.item() == expected(x.reshape(-1).tolist())
    assert rl.hash_tensor(rl.tensor([True, False])).item() == 1


def test_errors():
    with pytest.raises(RuntimeError, match="mode"):
        rl.hash_tensor(rl.ones(1), mode=1)
    with pytest.raises(NotImplementedError, match="Complex"):
        rl.hash_tensor(rl.ones(1, dtype=rl.complex64))
