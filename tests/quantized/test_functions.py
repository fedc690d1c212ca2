"""Making and reading quantized tensors: rounding, limits, parameters, errors."""

import math

import pytest

import rushlight as rl

NAN, INF = math.nan, math.inf


def per_tensor(values, scale=0.5, zero_point=3, dtype=rl.quint8):
    return rl.quantize_per_tensor(rl.tensor(values), scale, zero_point, dtype)


def channels(dtype=rl.qint8, axis=0):
    x = rl.tensor([[-1.0, 0.0, 1.0], [2.0, 3.5, 4.0]])
    count = x.shape[axis]
    return rl.quantize_per_channel(x, rl.tensor([0.1, 0.2, 0.5])[:count], rl.tensor([0, 10, -3])[:count], axis, dtype)


@pytest.mark.parametrize(
    "dtype, values, zero_point, expected",
    [
        (rl.quint8, [0.25, 0.75, -0.25, -1.5, 500.0], 0, [0, 2, 0, 0, 255]),
        (rl.quint8, [0.25, 0.75, -0.25, -1.5], 3, [4, 4, 2, 0]),  # ties are even once the zero point is added
        (rl.quint8, [INF, -INF, NAN, 1e30], 200, [255, 0, 255, 255]),
        (rl.qint8, [INF, -INF, NAN, -1e30, 60.0], -20, [127, -128, 127, -128, 100]),
        (rl.qint32, [INF, -INF, NAN, 1e30, -1e30, 8.0], -20, [2**31 - 1, -(2**31), -(2**31), 2**31 - 1, -(2**31), -4]),
    ],
)
def test_rounding_and_limits(dtype, values, zero_point, expected):
    assert per_tensor(values, 0.5, zero_point, dtype).int_repr().tolist() == expected


def test_integers_beyond_float32_are_read_exactly():
    x = rl._make_per_tensor_quantized_tensor(rl.tensor([2**31 - 1, 3], dtype=rl.int32), 1.0, 2**31 - 2)
    assert x.dequantize().tolist() == [1.0, -(2.0**31)]
    low = rl._make_per_tensor_quantized_tensor(rl.tensor([-(2**31)], dtype=rl.int32), 1.0, 10)
    assert low.dequantize().tolist() == [-(2.0**31)]  # no wrapping around


def test_parameters():
    q, c = per_tensor([1.0]), channels()
    assert (q.q_scale(), q.q_zero_point(), q.qscheme()) == (0.5, 3, rl.per_tensor_affine)
    assert c.q_per_channel_scales().dtype is rl.float64 and c.q_per_channel_zero_points().tolist() == [0, 10]
    assert c.q_per_channel_axis() == 0 and c.qscheme() is rl.per_channel_affine
    assert q.is_quantized and not q.int_repr().is_quantized and isinstance(c.qscheme(), rl.qscheme)
    assert c.dequantize()[1].tolist() == pytest.approx([2.0, 3.6, 4.0])


def test_float_zero_points_are_added_before_rounding():
    x = rl.tensor([[1.0], [1.0]])
    q = rl.quantize_per_channel(x, rl.tensor([1.0, 1.0]), rl.tensor([0.4, 0.6]), 0, rl.quint8)
    assert q.int_repr().tolist() == [[1], [2]] and q.qscheme() is rl.per_channel_affine_float_qparams
    assert q.dequantize().flatten().tolist() == pytest.approx([0.6, 1.4])


def test_lists_and_tensor_parameters():
    x = rl.tensor([1.0, 2.0])
    parts = rl.quantize_per_tensor([x, x], rl.tensor([0.5, 0.25]), rl.tensor([0, 1]), rl.quint8)
    assert [p.int_repr().tolist() for p in parts] == [[2, 4], [5, 9]] and type(parts) is tuple
    assert [p.tolist() for p in rl.dequantize(parts)] == [[1.0, 2.0]] * 2
    assert rl.quantize_per_tensor(x, rl.tensor(0.5), rl.tensor(1), rl.qint8).q_zero_point() == 1
    assert rl.dequantize(rl.tensor([1, 2])).dtype is rl.float32


def test_results_are_dense():
    x = rl.randn(2, 3, 4, 5)
    assert rl.quantize_per_tensor(x.permute(3, 2, 1, 0), 0.1, 0, rl.qint8).is_contiguous()
    last = x.contiguous(memory_format=rl.channels_last)
    q = rl.quantize_per_tensor(last, 0.1, 0, rl.qint8)
    assert q.stride() == last.stride() and q.dequantize().stride() == last.stride()
    assert q.transpose(0, 3).int_repr().is_contiguous()


def test_dynamic_parameters():
    x = rl.tensor([-1.0, 0.0, 1.0])
    assert rl.quantize_per_tensor_dynamic(x, rl.quint8, False).q_zero_point() == 128
    assert rl.quantize_per_tensor_dynamic(x, rl.qint8, True).q_scale() == pytest.approx(2 / 127)
    assert rl.quantize_per_tensor_dynamic(rl.zeros(3), rl.quint8, False).q_scale() == 0.1
    assert rl.quantize_per_tensor_dynamic(x, rl.float16, False).dtype is rl.float16


def test_empty_ones():
    q = per_tensor([1.0])
    assert rl.empty_quantized((2, 3), q).shape == (2, 3) and rl.empty_quantized((2,), q).q_scale() == 0.5
    made = rl._empty_affine_quantized(2, 3, scale=0.25, zero_point=7, dtype=rl.qint32)
    assert (made.q_scale(), made.q_zero_point(), made.dtype) == (0.25, 7, rl.qint32)
    scales, zeros = rl.ones(2), rl.zeros(2, dtype=rl.int64)
    made = rl._empty_per_channel_affine_quantized((3, 2), scales=scales, zero_points=zeros, axis=1, dtype=rl.qint8)
    assert made.q_per_channel_axis() == 1
    integers = rl.tensor([[1, 2]], dtype=rl.uint8)
    made = rl._make_per_channel_quantized_tensor(integers, scales, zeros, 1)
    assert made.dtype is rl.quint8 and made.int_repr().tolist() == [[1, 2]]


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda x: rl.quantize_per_tensor(x, 0.1, 0, rl.int8), RuntimeError, "quantized dtype"),
        (lambda x: rl.quantize_per_tensor(x, 0.1, 0, rl.quint4x2), NotImplementedError, "use rushlight.quint8"),
        (lambda x: rl.quantize_per_tensor(x.int(), 0.1, 0, rl.qint8), RuntimeError, "Float Tensor, got Int"),
        (lambda x: rl.quantize_per_tensor(x.double(), 0.1, 0, rl.qint8), RuntimeError, "Float Tensor, got Double"),
        (lambda x: rl.quantize_per_tensor(x, 0.1, 300, rl.quint8), RuntimeError, "300 is above upper bound"),
        (lambda x: rl.quantize_per_tensor(x, 0.1, -1, rl.quint8), RuntimeError, "-1 is below lower bound"),
        (lambda x: rl.quantize_per_tensor(x, 0.1, 1.5, rl.quint8), TypeError, "'zero_point' must be int"),
        (lambda x: rl.quantize_per_tensor(x, "a", 1, rl.quint8), TypeError, "'scale' must be float"),
        (lambda x: rl.quantize_per_tensor(per_tensor([1.0]), 0.1, 1, rl.quint8), NotImplementedError, "already"),
        (lambda x: rl.quantize_per_channel(x, rl.ones(3), rl.ones(3), 0, rl.qint8), RuntimeError, "expected 2 got, 3"),
        (lambda x: rl.quantize_per_channel(x, rl.ones(2), rl.ones(3), 0, rl.qint8), RuntimeError, "must match"),
        (lambda x: rl.quantize_per_channel(x, rl.ones(2), rl.ones(2), 2, rl.qint8), RuntimeError, "axis out of range"),
        (lambda x: rl.quantize_per_channel(x, rl.ones(2, 1), rl.ones(2), 0, rl.qint8), RuntimeError, "dimension 1"),
        (lambda x: rl.quantize_per_channel(x, rl.ones(2).int(), rl.ones(2), 0, rl.qint8), RuntimeError, "floating"),
        (lambda x: x.q_scale(), NotImplementedError, "aten::q_scale"),
        (lambda x: rl.int_repr(x), NotImplementedError, "not quantized"),
        (lambda x: per_tensor([1.0]).q_per_channel_axis(), RuntimeError, "quantized per channel"),
        (lambda x: channels().q_scale(), RuntimeError, "quantized per tensor"),
        (lambda x: rl.empty_quantized((2,), x), NotImplementedError, "not quantized"),
        (lambda x: rl._make_per_tensor_quantized_tensor(x, 0.1, 0), RuntimeError, "uint8, int8 or int32"),
        (lambda x: rl._empty_affine_quantized((2,)), RuntimeError, "quantized dtype"),
        (lambda x: rl.zeros(2, dtype=rl.quint8), NotImplementedError, "quantize_per_tensor"),
        (lambda x: x.to(rl.qint8), NotImplementedError, "quantize_per_tensor"),
        (lambda x: rl.quantize_per_tensor_dynamic(x * NAN, rl.qint8, False), RuntimeError, "less than or equal"),
        (lambda x: per_tensor([1.0]).requires_grad_(), RuntimeError, "floating point"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call(rl.tensor([[1.0], [2.0]]))


def test_the_room_is_loaded_on_first_use():
    import subprocess
    import sys

    code = (
        "import sys, rushlight as rl\n"
        "rl.ones(2) + 1; assert not rl.ones(2).is_quantized and rl.quint8\n"
        "print([m for m in sys.modules if 'rushlight.quantized' in m])\n"
        "print(rl.ones(1).dequantize().item(), rl.ops.quantized.add.__name__, repr(rl.per_tensor_affine))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["[]", "1.0 add rushlight.per_tensor_affine"], done.stderr
