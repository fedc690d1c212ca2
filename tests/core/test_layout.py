"""Layouts are interned: equal ones are one object, and plans are found by identity."""

import pickle

import pytest
from rushlight.core.engine import dense_order, layout_of

import rushlight as rl


def test_equal_layouts_are_one_object():
    assert layout_of((2, 3), None, rl.float32) is layout_of([2, 3], (3, 1), rl.float32)
    assert layout_of((2, 3), (1, 2), rl.float32) is rl.zeros(3, 2).t()._layout
    assert layout_of((2, 3), None, rl.float32) is not layout_of((2, 3), None, rl.float64)
    assert rl.zeros(4, 5)._layout is rl.ones(4, 5)._layout is (rl.zeros(4, 5) + 1)._layout
    layout = layout_of((2, 3), (1, 2), rl.int64)
    assert pickle.loads(pickle.dumps(layout)) is layout


FACTS = [  # shape, strides, contiguous, overlapping, order
    ((2, 3), (3, 1), True, False, (0, 1)),
    ((2, 3), (1, 2), False, False, (1, 0)),
    ((1, 3), (7, 1), True, False, (0, 1)),
    ((2, 3), (0, 1), False, True, None),
    ((2, 3), (6, 2), False, False, None),
    ((3, 3), (1, 1), False, True, None),
    ((0, 3), (5, 7), True, False, None),
    ((), (), True, False, ()),
    ((2, 3, 4), (12, 1, 3), False, False, (0, 2, 1)),
]


@pytest.mark.parametrize(("shape", "strides", "contiguous", "overlapping", "order"), FACTS)
def test_derived_facts(shape, strides, contiguous, overlapping, order):
    layout = layout_of(shape, strides, rl.float32)
    assert (layout.contiguous, layout.overlapping) == (contiguous, overlapping)
    if 0 not in shape:
        assert dense_order(layout) == order
    assert layout.ndim == len(shape) and layout.nbytes == 4 * layout.numel


def test_form_is_structure_and_values_fill_it():
    a, b = layout_of((4, 1, 5), None, rl.float32), layout_of((7, 1, 9), None, rl.float32)
    assert a.form == b.form and a.values == (4, 5) and b.values == (7, 9)
    assert a.form != layout_of((4, 2, 5), None, rl.float32).form  # 1 decides broadcasting
    assert a.form != layout_of((4, 0, 5), None, rl.float32).form  # 0 decides emptiness
    assert a.form != layout_of((4, 1, 5), None, rl.float64).form
    strided = layout_of((4, 5), (20, 2), rl.float32)
    assert strided.form == layout_of((2, 3), (9, 4), rl.float32).form and strided.values == (4, 5, 20, 2)


@pytest.mark.parametrize("wrong", [((-1,), None), ((2, 3), (1,)), ((1,) * 65, None), ((1 << 40, 1 << 40), None)])
def test_impossible_layouts_raise(wrong):
    with pytest.raises(RuntimeError):
        layout_of(*wrong, rl.float32)


def test_sixty_four_dims():
    x = rl.ones((1,) * 63 + (2,))
    assert (x + x).sum().item() == 4 and x.ndim == 64
    with pytest.raises(RuntimeError, match="64"):
        x[None]
