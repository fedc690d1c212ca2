"""The topk template: the first k of a stable sort."""

import numpy as np
import pytest
from template_harness import bind, call, rebind
from test_sort import numbers, order

import rushlight.compiler.topk as topk_template

RANDOM = np.random.default_rng(11)


def check(x, k, dim=-1, largest=True, **keywords):
    dim %= x.ndim
    shape = [*x.shape]
    shape[dim] = k
    shapes = [(shape, str(x.dtype)), (shape, "int64")]
    values, indices = call("topk", [x], shapes, {"k": k, "dim": dim, "largest": largest}, **keywords)
    expected = np.take(order(x, dim, largest), range(k), dim)
    np.testing.assert_array_equal(indices, expected)
    assert values.tobytes() == np.take_along_axis(x, expected, dim).tobytes()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float16", "float32", "int64", "float64"])
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize(("length", "k"), [(5, 5), (64, 3), (100, 1), (1000, 5), (1000, 32), (3000, 200), (300, 290)])
def test_rows(dtype, largest, length, k):
    check(numbers((3, length), dtype), k, largest=largest)


@pytest.mark.parametrize("k", [4, 100])
def test_every_element_is_better_than_the_last(k):
    x = np.arange(5000, dtype=np.float32)
    check(np.stack([x, -x]), k)
    check(np.stack([x, -x]), k, largest=False)


@pytest.mark.parametrize("largest", [False, True])
def test_special_numbers(largest):
    x = RANDOM.choice(np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1, 2], np.float32), (3, 2000))
    check(x, 9, largest=largest)
    check(np.full((1, 3000), np.nan), 50, largest=largest)


def test_strides():
    x = numbers((4, 2000, 6), "float32")
    check(x, 7, 1)
    check(x[:, ::-3, 1::2].transpose(2, 1, 0), 7, 1)


@pytest.mark.parametrize("k", [6, 60])
def test_long_rows_in_pieces(k, monkeypatch):
    monkeypatch.setattr(topk_template, "PIECE", 1024)
    for pieces in (1, 5):
        check(numbers((2, 10007), "float32"), k, pieces=pieces)
        check(numbers((1, 10007), "int64"), k, pieces=pieces)


def test_empty():
    (values, _) = call(
        "topk", [np.zeros((3, 5))], [((3, 0), "float64"), ((3, 0), "int64")], {"k": 0, "dim": 1, "largest": True}
    )
    assert values.shape == (3, 0)


@pytest.mark.parametrize(("before", "after"), [((3, 900, 5), (7, 1300, 9)), ((2, 9000, 70), (4, 7001, 90))])
def test_one_lowering_serves_other_sizes(before, after, monkeypatch):
    monkeypatch.setattr(topk_template, "PIECE", 1024)
    rows, length, k = before
    x = numbers((rows, length), "float32")
    shapes = [((rows, k), "float32"), ((rows, k), "int64")]
    bound = bind("topk", [x], shapes, {"k": k, "dim": 1, "largest": True})
    x = numbers(after[:2], "float32")
    again = rebind(bound, [x], dict(zip(before, after)))
    again.run(3)
    np.testing.assert_array_equal(again.outputs[1], order(x, 1, True)[:, : after[2]])
