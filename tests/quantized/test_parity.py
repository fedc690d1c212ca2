"""Quantization against PyTorch's, bit for bit: ties, odd zero points, requantization."""

import io
import warnings

import numpy as np
import pytest

import rushlight as rl
from rushlight.compiler.target import host

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not host().has("fma"), reason="ties are decided by products and sums that are rounded once"),
]
RANGES = {"quint8": (0, 256), "qint8": (-128, 128), "qint32": (-(2**20), 2**20)}


@pytest.fixture(autouse=True, scope="module")
def kernels():
    """PyTorch's reference kernels: others round sums differently. Creating quantized tensors warns there."""
    engine = torch.backends.quantized.engine
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        pytest.skip("PyTorch without fbgemm")
    torch.backends.quantized.engine = "fbgemm"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    torch.backends.quantized.engine = engine


def same(ours, theirs):
    ours, theirs = ours.detach(), theirs.detach()
    if theirs.is_quantized:
        assert str(ours.dtype).partition(".")[2] == str(theirs.dtype).partition(".")[2]
        ours, theirs = ours.int_repr(), theirs.int_repr()
    np.testing.assert_array_equal(ours.float().numpy(), theirs.float().numpy())


def both(array):
    return rl.from_numpy(array.copy()), torch.from_numpy(array.copy())


def numbers(scale, seed=0):
    """Random numbers, and all ties of a scale."""
    random = np.random.default_rng(seed)
    drawn = random.standard_normal(2003) * scale * 90
    return np.concatenate([drawn, np.arange(-300, 301) * scale / 2]).astype("float32")


def pair(shape, scale, zero_point, dtype, seed=0):
    kind = {"quint8": "uint8", "qint8": "int8", "qint32": "int32"}[dtype]
    ints = np.random.default_rng(seed).integers(*RANGES[dtype], shape).astype(kind)
    ours, theirs = both(ints)
    return (
        rl._make_per_tensor_quantized_tensor(ours, scale, zero_point),
        torch._make_per_tensor_quantized_tensor(theirs, scale, zero_point),
    )


@pytest.mark.parametrize("dtype", RANGES)
@pytest.mark.parametrize("scale, zero_point", [(0.1, 7), (0.5, 101), (0.037, 0), (1e-3, 33), (2.0, 64)])
def test_per_tensor(dtype, scale, zero_point):
    ours, theirs = (
        t.quantize_per_tensor(x, scale, zero_point, getattr(t, dtype))
        for t, x in zip((rl, torch), both(numbers(scale)))
    )
    same(ours, theirs)
    same(ours.dequantize(), theirs.dequantize())


@pytest.mark.parametrize("dtype", ["quint8", "qint8"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("floating", [False, True])
def test_per_channel(dtype, axis, floating):
    random = np.random.default_rng(axis)
    x = (random.standard_normal((5, 7, 33)) * 9).astype("float32")
    scales, zeros = random.random(x.shape[axis]) * 0.2 + 0.01, random.integers(0, 100, x.shape[axis])
    zeros = zeros.astype("float32") + 0.3 if floating else zeros
    made = [
        t.quantize_per_channel(v, s, z, axis, getattr(t, dtype))
        for t, v, s, z in zip((rl, torch), both(x), both(scales), both(zeros))
    ]
    same(*made)
    same(*(m.dequantize() for m in made))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_fake_quantize(dtype):
    for parameters in ((0.1, 10, 0, 255), (0.37, -3, -128, 127), (0.25, 0, 0, 15)):
        found = []
        for t, x in zip((rl, torch), both(numbers(0.1))):
            x = x.to(getattr(t, dtype)).requires_grad_()
            y = t.fake_quantize_per_tensor_affine(x, *parameters)
            y.sum().backward()
            found.append((y, x.grad))
        for ours, theirs in zip(*found):
            same(ours, theirs)


def test_fake_quantize_channels_and_learnable():
    random = np.random.default_rng(0)
    x = (random.standard_normal((4, 50)) * 9).astype("float32")
    scale, zero = (random.random(4) * 0.2 + 0.01).astype("float32"), random.integers(0, 50, 4).astype("int32")
    found = []
    for t, v, s, z in zip((rl, torch), both(x), both(scale), both(zero)):
        plain = t.fake_quantize_per_channel_affine(v, s, z, 0, 0, 100)
        learned = [v.requires_grad_(), s.requires_grad_(), (z.float() + 0.3).requires_grad_()]
        t._fake_quantize_learnable_per_channel_affine(*learned, 0, 0, 100, 0.7).square().sum().backward()
        found.append((plain, *(part.grad for part in learned)))
    same(found[0][0], found[1][0])
    for ours, theirs in zip(found[0][1:], found[1][1:]):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5)


@pytest.mark.parametrize("reduce_range", [False, True])
def test_chosen_parameters(reduce_range):
    random = np.random.default_rng(0)
    for place in range(60):
        ends = random.standard_normal(3) * 10.0 ** random.integers(-7, 5)
        ends = np.abs(ends) if place % 5 == 0 else -np.abs(ends) if place % 7 == 0 else ends
        ours, theirs = both(ends.astype("float32"))
        assert rl._choose_qparams_per_tensor(ours, reduce_range) == torch._choose_qparams_per_tensor(
            theirs, reduce_range
        )


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
def test_observing(per_row, symmetric):
    random, count = np.random.default_rng(0), 4 if per_row else 1
    state = {
        t: [
            t.full((count,), float("inf")),
            t.full((count,), -float("inf")),
            t.ones(count),
            t.zeros(count, dtype=t.int32),
        ]
        for t in (rl, torch)
    }
    for step in range(3):
        x = (random.standard_normal((4, 50)) * (step + 1)).astype("float32")
        made = [
            t.fused_moving_avg_obs_fake_quant(
                v, t.tensor([1]), t.tensor([1]), *state[t], 0.01, -128, 127, 0, per_row, symmetric
            )
            for t, v in zip((rl, torch), both(x))
        ]
        same(*made)
    for ours, theirs in zip(state[rl], state[torch]):
        same(ours, theirs)


@pytest.mark.parametrize("dtype", ["quint8", "qint8"])
@pytest.mark.parametrize("scales", [((0.05, 3), (0.05, 7), (0.1, 10)), ((0.05, 3), (0.07, 100), (0.09, 61))])
def test_arithmetic(dtype, scales):
    (s1, z1), (s2, z2), result = scales
    a, b = pair((64, 64), s1, z1, dtype, 1), pair((64, 64), s2, z2, dtype, 2)
    library = rl.ops.quantized, torch.ops.quantized
    for name in ("add", "add_relu", "mul", "mul_relu"):
        same(*(getattr(q, name)(x, y, *result) for q, x, y in zip(library, a, b)))
    for name in ("add_scalar", "mul_scalar", "add_scalar_relu", "mul_scalar_relu"):
        for value in (0.3, -0.7, 20.0, -30.0, 0.0):
            ours, theirs = (getattr(q, name)(x, value) for q, x in zip(library, a))
            same(ours, theirs)
            assert (ours.q_scale(), ours.q_zero_point()) == (theirs.q_scale(), theirs.q_zero_point())
    same(*(q.cat(list(parts), 0, *result) for q, parts in zip(library, zip(a, b))))
    same(*(q.leaky_relu(x, 0.1, False, *result) for q, x in zip(library, a)))
    same(*(t.cat(list(parts)) for t, parts in zip((rl, torch), zip(a, b))))


FUNCTIONS = {
    "max_pool2d": (3, 2, 1),
    "avg_pool2d": (3, 2, 1),
    "interpolate": ((9, 31), None, "bilinear"),
    "pad": ((1, 2, 3, 0), "constant", 2.0),
    "relu6": (),
    "hardsigmoid": (),
    "hardtanh": (),
    "gelu": (),
}


@pytest.mark.parametrize("dtype", ["quint8", "qint8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(dtype, name):
    images = pair((2, 4, 17, 19), 0.05, 3, dtype)
    same(*(getattr(t.nn.functional, name)(x, *FUNCTIONS[name]) for t, x in zip((rl, torch), images)))


def weights(shape, per_channel):
    random = np.random.default_rng(3)
    w = both((random.standard_normal(shape) * 0.5).astype("float32"))
    if not per_channel:
        return [t.quantize_per_tensor(v, 0.013, 2, t.qint8) for t, v in zip((rl, torch), w)]
    scales, zeros = both(random.random(shape[0]) * 0.01 + 0.003), both(np.zeros(shape[0], "int64"))
    return [t.quantize_per_channel(v, s, z, 0, t.qint8) for t, v, s, z in zip((rl, torch), w, scales, zeros)]


@pytest.mark.parametrize("depth", [64, 300, 1100])
@pytest.mark.parametrize("per_channel", [False, True])
def test_linear(depth, per_channel):
    x, w = pair((16, depth), 0.05, 3, "quint8"), weights((40, depth), per_channel)
    bias = both(np.random.default_rng(4).standard_normal(40).astype("float32"))
    packed = [t.ops.quantized.linear_prepack(v, b) for t, v, b in zip((rl, torch), w, bias)]
    for name in ("linear", "linear_relu"):
        made = (getattr(t.ops.quantized, name)(v, p, depth**0.5 / 20, 100) for t, v, p in zip((rl, torch), x, packed))
        same(*made)
    same(*(t.ops.quantized.linear_dynamic(v.dequantize(), p) for t, v, p in zip((rl, torch), x, packed)))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("window", [([1, 1], [1, 1], [1, 1]), ([2, 1], [0, 1], [1, 2])])
def test_convolution(groups, window):
    x, w = pair((2, 8, 15, 14), 0.05, 3, "quint8"), weights((12, 8 // groups, 3, 3), True)
    bias = both(np.random.default_rng(4).standard_normal(12).astype("float32"))
    for name in ("conv2d", "conv2d_relu"):
        made = []
        for t, v, k, b in zip((rl, torch), x, w, bias):
            q = t.ops.quantized
            made.append(getattr(q, name)(v, q.conv2d_prepack(k, b, *window, groups), 0.8, 100))
        same(*made)


def test_shown_as_pytorch_shows_them():
    for values, scale in (([[-1.0, 0.0], [2.0, 3.5]], 0.1), ([1.0, 2.0], 0.5), ([], 1.0), ([1e8, 1.0], 1.0)):
        ours, theirs = (t.quantize_per_tensor(t.tensor(values), scale, 10, t.qint32) for t in (rl, torch))
        assert repr(ours).replace("rushlight", "torch").split() == repr(theirs).split()
    made = [t.quantize_per_channel(t.ones(2, 2), t.ones(2), t.zeros(2), 0, t.qint8) for t in (rl, torch)]
    assert repr(made[0]).replace("rushlight", "torch").split() == repr(made[1]).split()


def test_files_of_pytorch():
    theirs = {"a": pair((3, 4), 0.1, 7, "quint8")[1], "b": weights((4, 3), True)[1], "c": weights((4, 3), False)[1][1:]}
    file = io.BytesIO()
    torch.save(theirs, file)
    file.seek(0)
    for name, ours in rl.load(file).items():
        same(ours, theirs[name])
        same(ours.dequantize(), theirs[name].dequantize())
