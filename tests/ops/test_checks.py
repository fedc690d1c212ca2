"""Numbers that are written to memory stay what they are, or raise; places that do not exist raise."""

import pytest

import rushlight as rl

INF, NAN = float("inf"), float("nan")
REFUSED = [
    (rl.int8, 300),
    (rl.int8, -129),
    (rl.int8, 127.9),
    (rl.int32, 2.0**40),
    (rl.int32, INF),
    (rl.int64, NAN),
    (rl.int64, 1e19),
    (rl.uint8, -256),
    (rl.uint8, 256),
    (rl.uint8, -2.5),
    (rl.float16, 65510.0),
    (rl.bfloat16, -3.4e38),
    (rl.float32, -1e300),
    (rl.float32, 1j),
    (rl.int64, 1j),
    (rl.complex64, 1e300j),
]
TAKEN = [
    (rl.int8, -128, -128),
    (rl.int8, 2.7, 2),
    (rl.uint8, 255, 255),
    (rl.uint8, -1, 255),
    (rl.bool, 300, True),
    (rl.bool, 1j, True),
    (rl.float16, 65504.0, 65504.0),
    (rl.float16, -INF, -INF),
    (rl.float32, 3 + 0j, 3.0),
    (rl.float64, 1e300, 1e300),
    (rl.complex64, 1 + 2j, 1 + 2j),
]
WRITERS = {
    "fill_": lambda x, v: x.fill_(v),
    "full": lambda x, v: rl.full((2,), v, dtype=x.dtype),
    "full_like": rl.full_like,
    "new_full": lambda x, v: x.new_full((2,), v),
    "masked_fill": lambda x, v: x.masked_fill(rl.tensor([True, True]), v),
    "masked_fill_": lambda x, v: x.masked_fill_(rl.tensor([True, True]), v),
    "index_fill": lambda x, v: x.index_fill(0, rl.tensor([0, 1]), v),
    "index_fill_": lambda x, v: x.index_fill_(0, rl.tensor([0, 1]), v),
    "scatter": lambda x, v: x.scatter(0, rl.tensor([0, 1]), v),
    "scatter_": lambda x, v: x.scatter_(0, rl.tensor([0, 1]), value=v),
    "pad": lambda x, v: rl.nn.functional.pad(x, (2, -2), value=v),
    "x[0]": lambda x, v: assigned(x, 0, v) if assigned(x, 1, v) is x else None,
    "x[:]": lambda x, v: assigned(x, slice(None), v),
    "x[mask]": lambda x, v: assigned(x, rl.tensor([True, True]), v),
    "x[index]": lambda x, v: assigned(x, rl.tensor([0, 1]), v),
}


def assigned(x, index, value):
    x[index] = value
    return x


@pytest.mark.parametrize("writer", WRITERS)
def test_numbers_that_do_not_fit_are_refused(writer):
    for dtype, value in REFUSED:
        x = rl.zeros(2, dtype=dtype)
        with pytest.raises(RuntimeError, match=f"cannot be converted to type {dtype.name} without overflow"):
            WRITERS[writer](x, value)
        assert x.tolist() == [0, 0]


@pytest.mark.parametrize("writer", WRITERS)
def test_numbers_that_fit_are_written(writer):
    for dtype, value, expected in TAKEN:
        made = WRITERS[writer](rl.zeros(2, dtype=dtype), value)
        assert made.dtype is dtype and made.tolist() == [expected, expected], (dtype, value)


def test_arithmetic_wraps_around():
    assert (rl.tensor([1], dtype=rl.int8) + 300).tolist() == [45]


WRITES_INTO_NOTHING = {
    "index_fill": lambda x, i: x.index_fill(0, i, 1.0),
    "index_fill_": lambda x, i: x.index_fill_(0, i, 1.0),
    "index_add": lambda x, i: x.index_add(0, i, rl.ones(1)),
    "index_copy": lambda x, i: x.index_copy(0, i, rl.ones(1)),
    "scatter": lambda x, i: x.scatter(0, i, 2.0),
    "scatter_": lambda x, i: x.scatter_(0, i, rl.ones(1)),
    "scatter_add": lambda x, i: x.scatter_add(0, i, rl.ones(1)),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i, rl.ones(1), "mean"),
    "put_": lambda x, i: x.put_(i, rl.ones(1)),
    "x[index]": lambda x, i: assigned(x, i, 1.0),
    "index_put_": lambda x, i: x.index_put_((i,), rl.ones(1)),
}


@pytest.mark.parametrize("name", WRITES_INTO_NOTHING)
def test_no_index_names_a_place_in_an_empty_dim(name):
    with pytest.raises(IndexError) as caught:
        WRITES_INTO_NOTHING[name](rl.zeros(0), rl.tensor([0]))
    assert name == "put_" or isinstance(caught.value, RuntimeError)  # PyTorch raises now one, now the other
    if name in ("index_fill", "index_fill_", "x[index]"):
        made = WRITES_INTO_NOTHING[name](rl.zeros(0, 3), rl.zeros(0, dtype=rl.int64))
        assert made.shape == (0, 3)


@pytest.mark.parametrize(
    "expression",
    [
        "x < x",
        "x >= 2",
        "x.signbit()",
        "rl.bucketize(x, rl.ones(1))",
        "x.scatter_reduce(0, i, x, 'amax')",
        "x.index_reduce(0, i, x, 'amin')",
    ],
)
def test_complex_numbers_have_no_order(expression):
    with pytest.raises(NotImplementedError):
        eval(expression, {"x": rl.tensor([1j]), "i": rl.tensor([0]), "rl": rl})


def test_steps_that_become_zero():
    with pytest.raises(ValueError, match="step must be nonzero"):
        rl.arange(0, 64, 0.5, out=rl.empty(0, dtype=rl.int64))


def test_index_copy_counts_its_indices():
    with pytest.raises(IndexError, match="Number of indices"):
        rl.zeros(3).index_copy(0, rl.tensor([0]), rl.ones(2))


def test_python_takes_complex_numbers_without_imaginary_part():
    assert int(rl.tensor(3 + 0j)) == 3 and float(rl.tensor([2.5 + 0j])) == 2.5 and complex(rl.tensor(1j)) == 1j
    for kind in (int, float):
        with pytest.raises(RuntimeError, match="without overflow"):
            kind(rl.tensor(1j))


def test_only_whole_numbers_and_bools_are_inverted():
    assert (~rl.tensor([1, -3])).tolist() == [-2, 2] and (~rl.tensor([True])).tolist() == [False]
    for x in (rl.ones(1), rl.tensor([1j])):
        with pytest.raises(TypeError, match="invert"):
            ~x


@pytest.mark.parametrize("draw", ["random_()", "random_(5)", "bernoulli_(0.5)", "geometric_(0.5)", "cauchy_()"])
def test_complex_numbers_are_not_drawn_from_an_order(draw):
    with pytest.raises(NotImplementedError, match="complex"):
        eval(f"rl.zeros(2, dtype=rl.complex64).{draw}", {"rl": rl})
    with pytest.raises(NotImplementedError):
        rl.zeros(2, dtype=rl.bool).geometric_(0.5)


def test_tensors_without_dims():
    x = rl.tensor(-2.0)
    assert rl.prelu(x, rl.tensor([0.5])).shape == () and rl.prelu(x, rl.tensor([0.5])).item() == -1
    with pytest.raises(RuntimeError, match="0 dims"):
        x.unflatten(-1, (1, -1))
    assert rl.ones(2, 3).diagonal(2**70).shape == rl.ones(2, 3).diagonal(-(2**62)).shape == (0,)


MISFITS = [  # an expression and what its message says: sizes are numbers, not symbols of a trace
    (
        "rl.ones(2, 3) + rl.ones(2, 4)",
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dim",
    ),
    ("rl.ones(2, 2).copy_(rl.ones(3))", "The expanded size of the tensor (2) must match the existing size (3) at"),
    ("rl.ones(2, 3).T.view(6)", "view size is not compatible with input tensor's size and stride"),
    ("rl.ones(3, 3).gather(1, rl.zeros(4, 2).long())", "Size does not match at dimension 0 expected index [4, 2]"),
    (
        "F.scaled_dot_product_attention(*map(rl.ones, [(1, 2, 4), (1, 3, 5), (1, 3, 5)]))",
        "query [1, 2, 4] and key [1, 3, 5]",
    ),
    ("rl.ones(2, 3) * 1j > 0", "complex64[2, 3]"),
    ("F.conv1d(rl.ones(9), rl.ones(3))", "(out, in / groups, kernel)"),
]


@pytest.mark.parametrize("expression, message", MISFITS)
def test_messages_show_sizes_as_numbers(expression, message):
    with pytest.raises((RuntimeError, NotImplementedError)) as caught:
        eval(expression, {"rl": rl, "F": rl.nn.functional})
    assert message in str(caught.value) and "=" not in str(caught.value)
