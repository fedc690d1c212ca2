"""Masked functions: elements left out have no influence, and results are those of the elements that stay."""

import math

import pytest

import rushlight as rl
from rushlight import masked

NAN, INF = float("nan"), float("inf")
# the places left out hold what would spoil any result
X = rl.tensor([[-3.0, NAN, -1.0], [0.0, INF, 2.0], [5.0, 4.0, 3.0]])
MASK = rl.tensor([[True, False, True], [True, False, True], [True, True, True]])
ROWS = [[-3.0, -1.0], [0.0, 2.0], [5.0, 4.0, 3.0]]


def close(actual, expected, **options):
    rl.testing.assert_close(actual, rl.tensor(expected, dtype=actual.dtype), equal_nan=True, **options)


def variance(row, correction=1):
    mean = sum(row) / len(row)
    return sum((x - mean) ** 2 for x in row) / (len(row) - correction)


@pytest.mark.parametrize(
    "name, arguments, expected",
    [
        ("sum", (1,), sum),
        ("prod", (1,), math.prod),
        ("amax", (1,), max),
        ("amin", (1,), min),
        ("mean", (1,), lambda row: sum(row) / len(row)),
        ("median", (1,), lambda row: sorted(row)[(len(row) - 1) // 2]),
        ("norm", (2, 1), lambda row: math.sqrt(sum(x * x for x in row))),
        ("norm", (INF, 1), lambda row: max(map(abs, row))),
        ("norm", (-INF, 1), lambda row: min(map(abs, row))),
        ("norm", (0, 1), lambda row: sum(x != 0 for x in row)),
        ("var", (1,), variance),
        ("var", (1, False), lambda row: variance(row, 0)),
        ("std", (1,), lambda row: math.sqrt(variance(row))),
        ("logsumexp", (1,), lambda row: math.log(sum(map(math.exp, row)))),
    ],
)
def test_reductions_are_those_of_valid_elements(name, arguments, expected):
    made = getattr(masked, name)(X, *arguments, mask=MASK)
    close(made, [expected(row) for row in ROWS])
    kept = getattr(masked, name)(X, *arguments, keepdim=True, mask=MASK)
    assert kept.shape == (3, 1) and rl.equal(kept[:, 0], made)


def test_norms_of_negative_order_ignore_what_is_left_out():
    x, mask = rl.tensor([-3.0, -2.0, -1.0]), rl.tensor([True, False, True])
    close(masked.norm(x, -1, 0, mask=mask), 0.75)  # 1 / (1/3 + 1)


def test_places_of_extremes():
    assert masked.argmax(X, 1, mask=MASK).tolist() == [2, 2, 0] and masked.argmin(X, 1, mask=MASK).tolist() == [0, 0, 2]
    assert masked.argmax(X.int(), mask=MASK).dtype is rl.int32 and masked.argmax(X, mask=MASK).item() == 6
    assert masked.argmax(X, 1, dtype=rl.int64, keepdim=True, mask=MASK).tolist() == [[2], [2], [0]]


def test_what_nothing_valid_gives():
    none = rl.zeros(2, dtype=rl.bool)
    x = rl.tensor([3.0, 4.0])
    expected = {"sum": 0, "prod": 1, "amax": -INF, "amin": INF, "mean": NAN, "var": NAN, "logsumexp": -INF}
    for name, value in {**expected, "std": NAN, "median": NAN, "argmax": 0}.items():
        close(getattr(masked, name)(x, 0, mask=none), value)
    close(masked.norm(x, 2, 0, mask=none), 0)
    close(masked.softmax(x, 0, mask=none), [NAN, NAN])
    close(masked.normalize(x, 2, 0, mask=none), [0, 0])
    whole = rl.tensor([3, 4], dtype=rl.int32)
    assert masked.amax(whole, 0, mask=none).item() == -(2**31) and masked.amin(whole, 0, mask=none).item() == 2**31 - 1
    assert masked.logsumexp(whole, 0, mask=none).item() == -(2**31)
    assert masked.logsumexp(whole.long(), 0, mask=none).item() == -(2**63)
    with pytest.raises(ValueError, match="fully masked out"):
        masked.median(whole, 0, mask=none)


@pytest.mark.parametrize("name, sign", [("softmax", 1), ("softmin", -1), ("log_softmax", 1)])
def test_softmaxes(name, sign):
    made = getattr(masked, name)(X, 1, mask=MASK)
    for i, row in enumerate(ROWS):
        weights = [math.exp(sign * x) for x in row]
        wanted = [w / sum(weights) for w in weights]
        close(made[i][MASK[i]], [math.log(w) for w in wanted] if name == "log_softmax" else wanted)
    assert made[0, 1].item() == (-INF if name == "log_softmax" else 0)


def test_softmax_of_unsigned_numbers_ignores_what_is_left_out():
    x, mask = rl.tensor([3, 2, 1], dtype=rl.uint8), rl.tensor([True, False, True])
    close(masked.softmax(x, 0, dtype=rl.float64, mask=mask)[mask].sum(), 1.0)
    with pytest.raises(NotImplementedError, match="softmax"):
        masked.softmax(x, 0, mask=mask)


def test_normalize_and_scans():
    close(masked.normalize(X[:1], 2, 1, mask=MASK[:1]), [[-3 / math.sqrt(10), 0, -1 / math.sqrt(10)]])
    close(masked.cumsum(X, 1, mask=MASK), [[-3, -3, -4], [0, 0, 2], [5, 9, 12]])
    close(masked.cumprod(X, 1, mask=MASK), [[-3, -3, 3], [0, 0, 0], [5, 20, 60]])
    assert masked.cumsum(rl.ones(3, dtype=rl.uint8), 0).dtype is rl.uint8


def test_logaddexp_has_two_masks():
    mask = rl.tensor([True, False, True])
    x, y = rl.tensor([-100.0, -200.0, -300.0]), rl.tensor([-1.0, -2.0, -3.0])
    close(masked.logaddexp(x, y, input_mask=mask, other_mask=mask), [-1, -INF, -3])
    close(masked.logaddexp(x, y, input_mask=mask, other_mask=~mask), [-100, -2, -300])
    assert masked.logaddexp(x, y, dtype=rl.float64).dtype is rl.float64


@pytest.mark.parametrize("dtype", [rl.bool, rl.uint8, rl.int16, rl.int32, rl.int64])
def test_whole_numbers_add_up_in_int64(dtype):
    x, mask = rl.ones(300, dtype=dtype), rl.arange(300) % 2 == 0
    for name, value in (("sum", 150), ("prod", 1)):
        made = getattr(masked, name)(x, mask=mask)
        assert made.dtype is rl.int64 and made.item() == value
    assert masked.sum(x, dtype=rl.float32, mask=mask).dtype is rl.float32
    assert masked.var(x.int(), mask=mask).dtype is rl.float32


def test_medians_of_whole_numbers_are_exact():
    x = rl.tensor([2**60 + 1, 5, 2**60 + 3, 2**63 - 1])
    assert masked.median(x, mask=rl.tensor([True, False, True, True])).item() == 2**60 + 3
    assert masked.median(x, keepdim=True).tolist() == [2**60 + 1]


def test_complex_numbers():
    x = rl.tensor([1 + 2j, 3 - 1j, 5 + 0j])
    mask = rl.tensor([True, False, True])
    assert masked.sum(x, mask=mask).item() == 6 + 2j and masked.mean(x, mask=mask).item() == 3 + 1j
    made = masked.var(x, mask=mask)
    assert made.dtype is rl.complex64 and made.item() == 10  # PyTorch: the input's type
    with pytest.raises(NotImplementedError, match="no identity for"):
        masked.amax(x, mask=mask)


@pytest.mark.parametrize("dim", [None, (), (0, 1), 0, -1, (1,)])
def test_dims(dim):
    x = rl.arange(6.0).reshape(2, 3)
    for name in ("sum", "prod", "amax", "amin", "mean", "var", "std", "logsumexp"):
        made = getattr(masked, name)(x, dim, mask=rl.ones(3, dtype=rl.bool))
        rl.testing.assert_close(made, getattr(masked, name)(x, dim))
        kept = getattr(masked, name)(x, dim, keepdim=True)
        assert kept.ndim == 2 and rl.equal(kept.reshape(made.shape), made), name
        assert made.ndim == (1 if dim in (0, -1, (1,)) else 0), name


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "amax", "logsumexp", "norm", "var", "cumsum", "softmax"])
def test_elements_left_out_get_no_gradient(name):
    x = rl.tensor([1.0, 2.0, 4.0, 3.0], dtype=rl.float64, requires_grad=True)
    mask = rl.tensor([True, False, True, True])
    arguments = (2.0, 0) if name == "norm" else (0,)

    def function(x):
        return getattr(masked, name)(x, *arguments, mask=mask)

    (gradient,) = rl.autograd.grad((function(x) ** 2).sum(), x)
    assert gradient[1].item() == 0
    assert rl.autograd.gradcheck(function, (x,))


def test_errors():
    x = rl.ones(2, 3)
    with pytest.raises(IndexError, match="more dims"):
        masked.sum(x, 1, mask=rl.ones(1, 2, 3, dtype=rl.bool))
    with pytest.raises(RuntimeError):
        masked.sum(x, 1, mask=rl.ones(2, 2, dtype=rl.bool))
    with pytest.raises(TypeError, match="Tensor as mask"):
        masked.sum(x, mask=3)
    with pytest.raises(TypeError, match="Tensor as input"):
        masked.sum([1.0])
    with pytest.raises(NotImplementedError, match="to_dense"):
        masked.sum(x.to_sparse())
    with pytest.raises(ValueError, match="Could not infer output dtype"):
        masked.mean(x.long())
    with pytest.raises(AssertionError, match="Only one"):
        masked.var(x, unbiased=True, correction=1)
    with pytest.raises(AttributeError, match="'MaskedTensor': Tensors that carry masks"):
        masked.MaskedTensor
    for name in ("sum", "prod", "amax", "mean"):
        with pytest.raises(IndexError):
            getattr(masked, name)(x, 2)
        with pytest.raises(RuntimeError):
            getattr(masked, name)(x, (0, -2))


def test_parity_with_pytorch():
    torch = pytest.importorskip("torch")
    theirs, ours = torch.randn(4, 5, 6), torch.rand(4, 5, 6) > 0.4
    x, mask = rl.from_numpy(theirs.numpy()), rl.from_numpy(ours.numpy())
    for name in masked.__all__:
        if name == "logaddexp":
            continue
        for dim in (0, 1, -1):
            arguments = (2.0, dim) if name in ("norm", "normalize") else (dim,)
            expected = getattr(torch.masked, name)(theirs, *arguments, mask=ours)
            made = getattr(masked, name)(x, *arguments, mask=mask)
            assert str(made.dtype).split(".")[1] == str(expected.dtype).split(".")[1], name
            rl.testing.assert_close(made, rl.from_numpy(expected.numpy()), equal_nan=True)


@pytest.mark.parametrize("dtype", [rl.float16, rl.bfloat16])
def test_fractional_corrections_keep_half_types(dtype):
    made = masked.var(rl.tensor([1.0, 3.0], dtype=dtype), correction=0.5)
    assert made.dtype is dtype and abs(made.item() - 2 / 1.5) < 0.01
