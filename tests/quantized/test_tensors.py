"""Quantized tensors as tensors: views, copies, writes, comparisons, printing, files, refusals."""

import copy
import io
import pickle

import pytest

import rushlight as rl
import rushlight.nn.functional as F


def quantized(*shape, scale=0.5, zero_point=10, dtype=rl.quint8):
    count = rl.Size(shape).numel()
    integers = (rl.arange(count) * 7 % 100).to({rl.quint8: rl.uint8, rl.qint8: rl.int8, rl.qint32: rl.int32}[dtype])
    return rl._make_per_tensor_quantized_tensor(integers.reshape(shape), scale, zero_point)


def channels(*shape, axis=0):
    integers = (rl.arange(rl.Size(shape).numel()) % 100).to(rl.int8).reshape(shape)
    scales = rl.arange(1, shape[axis] + 1).double() / 4
    return rl._make_per_channel_quantized_tensor(integers, scales, rl.arange(shape[axis]), axis)


MOVES = [
    lambda x: x.view(3, 2, 2),
    lambda x: x.view(-1)[2:],
    lambda x: x.reshape(2, 6),
    lambda x: x.t(),
    lambda x: x.T,
    lambda x: x.transpose(0, 1),
    lambda x: x.permute(1, 0),
    lambda x: x.unsqueeze(1).squeeze(1),
    lambda x: x.flatten(),
    lambda x: x.select(0, 1),
    lambda x: x.narrow(1, 1, 2),
    lambda x: x[1],
    lambda x: x[:, 1],
    lambda x: x[..., None, 1:3],
    lambda x: x.chunk(2, 1)[1],
    lambda x: x.split(2)[0],
    lambda x: x.tensor_split(2)[1],
    lambda x: x.unbind()[2],
    lambda x: next(iter(x)),
    lambda x: x.as_strided((2, 2), (1, 4)),
    lambda x: x.expand(2, 3, 4),
    lambda x: x.unfold(0, 2, 1),
    lambda x: x.diagonal(),
    lambda x: x.movedim(0, 1),
    lambda x: x.detach(),
]
COPIES = [
    lambda x: x.clone(),
    lambda x: x.t().contiguous(),
    lambda x: x.flip(0),
    lambda x: x.repeat(2, 1),
    lambda x: x.index_select(1, rl.tensor([2, 0])),
    lambda x: x[[0, 2]],
    lambda x: x.masked_select(rl.arange(12).view(3, 4) > 4),
    lambda x: F.pad(x, (1, 2), mode="replicate") if x.ndim == 3 else x.clone(),
]


@pytest.mark.parametrize("place", range(len(MOVES)))
def test_views_are_those_of_the_integers(place):
    x = quantized(3, 4)
    view, expected = MOVES[place](x), MOVES[place](x.int_repr())
    assert view.is_quantized and view.int_repr().equal(expected.contiguous())
    assert view.stride() == expected.stride() and view.storage_offset() == expected.storage_offset()
    assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert view.q_scale() == 0.5 and view.dtype is rl.quint8


@pytest.mark.parametrize("place", range(len(COPIES)))
def test_copies_do_not_share(place):
    x = quantized(3, 4)
    made = COPIES[place](x)
    assert made.int_repr().equal(COPIES[place](x.int_repr())) and made.q_zero_point() == 10
    made.fill_(0.0)
    assert x.equal(quantized(3, 4))


def test_nothing_to_do_gives_the_tensor_itself():
    for x in (quantized(3, 4), channels(3, 4)):
        assert x.contiguous() is x and x.clone() is not x


def test_views_see_writes():
    x = quantized(3, 4)
    view = x.t()[1]
    version = x._version
    view.fill_(1.0)
    assert x.int_repr()[:, 1].tolist() == [12, 12, 12] and x._version > version and view._base is x
    x[0] = 2.0
    assert view[0].item() == 2.0
    x[1] = rl.tensor([0.0, 0.5, 1.0, 1.5])
    assert x[1].int_repr().tolist() == [10, 11, 12, 13]
    x[2] = quantized(4, scale=1.0, zero_point=0)  # numbers stay, integers are those of x
    assert x[2].dequantize().tolist() == [0.0, 7.0, 14.0, 21.0]
    x[rl.ones(3, 4, dtype=rl.bool)] = 0.0
    assert (x.int_repr() == 10).all()
    x.transpose_(0, 1)
    assert x.shape == (4, 3) and x.is_quantized


def test_channels_move_with_their_dim():
    x = channels(3, 4)
    assert x.unsqueeze(0).q_per_channel_axis() == 1 and x.unsqueeze(2).q_per_channel_axis() == 0
    assert x.unsqueeze(0).squeeze(0).dequantize().equal(x.dequantize())
    assert x.view(3, 2, 2).dequantize().equal(x.dequantize().view(3, 2, 2))
    row = x[1]
    assert row.qscheme() is rl.per_tensor_affine and (row.q_scale(), row.q_zero_point()) == (0.5, 1)
    for made, expected in [
        (x[1:], lambda d: d[1:]),
        (x[:, 2], lambda d: d[:, 2]),
        (x[..., -1], lambda d: d[..., -1]),
        (x[None, 1:3, 1:], lambda d: d[None, 1:3, 1:]),
        (x.narrow(0, 1, 2), lambda d: d.narrow(0, 1, 2)),
        (x.select(1, 2), lambda d: d.select(1, 2)),
        (x.chunk(2)[1], lambda d: d.chunk(2)[1]),
        (x.split([1, 2])[1], lambda d: d.split([1, 2])[1]),
        (x.unbind(0)[2], lambda d: d.unbind(0)[2]),
    ]:
        assert made.dequantize().equal(expected(x.dequantize()))
    for refused in (
        lambda: x.t(),
        lambda: x.permute(1, 0),
        lambda: x.expand(2, 3, 4),
        lambda: x.as_strided((2,), (1,)),
    ):
        with pytest.raises(RuntimeError, match="uniformly quantized"):
            refused()
    with pytest.raises(RuntimeError, match="expected 2 got, 3"):
        x.view(2, 6)
    x[2] = 3.0
    assert x[2].dequantize().tolist() == [3.0] * 4


def test_copy():
    x, other = quantized(2, 2), quantized(2, 2, scale=0.25, zero_point=0)
    assert x.copy_(other) is x and x.equal(other) and x.q_scale() == 0.25
    x.copy_(rl.full((2, 2), 1.0))
    assert x.int_repr().tolist() == [[4, 4], [4, 4]]
    for source, message in [
        (quantized(2, 2, dtype=rl.qint8), "expected a tensor of type quint8"),
        (quantized(2), "same shape"),
        (rl.ones(2, 2).double(), "kFloat"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            x.copy_(source)
    with pytest.raises(RuntimeError, match="use dequantize"):
        rl.ones(2, 2).copy_(x)
    with pytest.raises(RuntimeError, match="same qscheme"):
        channels(2, 2).copy_(quantized(2, 2, dtype=rl.qint8))


def test_likes_and_sizes():
    x = quantized(2, 3)
    assert rl.empty_like(x).shape == (2, 3) and rl.ones_like(x).dequantize().eq(1).all()
    assert rl.full_like(x, 2.0).int_repr().eq(14).all()
    assert x.resize_(2, 2).int_repr().tolist() == [[0, 7], [14, 21]]
    assert x.resize_(3, 3).shape == (3, 3) and x.int_repr().flatten()[:4].tolist() == [0, 7, 14, 21]
    assert x.masked_fill(rl.ones(3, 3, dtype=rl.bool), 1.0).int_repr().eq(12).all()


def test_joining():
    a, b = quantized(2, 2), quantized(2, 2, scale=1.0, zero_point=0)
    assert rl.cat([a, b]).dequantize().equal(rl.cat([a.dequantize(), b.dequantize()]))
    assert rl.stack([a, a], -1).int_repr().equal(rl.stack([a.int_repr()] * 2, -1))
    with pytest.raises(RuntimeError, match="dtypes must be the same"):
        rl.cat([a, quantized(2, 2, dtype=rl.qint8)])
    with pytest.raises(RuntimeError, match="Only per-tensor"):
        rl.cat([channels(2, 2), channels(2, 2)])


def test_comparisons():
    a, b = quantized(2, 2), quantized(2, 2, scale=1.0, zero_point=10)
    assert (a == a).all() and a.equal(a.clone()) and not a.equal(b) and not a.equal(a.dequantize())
    assert (a < b).tolist() == (a.dequantize() < b.dequantize()).tolist()
    assert (a >= 1.0).tolist() == (a.dequantize() >= 1.0).tolist()
    assert channels(2, 2).equal(channels(2, 2)) and not channels(2, 2).equal(quantized(2, 2, dtype=rl.qint8))


def test_order_and_extremes():
    x = quantized(2, 5)
    for found, expected in [
        (x.sort(1, descending=True), x.int_repr().sort(1, descending=True)),
        (x.topk(2), x.int_repr().topk(2)),
        (x.max(0), x.int_repr().max(0)),
        (x.min(1, keepdim=True), x.int_repr().min(1, keepdim=True)),
    ]:
        assert found.values.int_repr().equal(expected.values) and found.indices.equal(expected.indices)
    assert x.max().item() == 26.5 and x.min().dequantize().item() == -5.0


def test_shown():
    x = rl.quantize_per_tensor(rl.tensor([[1.0, 2.5]]), 0.5, 1, rl.qint8)
    assert repr(x) == (
        "tensor([[1.0000, 2.5000]], size=(1, 2), dtype=rushlight.qint8,\n"
        "       quantization_scheme=rushlight.per_tensor_affine, scale=0.5, zero_point=1)"
    )
    shown = repr(channels(2, 1))
    assert "scale=tensor([0.2500, 0.5000], dtype=rushlight.float64)" in shown and shown.endswith("axis=0)")
    assert "size=(0,)" in repr(quantized(0)) and "size=()" in repr(quantized(1)[0])


@pytest.mark.parametrize("make", [lambda: quantized(3, 4), lambda: channels(3, 4), lambda: quantized(3, 4).t()[1:]])
def test_files_and_copies(make):
    x = make()
    file = io.BytesIO()
    rl.save({"x": x, "first": x[0]}, file)
    file.seek(0)
    loaded = rl.load(file)
    assert loaded["x"].equal(x) and loaded["first"].equal(x[0]) and loaded["x"].stride() == x.stride()
    assert loaded["x"].untyped_storage().data_ptr() == loaded["first"].untyped_storage().data_ptr()
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert made.equal(x) and made.dtype is x.dtype
    both = copy.deepcopy([x, x[0]])
    assert both[0].untyped_storage().data_ptr() == both[1].untyped_storage().data_ptr() and both[1].equal(x[0])
    assert pickle.loads(pickle.dumps(x.qscheme())) is x.qscheme()


def test_damaged_files_are_refused():
    from rushlight.serialization.tree import Damaged, quantized_of

    integers = rl.zeros(2, 3, dtype=rl.int8)
    for scheme, parameters in [
        ("per_tensor_affine", ["0.5", 3]),
        ("per_tensor_affine", []),
        ("per_channel_affine", [rl.ones(3), rl.zeros(3), 0]),
        ("per_channel_affine", [rl.ones(2), rl.zeros(2), None]),
        ("sideways", [0.5, 3]),
        (None, [0.5, 3]),
    ]:
        with pytest.raises(Damaged, match="quantized tensor whose parts do not fit"):
            quantized_of(integers, scheme, parameters)
    with pytest.raises(Damaged, match="do not fit"):
        quantized_of(integers.long(), "per_tensor_affine", [0.5, 3])


def test_storages():
    x = quantized(2, 3)
    with pytest.warns(UserWarning, match="TypedStorage"):
        storage = x.storage()
    assert isinstance(storage, rl.QUInt8Storage) and storage.tolist() == [0, 7, 14, 21, 28, 35]
    assert storage.dtype is rl.quint8 and rl.QInt32Storage(3).nbytes() == 12 and rl.QInt8Storage([1, 2])[1] == 2
    storage[0] = 9
    assert x.int_repr()[0, 0].item() == 9 and x.type() == "rushlight.quantized.QUInt8Tensor"
    assert (x.nbytes, x.element_size(), x.layout, x.is_floating_point()) == (6, 1, rl.strided, False)


class Numbers(rl.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, place):
        return quantized(3)[place % 3 :][:1]


def test_other_rooms(recwarn):
    x = quantized(2, 3)
    (first, _) = rl.utils.data.DataLoader(Numbers(), 2, num_workers=1)
    assert first.equal(rl.cat([quantized(3)[:1], quantized(3)[1:2]]).view(2, 1))
    module = rl.nn.Module()
    module.register_buffer("x", x)
    assert copy.deepcopy(module).x.equal(x) and module.state_dict()["x"].equal(x)
    assert rl.nn.Parameter(x, requires_grad=False).is_quantized and rl.tensor(x).equal(x)
    rl.testing.assert_close(x, x.clone())
    with pytest.raises(AssertionError, match="Quantized tensor-likes are not close"):
        rl.testing.assert_close(x, x.flip(0))
    with pytest.raises(AssertionError, match="'is_quantized' do not match"):
        rl.testing.assert_close(x, x.dequantize())
    with pytest.raises(BufferError, match="dlpack"):
        x.__dlpack__()
    with pytest.raises(RuntimeError, match="dequantize"):
        x.to_sparse()


REFUSED = [
    lambda x: x + x,
    lambda x: x * 2,
    lambda x: -x,
    lambda x: x.sum(),
    lambda x: x.exp(),
    lambda x: x @ x.t(),
    lambda x: x.zero_(),
    lambda x: rl.zeros_like(x),
    lambda x: rl.where(x.int_repr() > 1, x, x),
    lambda x: x.cumsum(0),
    lambda x: F.softmax(x, 0),
    lambda x: F.linear(x, x),
    lambda x: rl.maximum(x, x),
    lambda x: x.var(1),
    lambda x: x.nonzero(),
    lambda x: rl.ones(2, 3).add_(x),
]


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_other_functions_refuse(place):
    with pytest.raises(NotImplementedError, match=r"'aten::\w+' .* QUInt8. Use Tensor.dequantize\(\) first"):
        REFUSED[place](quantized(2, 3))


def test_refusals_name_the_way_out():
    x = quantized(2, 3)
    with pytest.raises(NotImplementedError, match=r"or rushlight.ops.quantized.add"):
        x + 1
    with pytest.raises(TypeError, match=r"unsupported ScalarType QUInt8"):
        x.numpy()
    with pytest.raises(RuntimeError, match=r"dequantize\(\).tolist"):
        x.tolist()
    for cast in (lambda: x.float(), lambda: x.to(rl.int8), lambda: x.view(rl.uint8), lambda: x.type(rl.float32)):
        with pytest.raises(RuntimeError, match=r"dequantize|int_repr"):
            cast()
    assert x.to("cpu") is x and x.cpu().equal(x) and bool(x[0, 0]) and x.to(rl.quint8) is x
