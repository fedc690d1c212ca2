"""Errors of layers and their functions: the types of PyTorch, and messages that name what the user called."""

import pytest

import rushlight as rl
from rushlight import nn

F = nn.functional
ones = rl.ones


@pytest.mark.parametrize(
    "layer, arguments, missing",
    [
        (nn.Conv1d, (3, 4), "kernel_size"),
        (nn.Conv2d, (3, 4), "kernel_size"),
        (nn.ConvTranspose3d, (3, 4), "kernel_size"),
        (nn.LazyConv2d, (3,), "kernel_size"),
        (nn.BatchNorm2d, (), "num_features"),
        (nn.InstanceNorm1d, (), "num_features"),
        (nn.ZeroPad2d, (), "padding"),
        (nn.ConstantPad1d, (1,), "value"),
        (nn.MaxPool2d, (), "kernel_size"),
        (nn.MaxUnpool1d, (), "kernel_size"),
        (nn.FractionalMaxPool2d, (), "kernel_size"),
        (nn.AdaptiveAvgPool1d, (), "output_size"),
        (nn.Threshold, (1,), "value"),
        (nn.Linear, (3,), "out_features"),
    ],
)
def test_a_missing_argument_names_the_layer(layer, arguments, missing):
    with pytest.raises(TypeError, match=rf"^{layer.__name__}.__init__\(\) missing 1 required .*'{missing}'"):
        layer(*arguments)


def test_an_unknown_argument_names_the_layer():
    layers = [kind for kind in vars(nn).values() if isinstance(kind, type) and issubclass(kind, nn.Module)]
    assert len(layers) > 50
    for layer in layers:
        if layer is not nn.Identity and not layer.__name__.startswith("_"):
            with pytest.raises(TypeError) as caught:
                layer(nonsense=1)
            assert not str(caught.value).startswith("_"), layer


def test_subclasses_keep_the_constructor_of_their_layer():
    class Mine(nn.Conv2d):
        """A layer of a user's own."""

    assert Mine(1, 2, 3).weight.shape == (2, 1, 3, 3)
    assert nn.Conv2d.__init__.__kwdefaults__ == nn.Conv3d.__init__.__kwdefaults__


OF_CONVOLUTIONS = {
    "no filters": (lambda: F.conv2d(ones(1, 1, 4, 4), ones(0, 1, 2, 2)), "at least 1 at dimension 0"),
    "fewer filters than groups": (lambda: F.conv1d(ones(1, 2, 4), ones(1, 1, 2), groups=2), "at least 2 at dimension"),
    "transposed": (lambda: F.conv_transpose2d(ones(1, 1, 4, 4), ones(1, 0, 2, 2)), r"non-empty .* \[1, 0, 2, 2\]"),
    "large kernel": (
        lambda: F.conv2d(ones(1, 1, 1, 1), ones(1, 1, 3, 3)),
        r"padded input size per channel: \(1 x 1\)\. Kernel size: \(3 x 3\)\. Kernel size can't be greater",
    ),
    "dilated kernel": (lambda: F.conv1d(ones(1, 1, 4), ones(1, 1, 3), dilation=2), r"\(4\)\. Kernel size: \(5\)"),
    "avg_pool3d": (
        lambda: F.avg_pool3d(ones(1, 2, 2, 2), 3, 1, 1),
        r"input image \(T: 2 H: 2 W: 2\) smaller than kernel size \(T: 3 H: 3 W: 3\)",
    ),
    "lp_pool3d": (lambda: F.lp_pool3d(ones(1, 1, 2, 2, 2), 2, 3, ceil_mode=True), "smaller than kernel size"),
    "interpolate, negative": (lambda: F.interpolate(ones(1, 1, 4), scale_factor=-1.0), "should be greater than 0"),
    "interpolate, zero": (lambda: F.interpolate(ones(1, 1, 4), scale_factor=0.1), "should be greater than 0"),
    "attention, widths": (
        lambda: F.scaled_dot_product_attention(ones(1, 3, 4), ones(1, 3, 5), ones(1, 3, 4)),
        r"scaled_dot_product_attention: query and key .* query \[1, 3, 4\] and key \[1, 3, 5\]",
    ),
    "attention, lengths": (
        lambda: F.scaled_dot_product_attention(ones(1, 3, 4), ones(1, 5, 4), ones(1, 3, 4)),
        r"as many values as keys",
    ),
    "attention, whole numbers": (
        lambda: F.scaled_dot_product_attention(*[ones(1, 3, 4, dtype=rl.int64)] * 3),
        "floating point, got Long",
    ),
    "attention, dropout": (
        lambda: F.scaled_dot_product_attention(*[ones(1, 3, 4)] * 3, dropout_p=2.0),
        "between 0 and 1, but got 2.0",
    ),
    "rrelu": (lambda: F.rrelu(ones(2), 2, 1), "Lower bound should be less"),
    "binary_cross_entropy": (
        lambda: F.binary_cross_entropy(ones(2), rl.tensor([0, 1])),
        "Found dtype Long but expected",
    ),
    "bce_with_logits": (lambda: F.binary_cross_entropy_with_logits(ones(2), rl.tensor([0, 1])), "output type Long"),
    "local_response_norm": (lambda: F.local_response_norm(ones(1, 1, 2), -1), "size must be greater than 0"),
    "pad_sequence": (lambda: nn.utils.rnn.pad_sequence(5), "Expected iterable"),
    "grad of nothing": (lambda: rl.autograd.grad(ones(1, requires_grad=True).sum(), []), "cannot be empty"),
    "attention, heads": (
        lambda: F.scaled_dot_product_attention(ones(4, 3, 4), ones(3, 3, 4), ones(3, 3, 4), enable_gqa=True),
        "must divide that of query",
    ),
}


@pytest.mark.parametrize("name", OF_CONVOLUTIONS)
def test_sizes_that_cannot_be(name):
    call, message = OF_CONVOLUTIONS[name]
    with pytest.raises(RuntimeError, match=message):
        call()


def test_a_norm_of_order_zero_has_no_root():
    with pytest.raises(ZeroDivisionError, match="norm_type"):
        F.lp_pool1d(ones(1, 1, 4), 0, 2)


def test_sizes_of_another_rank():
    with pytest.raises(ValueError, match="same number of spatial dimensions"):
        F.interpolate(ones(1, 1, 4, 4), size=(2, 2, 2))
    with pytest.raises(ValueError, match="1D target must have size 1, but got target size: 2"):
        F.nll_loss(ones(2), rl.tensor([0, 1]))


def test_a_rate_that_is_a_tensor_has_one_element():
    with pytest.raises(ValueError, match="1-element"):
        rl.optim.Adam([ones(2, requires_grad=True)], lr=rl.tensor([0.1, 0.2]))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: nn.MultiheadAttention(5, 2), "embed_dim must be divisible by num_heads"),
        (lambda: nn.MultiheadAttention(4, 2)(ones(3, 1, 5), ones(3, 1, 4), ones(3, 1, 4)), "dimension of 4, but got 5"),
        (lambda: nn.MultiheadAttention(4, 2)(ones(3, 1, 4), ones(3, 2, 4), ones(3, 1, 4)), "does not match value"),
        (lambda: nn.MultiheadAttention(4, 2)(ones(3), ones(3), ones(3)), "batched"),
        (lambda: nn.MultiheadAttention(4, 2, kdim=3)(*[ones(1, 1, 4)] * 3), "expecting key weights shape"),
        (lambda: nn.Embedding(3, 2, padding_idx=3), "within num_embeddings"),
        (lambda: nn.Embedding.from_pretrained(ones(3)), "2-dimensional"),
        (lambda: nn.MultiheadAttention(4, 2)(*[ones(3, 1, 4)] * 3, key_padding_mask=ones(2, 3)), "to be 1, but got 2"),
    ],
)
def test_attention_asserts(call, message):
    with pytest.raises(AssertionError, match=message):
        call()


def test_norms_print_the_size_that_is_too_small():
    with pytest.raises(
        ValueError, match=r"more than 1 value per channel when training, got input size .*Size\(\[1, 3\]\)"
    ):
        nn.BatchNorm1d(3)(ones(1, 3))


def test_parameter_containers_print_types_and_sizes():
    values = {"a": nn.Parameter(ones(2, 3)), "b": ones(1, dtype=rl.float64), "c": 3}
    assert repr(nn.ParameterDict(values)) == (
        "ParameterDict(\n"
        "    (a): Parameter containing: [rushlight.FloatTensor of size 2x3]\n"
        "    (b): Parameter containing: [rushlight.DoubleTensor of size 1]\n"
        "    (c): Object of type: int\n)"
    )
    assert repr(nn.ParameterList([ones(2, 3)])) == (
        "ParameterList(  (0): Parameter containing: [rushlight.float32 of size 2x3])"
    )
