"""Functions of `nn.functional` and of the catalogue that have a quantized form."""

import pytest

import rushlight as rl
import rushlight.nn.functional as F


def image(dtype=rl.quint8, zero_point=3):
    integers = ((rl.arange(2 * 3 * 8 * 9) * 37) % 120).reshape(2, 3, 8, 9)
    return rl._make_per_tensor_quantized_tensor(
        integers.to(rl.uint8 if dtype is rl.quint8 else rl.int8), 0.25, zero_point
    )


BY_NUMBERS = [  # what the numbers give, rounded, is the result
    lambda x: F.relu(x),
    lambda x: F.relu6(x),
    lambda x: x.clamp(-0.5, 2.0),
    lambda x: x.clamp(min=1.0),
    lambda x: F.hardtanh(x),
    lambda x: F.threshold(x, 1.0, 0.5),
    lambda x: F.leaky_relu(x, 0.5),
    lambda x: F.gelu(x),
    lambda x: F.max_pool2d(x, 3, 2, 1),
    lambda x: F.max_pool1d(x[0], 2),
    lambda x: F.avg_pool2d(x, 3, 2, 1),
    lambda x: F.avg_pool2d(x, 2, ceil_mode=True, divisor_override=3),
    lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
    lambda x: F.interpolate(x, scale_factor=2),
    lambda x: F.interpolate(x, size=(5, 7), mode="bilinear"),
    lambda x: F.pad(x, (1, 2), value=1.0),
    lambda x: F.pad(x, (1, 2, 1, 0), mode="reflect"),
    lambda x: x.mean((2, 3)),
    lambda x: x.std(3),
    lambda x: x.relu_(),
    lambda x: x.clamp_(0.0, 1.0),
    lambda x: F.embedding(rl.tensor([1, 0]), x[0, 0]),
    lambda x: rl.cat([x, x], 1),
]


@pytest.mark.parametrize("place", range(len(BY_NUMBERS)))
@pytest.mark.parametrize("dtype, zero_point", [(rl.quint8, 3), (rl.qint8, -4)])
def test_numbers_agree(place, dtype, zero_point):
    function = BY_NUMBERS[place]
    numbers = function(image(dtype, zero_point).dequantize())
    found = function(image(dtype, zero_point))
    assert found.is_quantized and (found.q_scale(), found.q_zero_point()) == (0.25, zero_point)
    low, high = (0, 255) if dtype is rl.quint8 else (-128, 127)
    expected = (numbers / 0.25 + zero_point).clamp(low, high)
    assert (found.int_repr() - expected).abs().max() <= 0.5 + 1e-4


@pytest.mark.parametrize("dtype", [rl.quint8, rl.qint8])
def test_bounded_functions_have_their_own_scale(dtype):
    x = image(dtype)
    for function, scale in ((rl.sigmoid, 2.0**-8), (F.hardsigmoid, 2.0**-8), (rl.tanh, 2.0**-7)):
        found = function(x)
        assert found.q_scale() == scale
        assert (found.dequantize() - function(x.dequantize())).abs().max() <= scale * 1.01


def test_pools_by_name():
    x = image()
    assert rl.quantized_max_pool2d(x, (2, 2)).equal(F.max_pool2d(x, 2))
    assert rl.quantized_max_pool1d(x[0], 3, 1, 1).equal(F.max_pool1d(x[0], 3, 1, 1))
    with pytest.raises(NotImplementedError, match="not quantized"):
        rl.quantized_max_pool2d(rl.ones(1, 2, 2), 2)


def test_pooling_keeps_channels_last():
    x = image().contiguous(memory_format=rl.channels_last)
    assert F.avg_pool2d(x, 2).is_contiguous(memory_format=rl.channels_last)


def test_channels_are_refused():
    x = rl.quantize_per_channel(rl.ones(2, 2), rl.ones(2), rl.zeros(2), 0, rl.qint8)
    for function in (rl.relu, F.gelu, rl.sigmoid, rl.mean, lambda t: t.sort(), lambda t: t.max()):
        with pytest.raises(RuntimeError, match="Only per-tensor quantization is supported"):
            function(x)


@pytest.mark.parametrize(
    "call",
    [lambda x: F.interpolate(x, size=(4, 4), mode="bicubic"), lambda x: rl.max(x, x), lambda x: x.clamp(x, x)],
)
def test_forms_that_are_missing(call):
    with pytest.raises(NotImplementedError, match="dequantize"):
        call(image())
