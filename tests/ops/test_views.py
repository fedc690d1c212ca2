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


def test_what_is_as_asked_for_comes_back_itself():
    x, y = rushlight.ones(3), rushlight.ones(2, 3)
    assert +x is x and rushlight.positive(x) is x
    assert x.flatten() is x and y.flatten(1, 1) is y
    assert y.sum_to_size(2, 3) is y
    assert rushlight.broadcast_tensors(x, y)[1] is y


def test_copies_of_views_need_no_strides_that_fit():
    x = rushlight.arange(6).reshape(2, 3).t()
    assert rushlight.view_copy(x, (2, 3)).tolist() == [[0, 3, 1], [4, 2, 5]]
    assert rushlight.view_copy(rushlight.ones(2), rushlight.int32).dtype is rushlight.int32


def test_a_hash_has_memory_of_its_own():
    x = rushlight.tensor([5])
    assert rushlight.hash_tensor(x).data_ptr() != x.data_ptr()


def test_a_tensor_of_that_shape_is_not_resized():
    x = rushlight.arange(6).reshape(2, 3).t()
    assert x.resize_(3, 2).stride() == (1, 3)
    assert rushlight.empty(3, 2, dtype=rushlight.int64, out=x).stride() == (1, 3)


def test_copies_of_views_compute_conjugates():
    x = rushlight.tensor([1 + 2j, 3 - 1j]).conj()
    assert rushlight.view_as_real_copy(x).tolist() == [[1, -2], [3, 1]]
    assert rushlight.view_as_complex_copy(rushlight.arange(4.0).reshape(2, 2).t()).tolist() == [2j, 1 + 3j]
    made = x.conj_physical()
    assert made.tolist() == [1 + 2j, 3 - 1j] and made.data_ptr() != x.data_ptr()


def test_counts_and_places_have_their_dtypes():
    count = rushlight.bincount(rushlight.tensor([0, 1, 1]), rushlight.tensor([1, 2, 3]).half())
    assert count.dtype is rushlight.float64
    assert rushlight.repeat_interleave(rushlight.tensor([2, 1], dtype=rushlight.int32)).dtype is rushlight.int32
    whole = rushlight.empty((), dtype=rushlight.int32)
    assert rushlight.sum(rushlight.zeros(0), 0, dtype=None, out=whole).item() == 0
