"""segment_reduce: values as PyTorch documents them, what nothing reduces to, gradients, bad arguments."""

import math
from itertools import pairwise

import pytest

import rushlight as torch

DATA = [[1.0, -2.0], [3.0, 4.0], [-5.0, 6.0]]


@pytest.mark.parametrize(
    "kind, first, nothing, last",
    [
        ("sum", [4.0, 2.0], 0.0, [-5.0, 6.0]),
        ("mean", [2.0, 1.0], math.nan, [-5.0, 6.0]),
        ("max", [3.0, 4.0], -math.inf, [-5.0, 6.0]),
        ("min", [1.0, -2.0], math.inf, [-5.0, 6.0]),
        ("prod", [3.0, -8.0], 1.0, [-5.0, 6.0]),
    ],
)
def test_kinds(kind, first, nothing, last):
    want = torch.tensor([first, [nothing] * 2, last])
    for bounds in ({"lengths": torch.tensor([2, 0, 1])}, {"offsets": torch.tensor([0, 2, 2, 3], dtype=torch.int32)}):
        got = torch.segment_reduce(torch.tensor(DATA), kind, **bounds)
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


def test_initial():
    lengths = torch.tensor([2, 0, 1])

    def reduced(kind):
        return torch.segment_reduce(torch.tensor(DATA), kind, lengths=lengths, initial=2.0).tolist()

    assert reduced("sum") == [[6.0, 4.0], [2.0, 2.0], [-3.0, 8.0]]
    assert reduced("mean") == [[3.0, 2.0], [2.0, 2.0], [-3.0, 8.0]]
    assert reduced("max") == [[3.0, 4.0], [2.0, 2.0], [2.0, 6.0]]
    assert reduced("prod") == [[6.0, -16.0], [2.0, 2.0], [-10.0, 12.0]]


def test_batches_along_a_later_dim():
    x = torch.arange(10.0).reshape(2, 5)
    got = torch.segment_reduce(x, "sum", lengths=torch.tensor([[2, 3], [5, 0]]), axis=1)
    assert got.tolist() == [[1.0, 9.0], [35.0, 0.0]]
    for offsets in ([[0, 2, 4], [1, 1, 5]], [[0, 0, 0], [5, 5, 5]]):  # which leave out elements of a row
        got = torch.segment_reduce(x, "sum", offsets=torch.tensor(offsets), axis=1)
        assert got.tolist() == [[r[a:b].sum().item() for a, b in pairwise(o)] for r, o in zip(x, offsets)]
    with pytest.raises(IndexError, match="5 elements"):
        torch.segment_reduce(x, "sum", offsets=torch.tensor([[0, 6], [0, 5]]), axis=1)
    assert torch.segment_reduce(x[:0], "sum", lengths=torch.zeros(0, 2, dtype=torch.int64), axis=1).shape == (0, 2)


@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "prod"])
def test_gradients(kind):
    x = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([2, 3, 1])
    assert torch.autograd.gradcheck(lambda x: torch.segment_reduce(x, kind, lengths=lengths), (x,))
    assert torch.autograd.gradgradcheck(lambda x: torch.segment_reduce(x, kind, lengths=lengths), (x,))


def test_products_with_zeros_have_gradients():
    x = torch.tensor([0.0, 2.0, 3.0, 0.0, 0.0, 5.0], requires_grad=True)
    torch.segment_reduce(x, "prod", lengths=torch.tensor([3, 3])).sum().backward()
    assert x.grad.tolist() == [6.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_gradients_for_other_numbers_of_runs():
    """One run leaves a dimension of size 1, which is another structure for what is kept and read."""
    for lengths, want in (([2, 1], [4.0, 4.0, 4.0]), ([3], [6.0, 6.0, 6.0]), ([1, 1, 1], [2.0, 4.0, 6.0])):
        x = torch.ones(3, requires_grad=True)
        y = torch.segment_reduce(x, "sum", lengths=torch.tensor(lengths))
        (y * y * torch.tensor([1.0, 2.0, 3.0])[: len(lengths)]).sum().backward()
        assert x.grad.tolist() == want


@pytest.mark.parametrize(
    "error, message, arguments",
    [
        (RuntimeError, "Either lengths or offsets", {}),
        (RuntimeError, "sum to data.size", {"lengths": [2]}),
        (RuntimeError, "negative", {"lengths": [-1, 4]}),
        (RuntimeError, "int64 or int32", {"lengths": [3.0]}),
        (RuntimeError, "axis", {"lengths": [3], "axis": 1}),
        (RuntimeError, "not supported", {"lengths": [3], "indices": [0]}),
        (IndexError, "out of bounds", {"offsets": [0, 4]}),
        (RuntimeError, "non-decreasing, but 1 follows 2 at position 1", {"offsets": [2, 1, 3]}),
    ],
)
def test_bad_arguments(error, message, arguments):
    arguments = {k: torch.tensor(v) if isinstance(v, list) else v for k, v in arguments.items()}
    with pytest.raises(error, match=message):
        torch.segment_reduce(torch.tensor(DATA), "sum", **arguments)
    with pytest.raises(RuntimeError, match="reduction 'median'"):
        torch.segment_reduce(torch.tensor(DATA), "median", lengths=torch.tensor([3]))
    with pytest.raises(RuntimeError, match="floating"):
        torch.segment_reduce(torch.arange(3), "sum", lengths=torch.tensor([3]))


def test_bags_of_many_sizes_match_their_rows():
    table = torch.randn(20, 33)
    index, offsets = torch.randint(0, 20, (50,)), torch.tensor([0, 0, 7, 31])
    for mode, fold in (("sum", lambda r: r.sum(0)), ("mean", lambda r: r.mean(0)), ("max", lambda r: r.amax(0))):
        got = torch.nn.functional.embedding_bag(index, table, offsets, mode=mode)
        want = [fold(table[index[a:b]]) for a, b in ((0, 7), (7, 31), (31, 50))]
        torch.testing.assert_close(got, torch.stack([torch.zeros(33), *want]))
