"""`ops.quantized`: sums, products, linear and convolutions of integers, rounded once."""

import pickle

import pytest

import rushlight as rl

Q = rl.ops.quantized


@pytest.fixture(params=["bytes", "floats"])
def way(request, monkeypatch):
    """Products by the instruction for bytes, where there is one, and by floats."""
    if request.param == "floats":
        monkeypatch.setattr("rushlight.compiler.byte_dot.has_instruction", lambda: False)


def tensor(values, scale=0.5, zero_point=0, dtype=rl.quint8):
    return rl.quantize_per_tensor(rl.tensor(values), scale, zero_point, dtype)


def test_arithmetic():
    a, b = tensor([1.0, 2.0, -3.0], zero_point=10), tensor([4.0, 0.5, 1.0])
    assert Q.add(a, b, 0.5, 20).dequantize().tolist() == [5.0, 2.5, -2.0]
    assert Q.add_relu(a, b, 0.5, 20).dequantize().tolist() == [5.0, 2.5, 0.0]
    assert Q.mul(a, b, 0.25, 20).dequantize().tolist() == [4.0, 1.0, -3.0]
    assert Q.mul_relu(a, b, 0.25, 20).int_repr().tolist() == [36, 24, 20]
    assert Q.add(a, b[:1], 0.5, 20).dequantize().tolist() == [5.0, 6.0, 1.0]  # broadcasts


def test_numbers():
    a = tensor([1.0, 2.0, -3.0], zero_point=10)
    moved = Q.add_scalar(a, 1.0)
    assert moved.dequantize().tolist() == [2.0, 3.0, -2.0] and (moved.q_scale(), moved.q_zero_point()) == (0.5, 8)
    assert Q.add_scalar(a, 100.0).q_zero_point() == 0  # the range widens where the zero point would leave it
    assert Q.mul_scalar(a, 3.0).dequantize().tolist() == [3.0, 6.0, -9.0]
    assert Q.mul_scalar(a, -2.0).dequantize().tolist() == [-2.0, -4.0, 6.0]
    assert Q.mul_scalar(a, 0.0).dequantize().tolist() == [0.0, 0.0, 0.0]
    assert Q.mul_scalar_relu(a, -2.0).dequantize().tolist() == [0.0, 0.0, 6.0]
    assert Q.add_scalar_relu(a, 1.0).dequantize().tolist() == [2.0, 3.0, 0.0]


def test_others():
    a, b = tensor([[1.0]], zero_point=10), tensor([[-2.0]], 0.25, 100)
    assert Q.cat([a, b], 1).dequantize().tolist() == [[1.0, -2.0]]
    assert Q.cat([a, b], 1, 1.0, 5).int_repr().tolist() == [[6, 3]]
    assert Q.cat_relu([a, b], 1).dequantize().tolist() == [[1.0, 0.0]]
    assert Q.sigmoid(b, 1 / 256, 0).int_repr().tolist() == [[31]]
    assert Q.leaky_relu(b, 0.5, False, 0.25, 100).dequantize().tolist() == [[-1.0]]
    assert Q.relu6(tensor([9.0])).dequantize().tolist() == [6.0] and Q.clamp(b, -1.0, 1.0).item() == -1.0
    assert Q.hardswish(tensor([6.0]), 0.5, 0).item() == 6.0 and Q.elu(a, 0.5, 0).item() == 1.0


def weight(out, depth, per_channel):
    w = ((rl.arange(out * depth) * 37 % 255) - 127.0).reshape(out, depth) / 100
    if not per_channel:
        return rl.quantize_per_tensor(w, 0.01, 2, rl.qint8)
    return rl.quantize_per_channel(w, rl.linspace(0.01, 0.02, out), rl.zeros(out, dtype=rl.int64), 0, rl.qint8)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("depth", [5, 600, 2100])
def test_linear_is_exact(depth, per_channel, way):
    """Sums beyond 2^24 are exact as those of small depth are."""
    x = rl.full((3, depth), 255, dtype=rl.uint8)
    x[1] = rl.arange(depth).to(rl.uint8)
    q = rl._make_per_tensor_quantized_tensor(x, 0.02, 3)
    w = weight(4, depth, per_channel)
    bias = rl.tensor([0.5, -1.0, 2.0, 0.0])
    packed = Q.linear_prepack(w, bias)
    zero = 0 if per_channel else 2
    sums = (x.long() - 3) @ (w.int_repr().long() - zero).t()
    scales = (w.q_per_channel_scales().float() if per_channel else rl.tensor(0.01)) * 0.02
    scale = 0.05 * depth
    expected = ((sums.float() + bias / scales) * (scales / scale) + 0.0).round() + 100
    assert Q.linear(q, packed, scale, 100).int_repr().equal(expected.clamp(0, 255).to(rl.uint8))
    assert Q.linear_relu(q, packed, scale, 100).int_repr().equal(expected.clamp(100, 255).to(rl.uint8))
    assert packed.unpack()[0].equal(w) and Q.linear_unpack(pickle.loads(pickle.dumps(packed)))[1].equal(bias)


def test_linear_dynamic(way):
    x, w = rl.tensor([[-1.0, 0.5, 1.0]]), rl.quantize_per_tensor(rl.ones(2, 3), 0.01, 0, rl.qint8)
    found = Q.linear_dynamic(x, Q.linear_prepack(w, rl.tensor([1.0, -9.0])))
    assert rl.allclose(found, rl.tensor([[1.5, -8.5]]), atol=0.01) and found.dtype is rl.float32
    assert Q.linear_relu_dynamic(x, Q.linear_prepack(w, rl.tensor([1.0, -9.0])))[0, 1].item() == 0


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_are_exact(dims, groups, way):
    shape = (9, 8, 6)[:dims]
    x = ((rl.arange(2 * 4 * rl.Size(shape).numel()) * 41) % 256).to(rl.uint8).reshape(2, 4, *shape)
    q = rl._make_per_tensor_quantized_tensor(x, 0.02, 3)
    w = weight(6, (4 // groups) * 3**dims, True).view(6, 4 // groups, *[3] * dims)
    stride, padding, dilation = [2] * dims, [1] * dims, [1] * dims
    packed = getattr(Q, f"conv{dims}d_prepack")(w, None, stride, padding, dilation, groups)
    function = getattr(rl.nn.functional, f"conv{dims}d")
    numbers = (x.double() - 3), w.int_repr().double()
    sums = function(*numbers, None, stride, padding, dilation, groups).round()
    scales = (w.q_per_channel_scales().float() * 0.02).view(-1, *[1] * dims)
    expected = (sums.float() * (scales / 0.5)).round() + 100
    found = getattr(Q, f"conv{dims}d")(q, packed, 0.5, 100)
    assert found.int_repr().equal(expected.clamp(0, 255).to(rl.uint8))
    relu = getattr(Q, f"conv{dims}d_relu")(q, packed, 0.5, 100)
    assert relu.int_repr().equal(expected.clamp(100, 255).to(rl.uint8))
    assert (packed.stride(), packed.padding(), packed.dilation(), packed.groups()) == (
        stride,
        padding,
        dilation,
        groups,
    )
    assert getattr(Q, f"conv{dims}d_unpack")(packed)[1] is None


def packed_image():
    return Q.conv2d_prepack(weight(4, 12, False).view(4, 3, 2, 2), None, [1, 1], [0, 0], [1, 1])


def test_rows_of_any_shape():
    x, w = tensor([[[1.0, 2.0]], [[0.5, 0.0]]]), rl.quantize_per_tensor(rl.eye(2), 0.01, 0, rl.qint8)
    found = Q.linear(x, Q.linear_prepack(w), 0.5, 0)
    assert found.equal(x) and Q.linear(x[0, 0], Q.linear_prepack(w), 0.5, 0).equal(x[0, 0])
    assert Q.linear(x[:0], Q.linear_prepack(w), 0.5, 0).shape == (0, 1, 2)
    with pytest.raises(TypeError, match="linear_prepack"):
        Q.linear(x, w, 0.5, 0)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda q: Q.add(q, rl.ones(2), 0.1, 0), "two quantized tensors"),
        (lambda q: Q.add(q, tensor([1.0], dtype=rl.qint8), 0.1, 0), "same dtype"),
        (lambda q: Q.linear_prepack(q), "weight of type qint8"),
        (lambda q: Q.linear_prepack(tensor([1.0], dtype=rl.qint8)), "2 dims"),
        (lambda q: Q.linear_prepack(weight(4, 5, False), rl.ones(3)), "bias of type float32 and shape"),
        (lambda q: Q.linear(q, Q.linear_prepack(weight(4, 5, False)), 0.1, 0), "takes 5 numbers"),
        (lambda q: Q.linear(rl.ones(5), Q.linear_prepack(weight(4, 5, False)), 0.1, 0), "input of type quint8"),
        (lambda q: Q.linear_dynamic(q, Q.linear_prepack(weight(4, 5, False))), "type float32"),
        (lambda q: Q.conv2d_prepack(weight(4, 5, False), None, [1, 1], [0, 0], [1, 1], 1), "4 dims"),
        (lambda q: Q.conv2d_prepack(weight(4, 6, False).view(4, 6, 1, 1), None, [0, 1], [0, 0], [1, 1]), "above 0"),
        (lambda q: Q.conv2d_prepack(weight(4, 6, False).view(4, 6, 1, 1), None, [1], [0], [1]), "have 2 numbers"),
        (lambda q: Q.conv2d(q, packed_image(), 0.1, 0), "image with 3 channels"),
        (
            lambda q: Q.conv2d(q[:1].view(1, 1, 1, 1).expand(1, 3, 1, 1), packed_image(), 0.1, 0),
            "larger than|greater than",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(tensor([1.0, 2.0]))


def test_unknown_names():
    with pytest.raises(AttributeError, match=r"has no function 'lstm'; it has add, "):
        Q.lstm
    assert "conv2d" in dir(Q)
