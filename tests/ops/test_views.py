"""Views of tensors: the geometry that sizes computed on the way have."""

import pytest

import rushlight


@pytest.mark.parametrize(
    "shape, target, expected",
    [
        ((1, 16, 5, 5), (-1, 400), (1, 400)),
        ((2, 3), (-1, 6), (1, 6)),
        ((2, 3), (-1, 2, 3), (1, 2, 3)),
        ((48,), (-1, 6, 8), (1, 6, 8)),
        ((2, 3, 8), (2, -1, 24), (2, 1, 24)),
    ],
)
def test_an_inferred_size_may_be_one(shape, target, expected):
    x = rushlight.arange(float(rushlight.zeros(shape).numel())).reshape(shape)
    shown = x.view(target)
    assert tuple(shown.shape) == expected
    assert shown.data_ptr() == x.data_ptr() and shown.flatten().tolist() == x.flatten().tolist()


def test_a_plan_for_other_rows_is_not_taken_for_one():
    for count in (12, 4, 8, 4):
        x = rushlight.arange(float(count)).requires_grad_()
        rows = x.view(-1, 4)
        assert tuple(rows.shape) == (count // 4, 4)
        (rows * rows).sum().backward()
        assert x.grad.tolist() == [2.0 * i for i in range(count)]


def test_unflatten_is_a_view_where_it_infers_one():
    x = rushlight.zeros(2, 1, 3)
    assert x.unflatten(0, (-1, 2)).data_ptr() == x.data_ptr()
    assert tuple(x.unfold(2, 3, 1).view(-1, 3).shape) == (2, 3)
