"""From samples to batches."""

import collections

import pytest

import rushlight
from rushlight.data import default_collate, default_convert

Point = collections.namedtuple("Point", ("x", "y"))


def test_tensors_and_numbers():
    assert default_collate([rushlight.ones(2), rushlight.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    for values, dtype in (([1, 2], "int64"), ([1.5, 2.0], "float64"), ([True, False], "bool")):
        batch = default_collate(values)
        assert batch.tolist() == values and batch.dtype is getattr(rushlight, dtype)
    assert default_collate(["a", "b"]) == ["a", "b"]


def test_structures():
    one = {"a": 1, "b": (2.0, "x"), "p": Point(1, [2, 3])}
    two = {"a": 4, "b": (5.0, "y"), "p": Point(6, [7, 8])}
    batch = default_collate([one, two])
    assert batch["a"].tolist() == [1, 4] and batch["b"][0].tolist() == [2.0, 5.0] and batch["b"][1] == ("x", "y")
    assert isinstance(batch["p"], Point) and batch["p"].x.tolist() == [1, 6]
    assert [column.tolist() for column in batch["p"].y] == [[2, 7], [3, 8]]


def test_kinds_of_mappings():
    batch = default_collate([collections.OrderedDict(a=1), collections.OrderedDict(a=2)])
    assert type(batch) is collections.OrderedDict and batch["a"].tolist() == [1, 2]


def test_what_does_not_fit():
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([[1, 2], [1]])
    with pytest.raises(RuntimeError):
        default_collate([rushlight.ones(2), rushlight.ones(3)])
    with pytest.raises(TypeError, match="found <class 'object'>"):
        default_collate([object()])


def test_numpy():
    numpy = pytest.importorskip("numpy")
    batch = default_collate([numpy.ones((2, 3), "float32"), numpy.zeros((2, 3), "float32")])
    assert batch.shape == (2, 2, 3) and batch.dtype is rushlight.float32
    assert default_collate([numpy.float32(1.5), numpy.float32(2.5)]).tolist() == [1.5, 2.5]
    assert default_collate([numpy.int16(1)]).dtype is rushlight.int16
    with pytest.raises(TypeError):
        default_collate([numpy.array(["text"])])
    converted = default_convert({"a": numpy.ones(2), "b": [numpy.zeros(1), "text"], "p": Point(numpy.ones(1), 2)})
    assert converted["a"].tolist() == [1.0, 1.0] and converted["b"][0].tolist() == [0.0] and converted["b"][1] == "text"
    assert isinstance(converted["p"], Point) and converted["p"].x.tolist() == [1.0]
