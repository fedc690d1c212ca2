"""Autocast: which functions compute in which type, blocks within blocks, threads, and what it costs when it is off."""

import threading
import warnings

import pytest

import rushlight as rl
from rushlight import nn
from rushlight.amp import state
from rushlight.nn import functional as F

a, im, im3 = rl.rand(3, 3), rl.rand(1, 2, 6, 6), rl.rand(1, 2, 4, 4, 4)
half, labels = a.bfloat16(), rl.tensor([0, 1, 2])
LOWER = {
    "matmul": lambda: a @ a,
    "method": lambda: a.mm(a),
    "linear": lambda: F.linear(a, a, a[0]),
    "linear of mixed types": lambda: F.linear(half, a),
    "conv2d": lambda: F.conv2d(im, im[:, :, :3, :3]),
    "conv_transpose2d": lambda: F.conv_transpose2d(im, im.transpose(0, 1)),
    "baddbmm": lambda: rl.baddbmm(a[None], a[None], a[None]),
    "einsum with a sum": lambda: rl.einsum("ij,jk->ik", a, a),
    "einsum of lists": lambda: rl.einsum(a, [0, 1], a, [1, 2], [0, 2]),
    "tensordot": lambda: rl.tensordot(a, a, 1),
    "attention": lambda: F.scaled_dot_product_attention(a[None], a[None], a[None]),
    "LSTM": lambda: nn.LSTM(3, 2)(a)[1][1],
    "linalg.vecdot": lambda: rl.linalg.vecdot(a, a),
    "packed LSTM": lambda: nn.LSTM(3, 2)(nn.utils.rnn.pack_sequence([a, a[:2]]))[0].data,
    "cat of halves": lambda: rl.cat([half, half]),
    "exp": lambda: half.exp(),
    "layer_norm": lambda: F.layer_norm(half, (3,)),
}
FLOAT32 = {
    "mse_loss": lambda: F.mse_loss(half, half),
    "cross_entropy": lambda: F.cross_entropy(half, labels),
    "kl_div": lambda: F.kl_div(half, half),
    "prod": lambda: half.prod(),
    "prod of a dim": lambda: rl.prod(half, 1),
    "avg_pool3d": lambda: F.avg_pool3d(im3.bfloat16(), 2),
    "max_pool3d": lambda: F.max_pool3d(im3.bfloat16(), 2),
    "reflection": lambda: F.pad(im.bfloat16(), (1, 1, 1, 1), mode="reflect"),
    "cdist": lambda: rl.cdist(half, half),
    "cat": lambda: rl.cat([half, a]),
    "stack": lambda: rl.stack([a, half]),
    "fft": lambda: rl.fft.rfft(half).abs(),
    "stft": lambda: rl.stft(half.reshape(-1), 4, window=half[0].new_ones(4), return_complex=True).real,
    "linalg.svd": lambda: rl.linalg.svd(half)[1],
    "linalg.inv": lambda: rl.linalg.inv(half + rl.eye(3, dtype=half.dtype)),
    "svd, a method": lambda: half.svd()[0],
    "softmax": lambda: a.softmax(0),
    "sum": lambda: a.sum(),
    "mv": lambda: rl.mv(a, a[0]),
    "einsum without a sum": lambda: rl.einsum("i,j->ij", a[0], a[1]),
    "add": lambda: half + a,
}
FLOAT64 = {
    "matmul": lambda: a.double() @ a.double(),
    "mse_loss": lambda: F.mse_loss(a.double(), a.double()),
    "cat": lambda: rl.cat([half, a.double()]),
}


@pytest.mark.parametrize("dtype", [rl.bfloat16, rl.float16], ids=str)
@pytest.mark.parametrize("name", LOWER)
def test_products_compute_in_the_lower_type(name, dtype):
    of_halves = name in ("cat of halves", "exp", "layer_norm")
    with rl.autocast("cpu", dtype=dtype):
        assert LOWER[name]().dtype is (rl.bfloat16 if of_halves else dtype)


@pytest.mark.parametrize(("name", "dtype"), [(n, rl.float32) for n in FLOAT32] + [(n, rl.float64) for n in FLOAT64])
def test_others_keep_their_range(name, dtype):
    with rl.autocast("cpu"):
        assert (FLOAT32 if dtype is rl.float32 else FLOAT64)[name]().dtype is dtype
    assert (FLOAT32["mse_loss"]().dtype, (a @ a).dtype) == (rl.bfloat16, rl.float32)  # off again


def test_values_are_those_of_casting_by_hand():
    x, layer = rl.rand(4, 3), nn.Linear(3, 2)
    with rl.autocast("cpu"):
        y = layer(x)
        loss = F.mse_loss(y, rl.zeros(4, 2))
    by_hand = F.linear(x.bfloat16(), layer.weight.bfloat16(), layer.bias.bfloat16())
    assert rl.equal(y, by_hand) and rl.equal(loss, F.mse_loss(by_hand.float(), rl.zeros(4, 2)))
    loss.backward()
    expected = rl.autograd.grad(F.mse_loss(by_hand.float(), rl.zeros(4, 2)), layer.weight)[0]
    assert layer.weight.grad.dtype is rl.float32 and rl.equal(layer.weight.grad, expected)


def test_blocks_in_blocks():
    seen = []
    with rl.autocast("cpu"):
        with rl.autocast("cpu", enabled=False):
            seen.append((a @ a).dtype)
            with rl.autocast("cpu", dtype=rl.float16):
                seen.append((a @ a).dtype)
        seen.append((a @ a).dtype)
    assert seen == [rl.float32, rl.float16, rl.bfloat16]
    with pytest.raises(ValueError, match="out"), rl.autocast("cpu"):
        raise ValueError("out")
    assert not rl.is_autocast_enabled("cpu") and (a @ a).dtype is rl.float32


def test_decorator_may_call_itself():
    @rl.autocast("cpu")
    def f(depth):
        return (a @ a).dtype if not depth else f(depth - 1)

    assert f(3) is rl.bfloat16 and not rl.is_autocast_enabled("cpu")


def test_parameters_are_cast_once():
    layer = nn.Linear(3, 3)
    with rl.autocast("cpu"):
        layer(a)
        count = len(state.state.cache)
        layer(a)
        assert count == len(state.state.cache) == 2
        with rl.no_grad():
            layer.weight.zero_()
        assert layer(a).tolist() == [layer.bias.bfloat16().tolist()] * 3  # a write is seen
        with rl.no_grad():
            inner = layer(a)
        assert not inner.requires_grad and layer(a).requires_grad
    assert not state.state.cache
    with rl.autocast("cpu", cache_enabled=False):
        layer(a)
        assert not state.state.cache and not rl.is_autocast_cache_enabled()
    assert rl.is_autocast_cache_enabled()


def test_other_threads_are_not_within():
    seen = []
    with rl.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append((a @ a).dtype))
        thread.start()
        thread.join()
        seen.append((a @ a).dtype)
    assert seen == [rl.float32, rl.bfloat16]


def test_settings():
    assert rl.get_autocast_dtype("cpu") is rl.bfloat16 and rl.get_autocast_dtype("cuda") is rl.float16
    rl.set_autocast_dtype("cpu", rl.float16)
    rl.set_autocast_enabled("cpu", True)
    try:
        assert rl.is_autocast_enabled("cpu") and not rl.is_autocast_enabled() and (a @ a).dtype is rl.float16
    finally:
        rl.set_autocast_enabled("cpu", False)
        rl.set_autocast_dtype("cpu", rl.bfloat16)
    assert (a @ a).dtype is rl.float32
    with pytest.warns(DeprecationWarning, match="is_autocast_enabled"):
        assert not rl.is_autocast_cpu_enabled()
    with pytest.warns(DeprecationWarning, match="get_autocast_dtype"):
        assert rl.get_autocast_gpu_dtype() is rl.float16
    assert rl.amp.is_autocast_available("cpu") and not rl.amp.is_autocast_available("meta")
    assert (rl.autocast_increment_nesting(), rl.autocast_decrement_nesting()) == (1, 0)


def test_what_cannot_be_warns_or_is_refused():
    for options, match in (({"dtype": rl.float64}, "not supported"), ({"dtype": rl.float32}, "not supported")):
        with pytest.warns(UserWarning, match=match), rl.autocast("cpu", **options):
            assert (a @ a).dtype is rl.float32
    with pytest.warns(UserWarning, match="CUDA is not available"), rl.autocast("cuda"):
        assert not rl.is_autocast_enabled("cuda") and (a @ a).dtype is rl.float32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with rl.autocast("cuda", enabled=False):
            assert (a @ a).dtype is rl.float32
    with pytest.warns(FutureWarning, match="cuda.amp.autocast"), rl.cuda.amp.autocast(enabled=False):
        assert (a @ a).dtype is rl.float32
    with pytest.raises(ValueError, match="of type `str`"):
        rl.autocast(3)
    with pytest.raises(RuntimeError, match="device"):
        rl.autocast("foo")


def test_results_go_where_they_are_told():
    made = rl.empty(3, 3)
    with rl.autocast("cpu"):
        rl.mm(a, a, out=made)
    assert rl.equal(made, a @ a)


def test_custom_functions():
    seen = []

    class Product(rl.autograd.Function):
        @staticmethod
        @rl.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            seen.append(rl.is_autocast_enabled("cpu"))
            return x @ x

        @staticmethod
        @rl.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            seen.append(rl.is_autocast_enabled("cpu"))
            return grad.float()

    class Wide(Product):
        @staticmethod
        @rl.amp.custom_fwd(device_type="cpu", cast_inputs=rl.float32)
        def forward(ctx, x):
            seen.append((rl.is_autocast_enabled("cpu"), x.dtype))
            return x @ x

    x = a.clone().requires_grad_()
    with rl.autocast("cpu"):
        y, z = Product.apply(x), Wide.apply(x.bfloat16())
    assert y.dtype is rl.bfloat16 and z.dtype is rl.float32
    y.sum().backward()
    z.sum().backward()
    assert seen == [True, (False, rl.float32), True, False]
    Product.apply(x).sum().backward()
    assert seen[4:] == [False, False]


def test_models_train():
    rl.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
    optimizer, x = rl.optim.Adam(model.parameters(), lr=0.01), rl.rand(8, 1, 6, 6)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        with rl.autocast("cpu"):
            loss = F.cross_entropy(model(x), rl.arange(8) % 3)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    assert {p.dtype for p in model.parameters()} == {rl.float32}


def test_nothing_is_redirected_when_it_is_off():
    with rl.autocast("cpu"):
        assert F.cross_entropy.function is not F.cross_entropy.__wrapped__
    assert F.cross_entropy.function is F.cross_entropy.__wrapped__


def test_transformations_see_it_too():
    weight, x = rl.rand(2, 3), rl.rand(4, 3)
    with rl.autocast("cpu"):
        assert rl.vmap(lambda row: F.linear(row, weight))(x).dtype is rl.bfloat16
        gradient = rl.func.grad(lambda w: F.mse_loss(F.linear(x, w), rl.zeros(4, 2)))(weight)
        assert (a.to_sparse() @ a).dtype is rl.bfloat16
    assert gradient.dtype is rl.float32 and gradient.shape == (2, 3)


def test_errors_are_those_of_the_function():
    with rl.autocast("cpu"):
        with pytest.raises(TypeError, match="missing required argument: 'mat2'"):
            rl.mm(a)
        with pytest.raises(TypeError, match="must be Tensor, not str"):
            rl.mm(a, "x")
        with pytest.raises(TypeError, match="target"):
            F.mse_loss(a)
        assert rl.mm(a, mat2=a).dtype is rl.mm(input=a, mat2=a).dtype is rl.bfloat16  # and the next call is prepared


def test_threads_come_and_go():
    wrong = []

    def work(dtype):
        for _ in range(100):
            if (a @ a).dtype is not rl.float32:
                wrong.append("off")
            with rl.autocast("cpu", dtype=dtype):
                if (a @ a).dtype is not dtype or F.mse_loss(half, a).dtype is not rl.float32:
                    wrong.append(dtype)

    threads = [threading.Thread(target=work, args=(dtype,)) for dtype in (rl.bfloat16, rl.float16) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
