"""Fake quantization: values, straight-through gradients, learnable parameters, observing."""

import pytest

import rushlight as rl


def test_values_and_gradients():
    x = rl.tensor([-1.0, 0.04, 0.26, 1.04, 1.1, rl.nan, rl.inf], requires_grad=True)
    y = rl.fake_quantize_per_tensor_affine(x, 0.1, 2, 0, 12)
    assert y.tolist() == pytest.approx([-0.2, 0.0, 0.3, 1.0, 1.0, -0.2, 1.0])
    (2 * y).sum().backward()
    assert x.grad.tolist() == [0, 2, 2, 2, 0, 0, 0]


@pytest.mark.parametrize("dtype", [rl.float16, rl.bfloat16, rl.float32, rl.float64])
def test_dtypes_stay(dtype):
    x = rl.tensor([0.3, -0.3], dtype=dtype, requires_grad=True)
    y = rl.fake_quantize_per_tensor_affine(x, rl.tensor(0.25), rl.tensor(0), 0, 15)
    y.sum().backward()
    assert y.dtype is dtype and y.tolist() == [0.25, 0.0] and x.grad.tolist() == [1, 0]


def test_gradients_are_differentiable():
    x = rl.tensor([0.2, 9.0], requires_grad=True)
    y = rl.fake_quantize_per_tensor_affine(x, 0.5, 0, 0, 4)
    (g,) = rl.autograd.grad((y * y * x).sum(), x, create_graph=True)
    (gg,) = rl.autograd.grad(g.sum(), x)
    assert g.tolist() == [0.0, 4.0] and gg.tolist() == pytest.approx([0.4, 0.0])  # y' is 1, then 0


@pytest.mark.parametrize("axis", [0, 1])
def test_channels(axis):
    x = rl.tensor([[0.26, 30.0], [0.26, -1.0]], requires_grad=True)
    scale, zero_point = rl.tensor([0.1, 1.0]), rl.tensor([0, 1], dtype=rl.int32)
    y = rl.fake_quantize_per_channel_affine(x, scale, zero_point, axis, 0, 20)
    y.sum().backward()
    expected = [[0.3, 2.0], [0.0, -1.0]] if axis == 0 else [[0.3, 19.0], [0.3, -1.0]]
    grads = [[1, 0], [1, 1]]
    assert rl.allclose(y, rl.tensor(expected)) and x.grad.tolist() == grads


def test_learnable_parameters():
    x = rl.tensor([0.26, 5.0, -5.0], requires_grad=True)
    scale, zero_point = rl.tensor([0.1], requires_grad=True), rl.tensor([2.4], requires_grad=True)
    y = rl._fake_quantize_learnable_per_tensor_affine(x, scale, zero_point, 0, 10, 0.5)
    y.sum().backward()
    assert y.tolist() == pytest.approx([0.3, 0.8, -0.2]) and x.grad.tolist() == [1, 0, 0]
    assert scale.grad.tolist() == pytest.approx([0.5 * ((0.3 - 0.26) / 0.1 + (10 - 2) + (0 - 2))], rel=1e-5)
    assert zero_point.grad.tolist() == pytest.approx([0.5 * -0.1 * 2])


def test_learnable_channels():
    x = rl.tensor([[0.26, 5.0], [0.26, 5.0]])
    scale, zero_point = rl.tensor([0.1, 1.0], requires_grad=True), rl.zeros(2, requires_grad=True)
    y = rl._fake_quantize_learnable_per_channel_affine(x, scale, zero_point, 0, 0, 10)
    y.sum().backward()
    assert y.tolist() == [pytest.approx([0.3, 1.0]), [0.0, 5.0]]
    assert scale.grad.tolist() == pytest.approx([0.4 + 10, -0.26], rel=1e-4)
    assert zero_point.grad.tolist() == pytest.approx([-0.1, 0.0])


def test_observing():
    low, high = rl.tensor([rl.inf]), rl.tensor([-rl.inf])
    scale, zero_point, on = rl.ones(1), rl.zeros(1, dtype=rl.int32), rl.tensor([1])
    x = rl.tensor([[-1.0, 0.5], [0.0, 1.55]], requires_grad=True)
    arguments = (low, high, scale, zero_point, 0.5, 0, 255, 0)
    y = rl.fused_moving_avg_obs_fake_quant(x, on, on, *arguments)
    assert (low.item(), high.item(), zero_point.item()) == (-1.0, pytest.approx(1.55), 100)
    assert rl.allclose(y, x, atol=0.005) and scale.item() == pytest.approx(0.01)
    y.sum().backward()
    assert x.grad.eq(1).all()
    rl.fused_moving_avg_obs_fake_quant(x * 3, on, rl.tensor([0]), *arguments)
    assert low.item() == -2.0 and scale.item() == pytest.approx(0.02, rel=1e-3)
    before = scale.item()
    assert rl.fused_moving_avg_obs_fake_quant(x * 9, rl.tensor([0]), rl.tensor([0]), *arguments).equal(x * 9)
    assert scale.item() == before


def test_observing_channels():
    low, high, scale = rl.empty(0), rl.empty(0), rl.empty(0)
    zero_point, on = rl.empty(0, dtype=rl.int32), rl.tensor([1])
    x = rl.tensor([[-1.0, 1.0], [0.0, 5.1]])
    rl.fused_moving_avg_obs_fake_quant(x, on, on, low, high, scale, zero_point, 0.5, -128, 127, 0, True, True)
    assert high.tolist() == pytest.approx([1.0, 5.1]) and scale.tolist() == pytest.approx([2 / 255, 0.02], rel=1e-2)
    with pytest.raises(RuntimeError, match="expected ranges and parameters of 3 elements"):
        rl.fused_moving_avg_obs_fake_quant(rl.ones(3), on, on, low, high, scale, zero_point, 0.5, 0, 9, 0, True)


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda x, s, z: rl.fake_quantize_per_tensor_affine(x, 0.1, 300, 0, 255), RuntimeError, "`zero_point` must be"),
        (lambda x, s, z: rl.fake_quantize_per_tensor_affine(x, 0.1, 0, 5, 0), RuntimeError, "`quant_min` should be"),
        (lambda x, s, z: rl.fake_quantize_per_tensor_affine(x, 0.1, 0.5, 0, 5), TypeError, "must be int"),
        (lambda x, s, z: rl.fake_quantize_per_tensor_affine(x.int(), 0.1, 0, 0, 5), NotImplementedError, "'Int'"),
        (lambda x, s, z: rl.fake_quantize_per_channel_affine(x, s, z.long(), 0, 0, 9), RuntimeError, "found Long"),
        (lambda x, s, z: rl.fake_quantize_per_channel_affine(x, s.double(), z, 0, 0, 9), RuntimeError, "found Double"),
        (lambda x, s, z: rl.fake_quantize_per_channel_affine(x, s, z + 99, 0, 0, 9), RuntimeError, "`zero_point` must"),
        (lambda x, s, z: rl.fake_quantize_per_channel_affine(x, s, z, 1, 0, 9), RuntimeError, "not consistent"),
        (lambda x, s, z: rl.fake_quantize_per_channel_affine(x, s, z, 2, 0, 9), IndexError, "out of range"),
        (lambda x, s, z: rl.fake_quantize_per_channel_affine(x, s, z, -1, 0, 9), RuntimeError, "`axis` must be"),
        (lambda x, s, z: rl.fake_quantize_per_channel_affine(x, s, z[:1], 0, 0, 9), RuntimeError, "same dimensions"),
        (lambda x, s, z: rl._fake_quantize_learnable_per_tensor_affine(x, s, s, 0, 9), RuntimeError, "one element"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call(rl.ones(2, 3), rl.ones(2), rl.zeros(2, dtype=rl.int32))
