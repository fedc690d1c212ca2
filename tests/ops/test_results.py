"""How results lie in memory: the order of dims is that of the operands, as in PyTorch's iterators."""

import pytest

import rushlight
from rushlight.nn import functional as F


def permuted(*shape):
    """Memory in the opposite order of dims."""
    return rushlight.ones(shape[::-1]).permute(*range(len(shape) - 1, -1, -1))


def channels_last(*shape):
    return rushlight.ones(shape).contiguous(memory_format=rushlight.channels_last)


def visible(x):
    """Strides of dims of more than one element."""
    return tuple(stride for size, stride in zip(x.shape, x.stride()) if size > 1)


@pytest.mark.parametrize(
    "call, expected",
    [
        (lambda: permuted(3, 1, 2).sqrt(), (1, 3)),
        (lambda: permuted(1, 3, 1, 2).isinf(), (1, 3)),
        (lambda: permuted(3, 1, 2).clone(), (1, 3)),
        (lambda: permuted(3, 1, 2).half(), (1, 3)),
        (lambda: channels_last(3, 2, 1, 2).neg(), (4, 1, 2)),
        (lambda: permuted(1, 3, 4) + rushlight.ones(2, 4, 3).mT, (12, 1, 3)),
        (lambda: rushlight.ones(1, 3, 2, 1) <= channels_last(2, 3, 2, 1), (6, 2, 1)),
        (lambda: channels_last(2, 3, 1, 2) + rushlight.ones(2, 3, 1, 1), (6, 1, 3)),
        (lambda: rushlight.ones(2, 3, 4) + permuted(2, 3, 4), (12, 4, 1)),
        (lambda: rushlight.ones(3, 4) + permuted(2, 3, 4), (1, 8, 2)),
        (lambda: rushlight.where(permuted(2, 3) > 0, permuted(2, 3), permuted(2, 3)), (1, 2)),
        (lambda: permuted(2, 3).tril(), (3, 1)),
        (lambda: permuted(2, 3).masked_fill(rushlight.ones(2, 3) > 0, 2.0), (3, 1)),
        (lambda: permuted(4, 3).char(memory_format=rushlight.contiguous_format), (3, 1)),
    ],
)
def test_strides(call, expected):
    assert visible(call()) == expected


def test_outputs_that_are_resized_lie_as_the_result_would():
    out = rushlight.empty(0)
    assert rushlight.sin(permuted(2, 3), out=out) is out
    assert visible(out) == (1, 2) and out.equal(rushlight.ones(2, 3).sin())


@pytest.mark.parametrize(
    "call, expected",
    [
        (lambda: F.pad(channels_last(2, 3, 1, 2), (1, 1)), (12, 1, 3)),
        (lambda: F.max_pool2d(channels_last(2, 3, 1, 4), (1, 2)), (6, 1, 3)),
        (lambda: F.conv2d(channels_last(2, 3, 1, 4), rushlight.ones(4, 3, 1, 2)), (12, 1, 4)),
        (lambda: F.conv2d(rushlight.ones(2, 3, 1, 1), rushlight.ones(4, 3, 1, 1)), (4, 1)),
        (lambda: rushlight.cat([channels_last(2, 3, 1, 4)] * 2), (12, 1, 3)),
        (lambda: rushlight.cat([permuted(3, 4)]), (4, 1)),
    ],
)
def test_channels_stay_last_beside_dims_of_one_element(call, expected):
    assert visible(call()) == expected
