"""`pad_sequence`: what lies where, in memory that can be viewed flat."""

import pytest

import rushlight as rl
from rushlight.nn.utils.rnn import pad_sequence

SEQUENCES = [rl.tensor([1, 2]), rl.tensor([3, 4, 5])]


@pytest.mark.parametrize("side, expected", [("right", [[1, 3], [2, 4], [9, 5]]), ("left", [[9, 3], [1, 4], [2, 5]])])
def test_padded(side, expected):
    by_time = pad_sequence(SEQUENCES, padding_value=9, padding_side=side)
    by_sequence = pad_sequence(SEQUENCES, batch_first=True, padding_value=9, padding_side=side)
    assert by_time.tolist() == expected and by_sequence.tolist() == rl.tensor(expected).T.tolist()
    assert by_time.is_contiguous() and by_sequence.is_contiguous()
    assert by_time[1:].view(-1).tolist() == [n for row in expected[1:] for n in row]


def test_gradients_reach_the_sequences():
    sequences = [rl.ones(2, 3, requires_grad=True), rl.ones(4, 3, requires_grad=True)]
    padded = pad_sequence(sequences)
    (padded * rl.arange(4.0)[:, None, None]).sum().backward()
    assert [s.grad[:, 0].tolist() for s in sequences] == [[0.0, 1.0], [0.0, 1.0, 2.0, 3.0]]
