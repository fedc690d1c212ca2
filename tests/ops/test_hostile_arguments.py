"""Arguments that no call can mean: each must be refused at once, by an error of the kinds that PyTorch raises."""

import time

import pytest

import rushlight as rl
from rushlight.ops import FUNCTIONS, METHODS

from .op_table import TABLE
from .parity import agree, table

F = rl.nn.functional
KINDS = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError)
HOSTILE = (
    None,
    0,
    -7,
    2**40,
    2**63 - 1,
    10**30,
    -1.5,
    float("nan"),
    "",
    (),
    (0, 0),
    (2**40, -1),
    1j,
    object(),
    {},
    [None],
)
NAMES = sorted({row.name for row in TABLE} & FUNCTIONS.keys())[::7]
SLOW = 20.0  # seconds: a first call may compile

AS_PYTORCH = """
T.nn.functional.conv2d(n, None)
T.nn.functional.conv2d(None, w)
n.masked_fill(None, 1)
n.masked_fill("a", 1)
T.lerp(n, n, None)
T.lerp(n, n, "a")
T.lerp(n, None, 1)
T.add(n, None)
T.add(None, n)
T.add(n, [1, 2])
T.mul(n, "a")
T.where(None, n, n)
T.where(n > 0, None, n)
T.cat([n, None])
T.cat(None)
T.cat(n)
n.gather(0, None)
n.scatter(0, None, n)
n.index_select(0, None)
T.nn.functional.embedding(T.tensor([1]), None)
T.nn.functional.cross_entropy(n, None)
T.take(n, None)
T.bucketize(n, None)
T.searchsorted(None, n)
T.exp("a")
T.diag(n[0, 0], 1.5)
n.sum("a")
T.Tensor.item(3)
T.tensor([1, 2]) ** -1
T.tensor([1, 2]).pow_(-1)
T.pow(T.tensor([], dtype=T.int64), -1)
T.tensor(True) ** -1
T.tensor([1, 2]) ** T.tensor(-1), 2 ** T.tensor([-1, 2]), T.tensor([1, 2]) ** -1.0, T.tensor([2]) ** 0
T.nn.functional.conv2d(n, w, groups=0)
T.nn.functional.conv2d(n, w, stride=0)
T.nn.functional.conv_transpose2d(n, w, padding=5000)
T.nn.functional.interpolate(n, size=0)
T.nn.functional.fold(T.ones(1, 8, 4), (0, 0), (2, 2))
T.nn.functional.max_pool2d(n, 0)
T.nn.functional.unfold(n, 0)
T.nn.functional.unfold(n, 2, stride=0)
T.nn.functional.pixel_shuffle(n, 0)
T.nn.functional.avg_pool1d(n[0], 2, count_include_pad=1j)
"""


@table(AS_PYTORCH)
def test_kinds_are_those_of_pytorch(expression):
    agree(expression, lambda T: {"n": T.ones(1, 2, 4, 4), "w": T.ones(2, 2, 3, 3)})


@pytest.mark.parametrize("name", NAMES)
def test_no_other_kind_leaves_a_function(name):
    x = rl.ones(2, 3)
    start = time.perf_counter()
    for bad in HOSTILE:
        for arguments in ((bad,), (x, bad), (x, x, bad), (x, 1, bad), (x, bad, bad)):
            try:
                FUNCTIONS[name](*arguments)
            except KINDS:
                continue
    assert time.perf_counter() - start < SLOW


def test_methods_of_the_core_look_at_what_they_are_called_on():
    for name in (
        "item",
        "size",
        "stride",
        "tolist",
        "numel",
        "data_ptr",
        "is_contiguous",
        "requires_grad_",
        "detach",
        "backward",
    ):
        with pytest.raises(TypeError):
            getattr(rl.Tensor, name)(3)


def test_errors_of_the_callers_functions_stay():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        METHODS["apply_"](rl.ones(1), lambda value: value.nothing)
    with pytest.raises(ZeroDivisionError):
        rl.ones(1).apply_(lambda value: 1 // 0)


@pytest.mark.parametrize(
    "options",
    [
        {"stride": 300},
        {"stride": (7, 300)},
        {"stride": 20, "dilation": (6, 4), "padding": 1},
        {"stride": 9, "output_padding": 3},
    ],
    ids=str,
)
def test_transposed_convolutions_of_large_strides(options):
    agree(
        "T.nn.functional.conv_transpose2d(T.arange(32.0).reshape(1, 2, 4, 4), T.arange(36.0).reshape(2, 2, 3, 3), **options)",
        lambda T: {"options": options},
    )


def test_absurd_transposed_convolutions_are_refused_at_once():
    start = time.perf_counter()
    for size in (2**20, 2**30, 2**40, 10**30):
        for name in ("stride", "dilation", "padding", "output_padding"):
            with pytest.raises(KINDS):
                F.conv_transpose2d(rl.ones(1, 2, 4, 4), rl.ones(2, 2, 3, 3), **{name: size})
    assert time.perf_counter() - start < SLOW
