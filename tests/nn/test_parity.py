"""Modules against PyTorch: equal printing, state, initial values and outputs for equal seeds."""

import warnings

import pytest

import rushlight
from rushlight import nn

torch = pytest.importorskip("torch")


def x(*shape, kind="normal"):
    """A seeded input for both engines, made by PyTorch."""
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    if kind == "normal":
        return torch.randn(shape, generator=generator)
    if kind == "positive":
        return torch.rand(shape, generator=generator) + 0.1
    if kind == "sign":
        return torch.randint(0, 2, shape, generator=generator).float() * 2 - 1
    return torch.randint(0, kind, shape, generator=generator)


def ours(value):
    """A PyTorch value as rushlight's."""
    if isinstance(value, torch.Tensor):
        dtype = getattr(rushlight, str(value.dtype).split(".")[1])
        return rushlight.tensor(value.tolist(), dtype=dtype).reshape(tuple(value.shape))
    return value


def theirs(value):
    """A rushlight value as PyTorch's."""
    if isinstance(value, rushlight.Tensor):
        dtype = getattr(torch, str(value.dtype).split(".")[1])
        return torch.tensor(value.tolist(), dtype=dtype).reshape(tuple(value.shape))
    return value


def compare(mine, expected, where):
    if isinstance(expected, (tuple, list)):
        assert len(mine) == len(expected), where
        for a, b in zip(mine, expected):
            compare(a, b, where)
    elif expected is None:
        assert mine is None, where
    else:
        mine = theirs(mine.detach())
        assert mine.dtype == expected.dtype and mine.shape == expected.shape, where
        torch.testing.assert_close(mine, expected.detach(), rtol=2e-5, atol=2e-6, msg=lambda m: f"{where}: {m}")


def build_both(name, args=(), kwargs={}):  # noqa: B006
    """The module in both engines, from the same seed, checked to be equal in all but its outputs."""
    rushlight.manual_seed(0)
    mine = getattr(nn, name)(*map(ours, args), **{k: ours(v) for k, v in kwargs.items()})
    torch.manual_seed(0)
    expected = getattr(torch.nn, name)(*args, **kwargs)
    assert repr(mine) == repr(expected)
    state, expected_state = mine.state_dict(), expected.state_dict()
    assert list(state) == list(expected_state)
    assert state._metadata == expected_state._metadata
    for key, value in expected_state.items():
        bitwise = name not in ("Embedding", "EmbeddingBag", "MultiheadAttention")  # normal_ may differ in the last bit
        torch.testing.assert_close(theirs(state[key]), value, rtol=0 if bitwise else 1e-6, atol=0)
    return mine, expected


T1, T2, T3 = x(2, 4, 8), x(2, 4, 8, 8), x(2, 4, 8, 8, 8)
INDICES = x(2, 3, kind=9)
CLASSES, WEIGHTS = x(4, kind=5), x(5, kind="positive")
A, B, C = x(4, 5), x(4, 5) * 0.5 + 0.1, x(4, 5).flip(0)
SIGNS = x(4, kind="sign")
QUERY, MEMORY = x(3, 2, 8), x(5, 2, 8)
LOG_PROBS = x(10, 2, 5).log_softmax(2)

CASES = [
    ("Linear", (4, 3), {}, (x(2, 4),)),
    ("Linear", (4, 3, False), {}, (x(4),)),
    ("Bilinear", (4, 3, 5), {}, (x(2, 4), x(2, 3))),
    ("Identity", (4,), {}, (x(2, 4),)),
    ("LayerNorm", (4,), {}, (x(2, 4),)),
    ("LayerNorm", ((3, 4),), {"bias": False}, (x(2, 3, 4),)),
    ("RMSNorm", (4,), {}, (x(2, 4),)),
    ("GroupNorm", (2, 4), {}, (T1,)),
    ("GroupNorm", (2, 4), {"bias": False}, (T2,)),
    ("LocalResponseNorm", (2,), {}, (T1,)),
    ("FractionalMaxPool2d", (2,), {"output_size": 4}, (T2,)),
    ("Threshold", (0.1, 20), {}, (A,)),
    ("GELU", (), {"approximate": "tanh"}, (A,)),
    ("PReLU", (5,), {}, (A,)),
    ("Softmax2d", (), {}, (T2,)),
    ("Flatten", (), {}, (T1,)),
    ("Unflatten", (1, (2, 2)), {}, (T1,)),
    ("PixelShuffle", (2,), {}, (T2,)),
    ("PixelUnshuffle", (2,), {}, (T2,)),
    ("ChannelShuffle", (2,), {}, (T2,)),
    ("Fold", ((4, 5), (2, 2)), {}, (x(1, 12, 12),)),
    ("Unfold", ((2, 3),), {}, (T2,)),
    ("Upsample", (), {"scale_factor": 2}, (T2,)),
    ("Upsample", ((5, 5),), {"mode": "bilinear", "align_corners": True}, (T2,)),
    ("UpsamplingNearest2d", (5,), {}, (T2,)),
    ("UpsamplingBilinear2d", (), {"scale_factor": 2}, (T2,)),
    ("Embedding", (9, 4), {}, (INDICES,)),
    ("Embedding", (9, 4, -2), {"max_norm": 1.0}, (INDICES,)),
    ("EmbeddingBag", (9, 4), {}, (INDICES,)),
    ("EmbeddingBag", (9, 4), {"mode": "sum", "padding_idx": 3}, (INDICES,)),
    ("MaxUnpool2d", (2,), {}, torch.nn.functional.max_pool2d(T2, 2, return_indices=True)),
    ("LSTM", (5, 7), {"proj_size": 3, "num_layers": 2}, (x(3, 2, 5),)),
    ("RNN", (5, 7), {"nonlinearity": "relu"}, (x(3, 2, 5),)),
    ("RNNCell", (5, 7), {"nonlinearity": "relu"}, (x(2, 5),)),
    ("MultiheadAttention", (8, 2), {}, (QUERY, MEMORY, MEMORY)),
    ("MultiheadAttention", (8, 2), {"bias": False, "add_zero_attn": True}, (QUERY, MEMORY, MEMORY)),
    ("MultiheadAttention", (8, 2), {"kdim": 4, "vdim": 6, "add_bias_kv": True}, (QUERY, x(5, 2, 4), x(5, 2, 6))),
    ("MultiheadAttention", (8, 2), {"batch_first": True}, (QUERY, QUERY, QUERY)),
    ("MultiheadAttention", (8, 2), {}, (x(3, 8), x(4, 8), x(4, 8))),
    ("TransformerEncoderLayer", (8, 2, 16, 0.1), {}, (QUERY,)),
    ("TransformerDecoderLayer", (8, 2, 16, 0.1), {"norm_first": True, "activation": "gelu"}, (QUERY, MEMORY)),
    ("Transformer", (8, 2, 2, 2, 16, 0.1), {}, (x(4, 2, 8), x(3, 2, 8))),
    ("CosineSimilarity", (), {}, (A, B)),
    ("PairwiseDistance", (), {}, (A, B)),
    ("CrossEntropyLoss", (WEIGHTS,), {}, (A, CLASSES)),
    ("CrossEntropyLoss", (), {"label_smoothing": 0.1}, (A, CLASSES)),
    ("CrossEntropyLoss", (), {}, (A, B.softmax(1))),
    ("BCEWithLogitsLoss", (), {"pos_weight": WEIGHTS}, (A, B.sigmoid())),
    ("KLDivLoss", (), {"reduction": "batchmean"}, (A.log_softmax(1), B.softmax(1))),
]

ACTIVATIONS = (
    "ReLU RReLU Hardtanh ReLU6 Sigmoid Hardsigmoid Tanh SiLU Mish Hardswish ELU CELU SELU GELU Hardshrink Softshrink "
    "LeakyReLU LogSigmoid Softplus Softsign Tanhshrink PReLU"
)
CASES += [(function, (), {}, (A,)) for function in ACTIVATIONS.split()]
CASES += [(function, (1,), {}, (A,)) for function in ("Softmax", "Softmin", "LogSoftmax")]
CASES += [("GLU", (), {}, (T1,))]
CASES += [(name, (0.3,), {}, (A,)) for name in ("Dropout", "AlphaDropout")]

for d, image in ((1, T1), (2, T2), (3, T3)):
    CASES += [
        (f"Conv{d}d", (4, 6, 3), {}, (image,)),
        (f"Conv{d}d", (4, 6, 3, 2, 1), {"groups": 2, "bias": False, "dilation": 2}, (image,)),
        (f"Conv{d}d", (4, 6, 4), {"padding": "same", "padding_mode": "circular"}, (image,)),
        (f"ConvTranspose{d}d", (4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}, (image,)),
        (f"ConvTranspose{d}d", (4, 6, 3), {"stride": 2}, (image, [18] * d)),
        (f"MaxPool{d}d", (2,), {}, (image,)),
        (f"MaxPool{d}d", (3, 2, 1), {"return_indices": True}, (image,)),
        (f"AvgPool{d}d", (3, 2, 1), {}, (image,)),
        (f"LPPool{d}d", (2, 3), {}, (image.abs(),)),
        (f"AdaptiveAvgPool{d}d", (3,), {}, (image,)),
        (f"AdaptiveMaxPool{d}d", ((3,) * d,), {}, (image,)),
        (f"ConstantPad{d}d", (1, 2.5), {}, (image,)),
        (f"ZeroPad{d}d", (tuple(range(2 * d)),), {}, (image,)),
        (f"ReflectionPad{d}d", (1,), {}, (image,)),
        (f"ReplicationPad{d}d", (1,), {}, (image,)),
        (f"CircularPad{d}d", (1,), {}, (image,)),
        (f"BatchNorm{d}d", (4,), {}, (image,)),
        (f"BatchNorm{d}d", (4,), {"momentum": None, "affine": False}, (image,)),
        (f"BatchNorm{d}d", (4,), {"track_running_stats": False}, (image,)),
        (f"InstanceNorm{d}d", (4,), {"affine": True, "track_running_stats": True}, (image,)),
        (f"InstanceNorm{d}d", (4,), {}, (image[0],)),
        (f"Dropout{d}d", (0.3,), {}, (image,)),
    ]
for network in ("RNN", "LSTM", "GRU"):
    CASES += [
        (network, (5, 7), {}, (x(3, 2, 5),)),
        (network, (5, 7), {"num_layers": 2, "bidirectional": True}, (x(3, 2, 5),)),
        (network, (5, 7), {"batch_first": True, "bias": False}, (x(3, 5),)),
        (network + "Cell", (5, 7), {}, (x(2, 5),)),
        (network + "Cell", (5, 7, False), {}, (x(5),)),
    ]
for reduction in ("mean", "sum", "none"):
    reduced = {"reduction": reduction}
    for loss in ("L1", "MSE", "SmoothL1", "Huber", "PoissonNLL", "SoftMargin"):
        CASES.append((loss + "Loss", (), reduced, (A, B)))
    CASES += [
        ("KLDivLoss", (), reduced, (A.log_softmax(1), B.softmax(1))),
        ("BCELoss", (), reduced, (A.sigmoid(), B.sigmoid())),
        ("NLLLoss", (WEIGHTS,), reduced, (A.log_softmax(1), CLASSES)),
        ("MultiLabelSoftMarginLoss", (), reduced, (A, B.sigmoid())),
        ("GaussianNLLLoss", (), reduced, (A, B, B.exp())),
        ("HingeEmbeddingLoss", (), reduced, (A, SIGNS[:, None].expand(4, 5))),
        ("CosineEmbeddingLoss", (0.1,), reduced, (A, B, SIGNS)),
        ("MarginRankingLoss", (0.1,), reduced, (A[:, 0], B[:, 0], SIGNS)),
        ("TripletMarginLoss", (), reduced, (A, B, C)),
        ("TripletMarginWithDistanceLoss", (), reduced, (A, B, C)),
        ("MultiMarginLoss", (), reduced, (A, CLASSES)),
        ("MultiLabelMarginLoss", (), reduced, (A, x(4, 5, kind=6) - 1)),
        (
            "CTCLoss",
            (),
            reduced,
            (LOG_PROBS, x(2, 4, kind=4) + 1, torch.tensor([10, 9]), torch.tensor([4, 3])),
        ),
    ]


def call(module, inputs):
    try:
        return module(*map(ours, inputs))
    except AttributeError as error:
        if "module 'rushlight.ops' has no attribute" not in str(error):
            raise
        pytest.skip(f"not in the catalogue yet: {str(error).split()[-1]}")


@pytest.mark.parametrize(("name", "args", "kwargs", "inputs"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_module(name, args, kwargs, inputs):
    mine, expected = build_both(name, args, kwargs)
    for training in (True, False):
        mine.train(training)
        expected.train(training)
        rushlight.manual_seed(1)
        result = call(mine, inputs)
        torch.manual_seed(1)
        compare(result, expected(*inputs), (name, args, kwargs, training))


IN_PLACE = "ReLU ReLU6 ELU SELU CELU SiLU Mish Hardtanh Hardswish Hardsigmoid LeakyReLU RReLU Dropout AlphaDropout"


@pytest.mark.parametrize("name", IN_PLACE.split())
def test_in_place(name):
    mine, expected = build_both(name, (), {"inplace": True})
    value, reference = ours(A), A.clone()
    rushlight.manual_seed(1)
    assert mine(value) is value
    torch.manual_seed(1)
    compare(value, expected(reference), name)
    graded = ours(A).requires_grad_()
    leaf = A.clone().requires_grad_()
    rushlight.manual_seed(1)
    mine(graded * 1).sum().backward()
    torch.manual_seed(1)
    expected(leaf * 1).sum().backward()
    compare(graded.grad, leaf.grad, name)


@pytest.mark.parametrize("network", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("lengths", [(4, 4, 2, 1), (1, 4, 2, 4)])
def test_packed_sequences(network, lengths):
    is_sorted = lengths[0] == 4
    mine, expected = build_both(network, (5, 7), {"num_layers": 2, "bidirectional": True})
    sequences = [x(length, 5) for length in lengths]
    packed = nn.utils.rnn.pack_sequence([ours(s) for s in sequences], enforce_sorted=is_sorted)
    expected_packed = torch.nn.utils.rnn.pack_sequence(sequences, enforce_sorted=is_sorted)
    output, state = mine(packed)
    expected_output, expected_state = expected(expected_packed)
    compare(state, expected_state, network)
    padded = nn.utils.rnn.pad_packed_sequence(output, total_length=5)
    compare(padded, torch.nn.utils.rnn.pad_packed_sequence(expected_output, total_length=5), network)


@pytest.mark.parametrize(
    "options",
    [
        {"key_padding_mask": torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]]).bool()},
        {"attn_mask": torch.ones(3, 5).triu(1).bool()},
        {"attn_mask": x(4, 3, 5)},
        {"average_attn_weights": False},
        {"need_weights": False},
    ],
    ids=lambda options: next(iter(options)),
)
def test_attention_options(options):
    mine, expected = build_both("MultiheadAttention", (8, 2))
    result = mine(ours(QUERY), ours(MEMORY), ours(MEMORY), **{k: ours(v) for k, v in options.items()})
    compare(result, expected(QUERY, MEMORY, MEMORY, **options), options)


def test_old_reduction_arguments():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kwargs in ({"size_average": False}, {"reduce": False}):
            mine, expected = build_both("MSELoss", (), kwargs)
            compare(mine(ours(A), ours(B)), expected(A, B), kwargs)


@pytest.mark.parametrize(
    ("name", "args", "bitwise"),
    [
        ("uniform_", (), True),
        ("xavier_uniform_", (), True),
        ("kaiming_uniform_", (0.2, "fan_out"), True),
        ("dirac_", (2,), True),
        ("constant_", (3,), True),
        ("normal_", (), False),
        ("xavier_normal_", (2.0,), False),
        ("kaiming_normal_", (0, "fan_in", "relu"), False),
        ("trunc_normal_", (), False),
        ("trunc_normal_", (0.5, 2.0, 2.0, 3.0), False),
        ("orthogonal_", (2.0,), False),
    ],
)
@pytest.mark.parametrize("shape", [(6, 4, 3), (4, 30, 2)])
def test_initial_values(name, args, bitwise, shape):
    mine, expected = rushlight.zeros(shape), torch.zeros(shape)
    rushlight.manual_seed(3)
    assert getattr(nn.init, name)(mine, *args) is mine
    torch.manual_seed(3)
    getattr(torch.nn.init, name)(expected, *args)
    torch.testing.assert_close(theirs(mine), expected, rtol=0 if bitwise else 1e-5, atol=0 if bitwise else 1e-6)


def test_initial_values_of_matrices():
    for name, args in (("eye_", ()), ("sparse_", (0.3,))):
        mine, expected = rushlight.zeros(6, 4), torch.zeros(6, 4)
        rushlight.manual_seed(3)
        getattr(nn.init, name)(mine, *args)
        torch.manual_seed(3)
        getattr(torch.nn.init, name)(expected, *args)
        torch.testing.assert_close(theirs(mine), expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf")])
def test_clipping_gradients(norm_type):
    mine, expected = build_both("Linear", (4, 3))
    mine(ours(x(2, 4))).sum().backward()
    expected(x(2, 4)).sum().backward()
    total = nn.utils.clip_grad_norm_(mine.parameters(), 0.5, norm_type)
    compare(total, torch.nn.utils.clip_grad_norm_(expected.parameters(), 0.5, norm_type), norm_type)
    nn.utils.clip_grad_value_(mine.parameters(), 0.01)
    torch.nn.utils.clip_grad_value_(expected.parameters(), 0.01)
    for a, b in zip(mine.parameters(), expected.parameters()):
        compare(a.grad, b.grad, "value")
    vector = nn.utils.parameters_to_vector(mine.parameters())
    compare(vector, torch.nn.utils.parameters_to_vector(expected.parameters()), "vector")
    nn.utils.vector_to_parameters(vector * 2, mine.parameters())
    compare(mine.weight, expected.weight * 2, "from vector")
