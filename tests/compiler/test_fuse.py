"""Which nodes share a kernel: the patterns that matter are one kernel each, and no graph waits for itself."""

import pytest
from lower_functions import (
    adam,
    batch_norm,
    cross_entropy,
    gelu,
    group_norm,
    layer_norm,
    layer_norm_backward,
    log_sum_exp,
    softmax,
    softmax_backward,
    variance_mean,
)
from lower_harness import Case, random

from rushlight.ir import build as B
from rushlight.ops import recurrent


def kernels(build, *shapes, numbers=()):
    return Case(build, [random(s) for s in shapes], numbers, symbolic=True).kernels


def residual_norm(x, r, w, b):
    return x + r, layer_norm(x + r, w, b)[0]


ONE_KERNEL = {
    "gelu": (gelu, [(40, 50)]),
    "softmax": (softmax, [(40, 50)]),
    "softmax in the middle": (lambda x: softmax(x, 1), [(4, 50, 30)]),
    "softmax and its logarithm": (lambda x: (softmax(x), log_sum_exp(x)), [(40, 50)]),
    "softmax backward": (softmax_backward, [(40, 50), (40, 50)]),
    "log-sum-exp": (log_sum_exp, [(40, 50)]),
    "layer norm with its statistics": (layer_norm, [(40, 50), (50,), (50,)]),
    "variance and mean": (variance_mean, [(40, 50)]),
    "batch norm": (batch_norm, [(4, 6, 5, 7), (6,), (6,)]),
    "group norm": (group_norm, [(4, 8, 5, 7), (8,), (8,)]),
    "residual and layer norm": (residual_norm, [(40, 50), (40, 50), (50,), (50,)]),
    "two results": (lambda x, y: (x * y, B.exp(x) + y), [(40, 50), (40, 50)]),
    "permuted results": (lambda x: B.permute(B.exp(x), (1, 0)), [(40, 50)]),
    "joined views": (lambda x: B.reshape(B.permute(B.reshape(x, (4, 10, 50)), (1, 0, 2)), (40, 50)) + x, [(40, 50)]),
    "a recurrent step's backward": (recurrent.lstm_step_backward.declaration.body, [(4, 20)] * 2 + [(4, 5)] * 8),
    "sum of a product without the product": (lambda x, y: B.sum(x * y, (1,)), [(40, 50), (40, 50)]),
}


@pytest.mark.parametrize("name", ONE_KERNEL)
def test_one_kernel(name):
    build, shapes = ONE_KERNEL[name]
    assert len(kernels(build, *shapes)) == 1


def test_adam_is_one_kernel():
    assert len(kernels(adam, (50,), (50,), (50,), (50,), numbers=(0.1,))) == 1


def test_cross_entropy_is_rows_and_their_mean():
    import numpy as np

    assert len(Case(cross_entropy, [random((40, 50)), np.arange(40)], symbolic=True).kernels) == 2


def test_layer_norm_backward_shares_the_column_sums():
    names = kernels(layer_norm_backward, (40, 50), (40, 50), (40, 1), (40, 1), (50,))
    assert len(names) == 2


def test_expensive_values_are_computed_once():
    """exp of a row that all rows use is stored; cheap ones are computed again."""
    assert len(kernels(lambda x, r: x * B.exp(r), (40, 8), (8,))) == 2
    assert len(kernels(lambda x, r: x * (r + 1.0), (40, 8), (8,))) == 1


def test_cheap_values_are_computed_by_each_reader():
    def build(x):
        half = x * 0.5
        return B.sum(half, (0,)), B.sum(half, (1,))

    case = Case(build, [random((40, 50))])
    assert len(case.kernels) == 2 and not case.lowered.temps


def test_expensive_values_of_several_readers_are_stored_once():
    def build(x):
        e = B.exp(x)
        return B.sum(e, (0,)), B.sum(e, (1,))

    case = Case(build, [random((40, 50))])
    assert len(case.lowered.temps) == 1
    assert sum("exp" in name for name in case.kernels) == 1


def test_results_join_a_reader_unless_that_waits_for_them():
    """h is stored by the kernel of exp(h); but not by one that needs a product of h."""

    def joined(x):
        h = B.tanh(x)
        return h, B.exp(h)

    def waiting(x):
        h = B.tanh(x)
        return h, B.exp(h) + B.matmul(h, h)

    assert len(kernels(joined, (30, 30))) == 1
    names = kernels(waiting, (30, 30))
    assert names[0].startswith("map") and names[-1].startswith("map") and len(names) == 3


def test_nothing_is_launched_for_no_elements():
    assert kernels(lambda x: B.exp(x), (0, 4)) == []


def test_order_follows_what_is_read():
    def build(a, b):
        c = B.matmul(B.tanh(a), b)
        return B.matmul(c, B.exp(c)), B.sum(c, (0,))

    names = kernels(build, (20, 20), (20, 20))
    assert names[0] == "map_tanh" and names[2] == "row_sum_exp" and len(names) == 4


def test_an_operand_that_is_no_view_of_memory_is_computed_into_its_copy():
    def rows_of_columns(x, v):
        y = B.permute(B.exp(x), (0, 2, 1))
        return B.dot(B.reshape(y, (y.shape[0] * y.shape[1], y.shape[2])), v)

    Case(rows_of_columns, [random((2, 6, 5)), random((6, 3))], symbolic=True).check()


def edges(x, d):
    """Two columns (or rows) before and one after, as when the other end is repeated."""
    before = [0] * x.ndim, [2 if k == d else n for k, n in enumerate(x.shape)]
    after = [3 if k == d else 0 for k in range(x.ndim)], [1 if k == d else n for k, n in enumerate(x.shape)]
    return B.concat([B.flip(B.slice(x, *before), (d,)), x, B.slice(x, *after)], d)


def test_pieces_of_pieces_are_written_right_where_they_end_up():
    case = Case(lambda x: edges(edges(B.exp(x), 0), 1), [random((6, 7))])
    assert case.lowered.temps == [] or all(size == 0 for size in case.lowered.temps[1:])
    case.check()
    used_elsewhere = Case(lambda x: (edges(edges(x, 0), 1), B.sum(edges(x, 0), (1,))), [random((6, 7))], symbolic=True)
    used_elsewhere.check()
    Case(
        lambda x, y: B.pad(B.concat([x, B.concat([y, x], 0)], 0), (1, 0), (0, 2)), [random((3, 4)), random((2, 4))]
    ).check()
    Case(lambda x: B.concat([B.concat([x, x], 0)] * 2, 1), [random((3, 4))]).check()


def test_loops_that_are_as_long_by_chance_are_not_joined():
    """Squared distances of rows: the sums over columns are no part of a loop over as many rows of the other operand."""

    def build(x, y):
        a, b = B.sum(x * x, (1,), True), B.sum(y * y, (1,), True)
        return a + B.permute(b, (1, 0)) - 2.0 * B.matmul(x, B.permute(y, (1, 0)))

    assert kernels(build, (40, 40), (40, 40)) == kernels(build, (40, 30), (40, 30))
    Case(build, [random((40, 40)), random((40, 40))[::-1] + 1], symbolic=True).check(tolerance=1e-4)
