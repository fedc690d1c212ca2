"""`cat` and `stack` of many tensors: no kernels for each number of them, and the same answers."""

import pytest

import rushlight as rl
from rushlight.ops import joining


def parts(count, shape=(2, 3), grad=False, dtype=rl.float32):
    made = [rl.arange(6.0).reshape(shape).to(dtype) + 10 * i for i in range(count)]
    return [x.requires_grad_() for x in made] if grad else made


COUNTS = [joining.FEW, joining.FEW + 1, joining.MANY, joining.MANY + 5]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dim", [0, 1, -1, -2])
def test_values(count, dim):
    tensors = parts(count)
    stacked = rl.stack(tensors, dim)
    assert all(rl.equal(a, b) for a, b in zip(stacked.unbind(dim), tensors))
    joined = rl.cat(tensors, dim=dim)
    assert all(rl.equal(a, b) for a, b in zip(joined.split(tensors[0].shape[dim], dim), tensors))
    assert stacked.is_contiguous() and joined.is_contiguous()


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("join", [rl.cat, rl.stack])
def test_gradients_to_second_order(count, join):
    tensors = parts(count, grad=True)
    joined = join(tensors)
    weights = rl.arange(float(joined.numel())).reshape(joined.shape)
    gx, _ = rl.autograd.grad((joined**3 * weights).sum(), (tensors[1], tensors[-1]), create_graph=True)
    assert rl.equal(gx, 3 * tensors[1] ** 2 * weights.reshape(count, 2, 3)[1])
    (gxx,) = rl.autograd.grad(gx.sum(), tensors[1])
    assert rl.equal(gxx, 6 * tensors[1] * weights.reshape(count, 2, 3)[1])
    (joined * weights).sum().backward()
    assert all(rl.equal(t.grad, w) for t, w in zip(tensors, weights.reshape(count, 2, 3)))


def test_a_new_number_of_tensors_compiles_nothing():
    known = [join.structures.keys() for join in (rl.stack, rl.cat)]
    before = [len(keys) for keys in known]
    for count in (21, 22, 150):
        for join in (rl.stack, rl.cat):
            join(parts(count), 1)
    assert [len(keys) for keys in known] == before


def test_unusual_members():
    tensors = parts(20)
    tensors[3] = tensors[3].T.contiguous().T  # not contiguous
    tensors[4] = tensors[4].double()
    assert rl.cat(tensors).dtype is rl.float64 and rl.equal(rl.cat(tensors)[6:8], tensors[3].double())
    tensors[5] = rl.zeros(1, 3, dtype=rl.float64)
    assert rl.cat(tensors).shape == (39, 3)
    with pytest.raises(RuntimeError, match="equal size"):
        rl.stack(tensors)
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        rl.cat(tensors, 1)
    assert rl.cat([rl.zeros(0), *parts(20)]).shape == (40, 3)
    with pytest.raises(TypeError, match="element 20"):
        rl.cat([*parts(20), None])
    with pytest.raises(IndexError, match="out of range"):
        rl.cat(parts(20), 2)
    with pytest.raises(RuntimeError, match="zero-dimensional"):
        rl.cat([rl.tensor(1.0)] * 20)
    conjugates = [x.conj() for x in parts(20, dtype=rl.complex64)]
    assert rl.equal(rl.stack(conjugates), rl.stack(conjugates[:4] + conjugates[4:]).resolve_conj())


def test_empty_members_and_large_ones():
    assert rl.stack([rl.zeros(0, 3)] * 20, 1).shape == (0, 20, 3) and rl.cat([rl.zeros(2, 0)] * 20).shape == (40, 0)
    large = [rl.full((200, 300), float(i)) for i in range(20)]
    assert rl.stack(large)[:, 7, 9].tolist() == [float(i) for i in range(20)]


def test_under_transformations():
    tensors, scale = parts(20), rl.tensor([1.0, 2.0])
    mapped = rl.vmap(lambda s: rl.stack([t * s for t in tensors]))(scale)
    assert rl.equal(mapped[1], 2 * rl.stack(tensors))
    _, tangent = rl.func.jvp(lambda x: rl.cat([x * i for i in range(20)]), (rl.ones(3),), (rl.ones(3),))
    assert tangent[-3:].tolist() == [19.0] * 3
