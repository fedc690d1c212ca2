"""`assert_close` and `make_tensor`."""

import pytest

import rushlight as rl
from rushlight.testing import assert_close, make_tensor

DTYPES = [rl.float16, rl.bfloat16, rl.float32, rl.float64, rl.complex64, rl.complex128]
DTYPES += [rl.bool, rl.uint8, rl.int8, rl.int16, rl.int32, rl.int64]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_make_tensor_stays_within_its_bounds(dtype):
    made = make_tensor(20, 5, dtype=dtype, device="cpu")
    assert made.dtype is dtype and tuple(made.shape) == (20, 5) and made.is_contiguous()
    values = [part for row in made.tolist() for z in row for part in (complex(z).real, complex(z).imag)]
    low, high = (0, 1) if dtype is rl.bool else (0, 9) if dtype is rl.uint8 else (-9, 9)
    assert all(low <= v <= high for v in values) and len(set(values)) > 1


def test_make_tensor_options():
    odd = make_tensor((3, 4), dtype=rl.float32, device="cpu", noncontiguous=True, low=2, high=3)
    assert odd.stride() == (8, 2) and min(odd.reshape(-1).tolist()) >= 2 and max(odd.reshape(-1).tolist()) < 3
    assert make_tensor((), dtype=rl.float64, requires_grad=True).requires_grad
    assert 0 not in make_tensor(200, dtype=rl.int64, low=-1, high=2, exclude_zero=True).tolist()
    for wrong in ({"low": 3, "high": 1}, {"low": float("nan")}, {"requires_grad": True, "dtype": rl.int64}):
        with pytest.raises(ValueError):
            make_tensor(2, **{"dtype": rl.float32, **wrong})


CLOSE = [
    (rl.tensor([1.0, 2.0]), rl.tensor([1.0, 2.0 + 1e-6]), {}),
    (rl.tensor([1, 2]), rl.tensor([1, 2]), {}),
    (1.0, 1.0 + 1e-9, {}),
    ([rl.ones(2), {"a": 1}], [rl.ones(2), {"a": 1}], {}),
    (rl.tensor(float("inf")), rl.tensor(float("inf")), {}),
    (rl.tensor(float("nan")), rl.tensor(float("nan")), {"equal_nan": True}),
    (rl.ones(2), rl.ones(2, dtype=rl.float64), {"check_dtype": False}),
    (rl.ones(0, 3), rl.ones(0, 3), {}),
    (rl.tensor([True]), rl.tensor([True]), {}),
    (rl.tensor([1 + 1j]), rl.tensor([1 + 1j]), {}),
    (rl.tensor([1.0]), rl.tensor([1.5]), {"rtol": 0.5, "atol": 0.0}),
]
APART = [
    (rl.tensor([1.0, 2.0]), rl.tensor([1.0, 2.1]), "Mismatched elements: 1 / 2"),
    (rl.ones(2), rl.ones(3), "'shape'"),
    (rl.ones(2), rl.ones(2, dtype=rl.float64), "'dtype'"),
    (rl.tensor(float("nan")), rl.tensor(float("nan")), "not close"),
    (rl.tensor(float("inf")), rl.tensor(-float("inf")), "not close"),
    (rl.tensor([3, 4]), rl.tensor([3, 5]), "at index \\(1,\\)"),
    ([1.0, 2.0], [1.0], "length"),
    ({"a": 1}, {"b": 1}, "keys"),
    ([1.0, 2.0], [1.0, 2.5], "item \\[1\\]"),
    (1, 1.0, "types"),
    (None, 1.0, "None"),
]


@pytest.mark.parametrize(("a", "b", "options"), CLOSE)
def test_close(a, b, options):
    assert_close(a, b, **options)


@pytest.mark.parametrize(("a", "b", "message"), APART)
def test_apart(a, b, message):
    with pytest.raises(AssertionError, match=message):
        assert_close(a, b)


def test_messages_and_wrong_calls():
    with pytest.raises(AssertionError, match="mine"):
        assert_close(1.0, 2.0, msg="mine")
    with pytest.raises(AssertionError, match="^<.*close"):
        assert_close(1.0, 2.0, msg=lambda text: "<" + text)
    with pytest.raises(ValueError, match="both"):
        assert_close(1.0, 1.0, rtol=1e-3)
    with pytest.raises(TypeError):
        assert_close("a", "a")
    with pytest.raises(AssertionError, match="stride"):
        assert_close(rl.ones(2, 3), rl.ones(3, 2).t(), check_stride=True)
