"""Surprises that users of PyTorch know, each with the behaviour we promise: the same as there."""

import math

import pytest

import rushlight as rl

INF, NAN = math.inf, math.nan


def same(found, expected):
    """Equal values and dtype; NaN equals NaN."""
    expected = rl.tensor(expected) if not isinstance(expected, rl.Tensor) else expected
    assert found.dtype is expected.dtype and repr(found.tolist()) == repr(expected.tolist())


# -- numbers and types ------------------------------------------------------------------------------
def test_division_of_integers():
    a, b = rl.tensor([7, -7]), rl.tensor([2, 2])
    same(a / b, [3.5, -3.5])
    same(a // b, [3, -4])  # floors, as Python does
    same(rl.div(a, b, rounding_mode="trunc"), [3, -3])
    same(a % b, [1, 1])  # the divisor's sign
    same(rl.fmod(a, b), [1, -1])  # the dividend's sign
    with pytest.raises(RuntimeError, match="can't be cast"):
        a /= b
    with pytest.raises(RuntimeError):
        a // rl.tensor([0, 1])


def test_float_division_by_zero_is_no_error():
    same(rl.tensor([1.0, -1.0, 0.0]) / 0, [INF, -INF, NAN])
    same(rl.tensor([1.0, -1.0]) // 0, [INF, -INF])


def test_integers_wrap_around():
    same(rl.tensor([127], dtype=rl.int8) + rl.tensor([1], dtype=rl.int8), rl.tensor([-128], dtype=rl.int8))
    same(rl.tensor([0], dtype=rl.uint8) - 1, rl.tensor([255], dtype=rl.uint8))
    same(rl.tensor([2**63 - 1]) + 1, [-(2**63)])
    same(-rl.tensor([-(2**63)]), [-(2**63)])
    same(rl.tensor([-(2**63)]).abs(), [-(2**63)])
    same(rl.tensor([-(2**63)]) // -1, [-(2**63)])  # the one quotient that does not fit: no crash


def test_default_dtype():
    assert rl.tensor(1.0).dtype is rl.float32 and rl.tensor(1).dtype is rl.int64 and rl.tensor(True).dtype is rl.bool
    assert rl.tensor([]).dtype is rl.float32 and rl.tensor([1, 2.0]).dtype is rl.float32
    assert rl.arange(3).dtype is rl.int64 and rl.arange(3.0).dtype is rl.float32
    rl.set_default_dtype(rl.float64)
    assert rl.tensor(1.0).dtype is rl.float64 and (rl.tensor(1) / 2).dtype is rl.float64
    with pytest.raises(TypeError):
        rl.set_default_dtype(rl.int64)


def test_zero_dim_tensors_promote_like_numbers():
    x = rl.ones(2, dtype=rl.float16)
    assert (x + rl.tensor(1.0, dtype=rl.float64)).dtype is rl.float16
    assert (x + rl.ones(1, dtype=rl.float64)).dtype is rl.float64
    assert (rl.ones(2, dtype=rl.int32) + rl.tensor(1)).dtype is rl.int32
    assert (rl.ones(2, dtype=rl.int64) + rl.tensor(1.0, dtype=rl.float16)).dtype is rl.float16
    assert (rl.ones(2, dtype=rl.uint8) * 1000).dtype is rl.uint8
    assert (rl.ones(2, dtype=rl.int64) * 1.5).dtype is rl.float32
    assert (rl.ones(2, dtype=rl.bool) + 1).dtype is rl.int64


def test_sums_of_small_types_are_wide():
    same(rl.tensor([True, True, False]).sum(), 2)
    assert rl.ones(300, dtype=rl.uint8).sum().item() == 300 and rl.ones(2, dtype=rl.int8).prod().dtype is rl.int64
    assert rl.ones(2, dtype=rl.int8).cumsum(0).dtype is rl.int64
    with pytest.raises(RuntimeError, match="dtype"):
        rl.ones(2, dtype=rl.int64).mean()


def test_bools_have_no_minus():
    a = rl.tensor([True, False])
    with pytest.raises(RuntimeError, match="not supported"):
        a - a
    with pytest.raises(RuntimeError):
        -a
    same(a + a, [True, False])
    same(~a, [False, True])
    same(~rl.tensor([1, 0]), [-2, -1])  # bits, not logic


def test_rounding_is_half_to_even():
    same(rl.tensor([0.5, 1.5, 2.5, -0.5]).round(), [0.0, 2.0, 2.0, -0.0])


def test_casts():
    same(rl.tensor([2.9, -2.9]).long(), [2, -2])
    same(rl.tensor([0.0, 0.5, NAN]).bool(), [False, True, True])
    same(rl.tensor([3.7, -1.0]).to(rl.int8), rl.tensor([3, -1], dtype=rl.int8))
    same(rl.tensor([1 + 2j]).real, [1.0])


def test_powers():
    same(rl.tensor([2, 3]) ** 2, [4, 9])
    same(rl.tensor([2, 1, -1]) ** rl.tensor(-1), [0, 1, -1])
    for base in (rl.tensor([2, 1, -1]), rl.tensor([], dtype=rl.int8), rl.tensor(True)):
        with pytest.raises(RuntimeError, match="Integers to negative integer powers"):
            base**-1  # refused as a number, though not as a tensor
    same(rl.tensor([2.0, 0.0]) ** -1, [0.5, INF])
    same(rl.tensor([-8.0]) ** (1 / 3), [NAN])
    same(rl.tensor(0.0) ** 0, 1.0)


# -- NaN ------------------------------------------------------------------------------------------------
def test_nan_wins():
    x = rl.tensor([1.0, NAN, 3.0])
    same(x.max(), NAN)
    assert x.argmax().item() == 1 and x.argmin().item() == 1
    assert x.max(0).indices.item() == 1 and math.isnan(x.min(0).values.item())
    same(rl.maximum(x, rl.zeros(3)), [1.0, NAN, 3.0])
    same(rl.fmax(x, rl.zeros(3)), [1.0, 0.0, 3.0])
    same(x.clamp(min=2), [2.0, NAN, 3.0])
    same(x.relu(), [1.0, NAN, 3.0])
    same(x.sort().values, [1.0, 3.0, NAN])
    assert not bool((x == x).all())


def test_extremes_of_nothing_are_errors():
    empty = rl.empty(0)
    for reduce in (empty.max, empty.min, empty.argmax, lambda: rl.empty(0, 2).max(0), lambda: empty.amax(0)):
        with pytest.raises((RuntimeError, IndexError)):
            reduce()
    same(empty.sum(), 0.0)
    same(empty.prod(), 1.0)
    same(empty.mean(), NAN)
    assert empty.all().item() is True and empty.any().item() is False


def test_ties_share_the_gradient_of_amax_and_one_place_gets_that_of_max_along_a_dim():
    x = rl.tensor([2.0, 2.0, 1.0], requires_grad=True)
    assert rl.autograd.grad(x.amax(0), x)[0].tolist() == [0.5, 0.5, 0.0]
    assert rl.autograd.grad(x.max(), x)[0].tolist() == [0.5, 0.5, 0.0]
    assert rl.autograd.grad(x.max(0).values, x)[0].tolist() == [1.0, 0.0, 0.0]


def test_zero_times_an_infinite_slope():
    x = rl.tensor([0.0, 4.0], requires_grad=True)
    y = rl.where(x > 0, x.sqrt(), 0.0)
    same(rl.autograd.grad(y.sum(), x)[0], [NAN, 0.25])  # mask the input, not the output


# -- views and in-place ---------------------------------------------------------------------------------
def test_views_and_copies():
    x = rl.zeros(2, 3)
    x.t()[0].fill_(1)
    same(x[:, 0], [1.0, 1.0])
    x[rl.tensor([0])].fill_(5)  # indexing by a tensor copies
    assert x[0, 0].item() == 1
    x[rl.tensor([0])] += 5  # but assignment writes back
    assert x[0, 0].item() == 6
    assert x.reshape(-1).data_ptr() == x.data_ptr() != x.t().reshape(-1).data_ptr()
    assert x.contiguous() is x and x.to(rl.float32) is x and x.clone() is not x
    with pytest.raises(RuntimeError, match="view"):
        x.t().view(-1)


def test_a_conversion_that_changes_nothing_leaves_a_leaf_a_leaf():
    x = rl.ones(2, requires_grad=True)
    assert x.to(rl.float32) is x and x.float() is x and x.is_leaf and x.grad_fn is None


def test_in_place_does_not_grow_its_target():
    x = rl.ones(3)
    with pytest.raises(RuntimeError, match="shape"):
        x += rl.ones(2, 3)
    x += rl.ones(1)
    same(x, [2.0, 2.0, 2.0])
    with pytest.raises(RuntimeError, match="can't be cast"):
        rl.ones(2, dtype=rl.int64).add_(0.5)
    same(rl.ones(2, dtype=rl.float16).add_(rl.ones(2, dtype=rl.float64)), rl.tensor([2.0, 2.0], dtype=rl.float16))


def test_expanded_tensors_cannot_be_written():
    x = rl.zeros(1).expand(3)
    for write in (lambda: x.add_(1), lambda: x.mul_(1), lambda: x.copy_(rl.ones(3)), lambda: rl.add(x, 1, out=x)):
        with pytest.raises(RuntimeError, match="single memory location"):
            write()
    x[0] = 1.0  # one element is no conflict
    same(x, [1.0, 1.0, 1.0])
    same(x.fill_(2), [2.0, 2.0, 2.0])  # nor is one value for all
    same(x.zero_(), [0.0, 0.0, 0.0])


def test_overlapping_operands_of_in_place_calls_are_refused():
    x = rl.arange(5.0)
    with pytest.raises(RuntimeError, match="memory location"):
        x[1:].add_(x[:-1])
    same(x.add_(x), [0.0, 2.0, 4.0, 6.0, 8.0])  # the very same memory is fine
    with pytest.raises(RuntimeError, match="memory location"):
        x[:4].view(2, 2).mul_(x[:4].view(2, 2).t())


def test_a_write_seen_through_numpy():
    np = pytest.importorskip("numpy")
    array = np.zeros(3, "float32")
    x = rl.from_numpy(array)
    x[0] = 1
    array[1] = 2
    same(x, [1.0, 2.0, 0.0])
    assert array[0] == 1 and rl.tensor(array).data_ptr() != x.data_ptr()
    assert rl.as_tensor(array).data_ptr() == x.data_ptr()
    with pytest.raises(ValueError, match="negative"):
        rl.from_numpy(array[::-1])
    with pytest.raises(TypeError):
        rl.from_numpy(np.array(["a"]))


def test_steps_are_positive():
    x = rl.arange(4)
    with pytest.raises(ValueError, match="greater than zero"):
        x[::-1]
    with pytest.raises(RuntimeError, match="[Nn]egative"):
        x.as_strided((2,), (-1,), 2)
    same(x.flip(0), [3, 2, 1, 0])


def test_a_saved_value_that_is_overwritten():
    x = rl.ones(2, requires_grad=True)
    y = x * 2
    z = y.sigmoid()
    z.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    y = x * 2
    z = y + 1
    y.mul_(3)  # addition keeps nothing
    z.sum().backward()
    same(x.grad, [2.0, 2.0])


def test_detached_and_data_writes():
    x = rl.ones(2, requires_grad=True)
    y = x.exp()
    y.detach().zero_()  # shares the version counter: found
    with pytest.raises(RuntimeError, match="modified"):
        y.sum().backward()
    y = x.exp()
    y.data.zero_()  # does not: silently wrong, as there
    y.sum().backward()
    same(x.grad, [0.0, 0.0])


def test_in_place_on_leaves_and_unbound_views():
    x = rl.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        x += 1
    with pytest.raises(RuntimeError, match="leaf"):
        x[0] = 1.0
    with rl.no_grad():
        x += 1
    assert x.is_leaf and x.tolist() == [2, 2]


# -- gradients --------------------------------------------------------------------------------------------
def test_gradients_accumulate_and_graphs_are_freed():
    x = rl.ones(1, requires_grad=True)
    y = x * x
    y.backward()
    (x * x).backward()
    assert x.grad.item() == 4
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_only_floats_require_gradients():
    with pytest.raises(RuntimeError, match="floating point"):
        rl.ones(1, dtype=rl.int64).requires_grad_()
    with pytest.raises(RuntimeError, match="floating point"):
        rl.tensor([1], requires_grad=True)


def test_intermediate_gradients_are_not_kept():
    x = rl.ones(1, requires_grad=True)
    y = x * 2
    y.sum().backward()
    with pytest.warns(UserWarning, match="not a leaf"):
        assert y.grad is None and x.grad.item() == 2


def test_numpy_of_a_tensor_that_requires_grad():
    pytest.importorskip("numpy")
    with pytest.raises(RuntimeError, match="detach"):
        rl.ones(1, requires_grad=True).numpy()


# -- shapes and indices -----------------------------------------------------------------------------------
def test_broadcasting():
    assert tuple((rl.ones(3, 1) + rl.ones(3)).shape) == (3, 3)  # the column that meets a row
    with pytest.raises(RuntimeError, match="must match|broadcast"):
        rl.ones(3) + rl.ones(4)
    assert tuple((rl.ones(0, 3) + rl.ones(1, 3)).shape) == (0, 3)


def test_truth_of_tensors():
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(rl.ones(2))
    with pytest.raises(RuntimeError):
        bool(rl.ones(0))
    assert bool(rl.ones(1, 1)) and not bool(rl.zeros(()))


def test_numbers_of_tensors():
    with pytest.raises(RuntimeError, match="cannot be converted"):
        rl.ones(2).item()
    with pytest.raises(TypeError):
        [1, 2][rl.tensor(1.0)]
    assert [1, 2][rl.tensor(1)] == 2 and float(rl.ones(1, 1)) == 1.0 and int(rl.tensor(2.9)) == 2
    with pytest.raises(TypeError, match="0-d"):
        len(rl.tensor(1))
    with pytest.raises(TypeError, match="0-d"):
        iter(rl.tensor(1))


def test_indices_out_of_range():
    x = rl.ones(3, 4)
    for index in (3, -4, (0, 4), (0, 0, 0), rl.tensor([3]), rl.tensor([-4])):
        with pytest.raises(IndexError):
            x[index]
    with pytest.raises((IndexError, RuntimeError)):
        x.gather(0, rl.tensor([[3]]))
    with pytest.raises(IndexError):
        x.sum(2)
    assert tuple(x[5:].shape) == (0, 4)  # slices are clipped


def test_squeeze_of_a_batch_of_one():
    assert tuple(rl.ones(1, 3, 1).squeeze().shape) == (3,)  # the batch is gone, too
    assert tuple(rl.ones(2, 3).squeeze(0).shape) == (2, 3)


def test_matmul_of_wrong_shapes():
    with pytest.raises(RuntimeError, match="mat1 and mat2|shapes"):
        rl.ones(2, 3) @ rl.ones(2, 3)
    with pytest.raises(RuntimeError, match="dtype|type"):
        rl.ones(2, 3) @ rl.ones(3, 2, dtype=rl.float64)
    same(rl.ones(2, 0) @ rl.ones(0, 2), [[0.0, 0.0], [0.0, 0.0]])


def test_impossible_sizes():
    for make in (
        lambda: rl.empty(1 << 62),
        lambda: rl.zeros(1 << 40, 1 << 40),
        lambda: rl.ones(1).expand(1 << 50).clone(),
        lambda: rl.empty(-1),
        lambda: rl.ones(2, 3).reshape(4),
        lambda: rl.ones(2).repeat(1 << 60, 1 << 10),
        lambda: rl.arange(1 << 61),
    ):
        with pytest.raises(RuntimeError):
            make()


# -- comparison and identity --------------------------------------------------------------------------------
def test_equality_is_element_by_element():
    a, b = rl.tensor([1.0, 2.0]), rl.tensor([1.0, 3.0])
    same(a == b, [True, False])
    assert a in [a] and rl.equal(a, a.clone()) and not rl.equal(a, b)
    assert len({a, b, a}) == 2  # hashed by identity
    assert (a == None).item() is False if (a == None) is not False else True  # noqa: E711


def test_tensor_of_a_tensor_copies():
    x = rl.ones(2)
    assert rl.tensor([x[0], x[1]]).tolist() == [1, 1]
    with pytest.warns(UserWarning, match="clone"):
        assert rl.tensor(x).data_ptr() != x.data_ptr()
