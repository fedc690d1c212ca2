"""Sparse tensors in the graph: gradients to second order against dense ops, accumulation, in-place writes."""

import pytest

import rushlight as rl
from rushlight import sparse

PLACES = [[0, 1, 1, 3], [2, 0, 2, 1]]
REPEATED = [[1, 0, 1, 1], [1, 1, 1, 0]]
SHAPE = (4, 3)


def coo(values, places=PLACES):
    return rl.sparse_coo_tensor(places, values, SHAPE)


def csr(values):
    return rl.sparse_csr_tensor([0, 1, 3, 3, 4], [2, 0, 2, 1], values, SHAPE)


def dense(values, places=PLACES):
    return rl.zeros(*SHAPE, dtype=values.dtype).index_put(tuple(rl.tensor(places)), values, accumulate=True)


def held(values, places=PLACES):
    """Where there is an element."""
    return rl.zeros(*SHAPE, dtype=rl.bool).index_put(tuple(rl.tensor(places)), rl.ones(4, dtype=rl.bool))


V = rl.tensor([0.5, -1.5, 2.0, 1.0], dtype=rl.float64)
D = rl.arange(12, dtype=rl.float64).reshape(4, 3) / 7 - 0.6
M = rl.arange(6, dtype=rl.float64).reshape(3, 2) / 3 - 1
L = rl.arange(8, dtype=rl.float64).reshape(2, 4) / 5 - 0.7

# (of sparse tensors, the same of dense ones); both take the values and a dense tensor
PAIRS = {
    "to_dense": (lambda v, d: coo(v).to_dense() * d, lambda v, d: dense(v) * d, D),
    "repeated to_dense": (
        lambda v, d: coo(v, REPEATED).to_dense() ** 2 * d,
        lambda v, d: dense(v, REPEATED) ** 2 * d,
        D,
    ),
    "repeated sin": (lambda v, d: coo(v, REPEATED).sin().to_dense() * d, lambda v, d: dense(v, REPEATED).sin() * d, D),
    "coalesce": (
        lambda v, d: coo(v, REPEATED).coalesce().values() ** 3,
        lambda v, d: dense(v, REPEATED)[held(v, REPEATED)] ** 3,
        D,
    ),
    "square": (lambda v, d: (coo(v) ** 2).to_dense() * d, lambda v, d: dense(v) ** 2 * d, D),
    "add dense": (lambda v, d: (d + coo(v)) ** 2, lambda v, d: (d + dense(v)) ** 2, D),
    "sub": (lambda v, d: (d - coo(v) * 2) ** 2, lambda v, d: (d - dense(v) * 2) ** 2, D),
    "add": (
        lambda v, d: (coo(v) + coo(v * v, REPEATED)).to_dense() ** 2,
        lambda v, d: (dense(v) + dense(v * v, REPEATED)) ** 2,
        D,
    ),
    "mul dense": (lambda v, d: (coo(v) * d * d).to_dense() ** 2, lambda v, d: (dense(v) * d * d) ** 2, D),
    "mul row": (lambda v, d: (coo(v) * d[0]).to_dense() ** 2, lambda v, d: (dense(v) * d[0]) ** 2, D),
    "mul": (
        lambda v, d: (coo(v) * coo(v * v, REPEATED)).to_dense() ** 2,
        lambda v, d: (dense(v) * dense(v * v, REPEATED)) ** 2,
        D,
    ),
    "div": (lambda v, d: (coo(v) / 3).to_dense() ** 2, lambda v, d: (dense(v) / 3) ** 2, D),
    "mm": (lambda v, d: (coo(v) @ d) ** 2, lambda v, d: (dense(v) @ d) ** 2, M),
    "mm repeated": (lambda v, d: (coo(v, REPEATED) @ d) ** 2, lambda v, d: (dense(v, REPEATED) @ d) ** 2, M),
    "dense mm": (lambda v, d: (d @ coo(v)) ** 2, lambda v, d: (d @ dense(v)) ** 2, L),
    "mv": (lambda v, d: (coo(v) @ d[:, 0]) ** 2, lambda v, d: (dense(v) @ d[:, 0]) ** 2, M),
    "csr mm": (lambda v, d: (csr(v) @ d) ** 2, lambda v, d: (dense(v) @ d) ** 2, M),
    "csr dense mm": (lambda v, d: (d @ csr(v)) ** 2, lambda v, d: (d @ dense(v)) ** 2, L),
    "csc mm": (lambda v, d: (coo(v).to_sparse_csc() @ d) ** 2, lambda v, d: (dense(v) @ d) ** 2, M),
    "addmm": (
        lambda v, d: sparse.addmm(d[:1], coo(v), d, 0.5, 2) ** 2,
        lambda v, d: (d[:1] / 2 + 2 * (dense(v) @ d)) ** 2,
        M,
    ),
    "sparse mm": (
        lambda v, d: (coo(v) @ coo(v * 2, REPEATED).t()).to_dense() ** 2,
        lambda v, d: (dense(v) @ dense(v * 2, REPEATED).t()) ** 2,
        M,
    ),
    "csr csr mm": (
        lambda v, d: (csr(v).t() @ csr(v * v)).to_dense() ** 2,
        lambda v, d: (dense(v).t() @ dense(v * v)) ** 2,
        M,
    ),
    "mean mm": (
        lambda v, d: sparse.mm(csr(v), d, "mean") ** 2,
        lambda v, d: (dense(v) @ d / rl.tensor([1, 2, 1, 1.0]).unsqueeze(1)) ** 2,
        M,
    ),
    "sampled": (
        lambda v, d: sparse.sampled_addmm(csr(v), D, d.expand(3, 3)).values() ** 2,
        lambda v, d: ((dense(v) + D @ d.expand(3, 3))[held(v)]) ** 2,
        D[0],
    ),
    "sum": (lambda v, d: sparse.sum(coo(v) * d) ** 2, lambda v, d: (dense(v) * d).sum() ** 2, D),
    "sum rows": (
        lambda v, d: sparse.sum(coo(v, REPEATED) * d, 1).to_dense() ** 2,
        lambda v, d: (dense(v, REPEATED) * d).sum(1) ** 2,
        D,
    ),
    "softmax": (
        lambda v, d: sparse.softmax(coo(v), 1).to_dense() * d,
        lambda v, d: dense(v).masked_fill(~held(v), -1e300).softmax(1) * held(v) * d,
        D,
    ),
    "log_softmax": (
        lambda v, d: sparse.log_softmax(coo(v), 0).to_dense() * d,
        lambda v, d: rl.where(held(v), dense(v).masked_fill(~held(v), -1e300).log_softmax(0), 0.0) * d,
        D,
    ),
    "mask": (lambda v, d: (d * d).sparse_mask(coo(v)).to_dense() ** 2, lambda v, d: (d * d * held(v)) ** 2, D),
    "to_sparse": (lambda v, d: d.to_sparse().sin().to_dense() * 2, lambda v, d: d.sin() * 2, D),
    "to csr": (lambda v, d: (coo(v).to_sparse_csr() * d).to_dense() ** 2, lambda v, d: (dense(v) * d) ** 2, D),
    "transpose": (lambda v, d: coo(v).t().to_dense() ** 2, lambda v, d: dense(v).t() ** 2, D),
    "select": (lambda v, d: coo(v).select(1, 2).to_dense() ** 2, lambda v, d: dense(v).select(1, 2) ** 2, D),
    "index_select": (
        lambda v, d: coo(v).index_select(1, rl.tensor([2, 2, 0])).to_dense() ** 2,
        lambda v, d: dense(v)[:, [2, 2, 0]] ** 2,
        D,
    ),
    "narrow": (lambda v, d: coo(v)[1:3].to_dense() ** 2, lambda v, d: dense(v)[1:3] ** 2, D),
    "cat": (
        lambda v, d: rl.cat([coo(v), coo(v * v)], 1).to_dense() ** 2,
        lambda v, d: rl.cat([dense(v), dense(v * v)], 1) ** 2,
        D,
    ),
    "stack": (
        lambda v, d: rl.stack([coo(v), coo(v)]).to_dense() ** 2,
        lambda v, d: rl.stack([dense(v), dense(v)]) ** 2,
        D,
    ),
    "unsqueeze": (lambda v, d: coo(v).unsqueeze(1).to_dense() ** 2, lambda v, d: dense(v).unsqueeze(1) ** 2, D),
    "norm": (lambda v, d: coo(v).norm() ** 3, lambda v, d: dense(v)[held(v)].norm() ** 3, D),
    "hspmm": (lambda v, d: rl.hspmm(coo(v), d).to_dense() ** 2, lambda v, d: (dense(v) @ d) ** 2, M),
    "spdiags": (
        lambda v, d: sparse.spdiags(v[:3], rl.tensor([1]), (3, 3)).to_dense() ** 2,
        lambda v, d: rl.zeros(3, 3, dtype=v.dtype).index_put((rl.tensor([0, 1]), rl.tensor([1, 2])), v[1:3]) ** 2,
        D,
    ),
}


def derivatives(function, v, d):
    """The result, its gradients and the gradients of a function of these."""
    v, d = v.clone().requires_grad_(), d.clone().requires_grad_()
    result = function(v, d)
    weights = rl.linspace(0.5, 1.5, result.numel(), dtype=rl.float64).reshape(result.shape)
    first = rl.autograd.grad((result * weights).sum(), (v, d), create_graph=True, allow_unused=True)
    total = sum(((g * g * 0.5 + g).sum() for g in first if g is not None and g.requires_grad), start=v.sum() * 0)
    second = rl.autograd.grad(total, (v, d), allow_unused=True)
    return [None if x is None else x.detach() for x in (result, *first, *second)]


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_to_second_order(name):
    of_sparse, of_dense, d = PAIRS[name]
    for ours, theirs in zip(derivatives(of_sparse, V, d), derivatives(of_dense, V, d)):
        ours, theirs = (rl.zeros(1) if x is None else x.to_dense().double() for x in (ours, theirs))
        if not theirs.any() and not ours.any():
            continue
        rl.testing.assert_close(ours.reshape(-1).sort().values, theirs.reshape(-1).sort().values, rtol=1e-9, atol=1e-9)


def leaf(places=PLACES):
    return coo(V.clone(), places).requires_grad_()


def test_leaves_gradients_and_hooks():
    s, seen = leaf(), []
    s.register_hook(lambda g: seen.append(g.layout))
    (s.to_dense() * D).sum().backward()
    assert s.grad.layout is rl.sparse_coo and s.is_leaf and seen == [rl.sparse_coo]
    assert rl.equal(s.grad.to_dense(), D * held(V))
    (s.to_dense() * D).sum().backward()  # sparse + sparse
    assert rl.equal(s.grad.to_dense(), 2 * D * held(V)) and s.grad.is_sparse
    (s.to_dense(masked_grad=False) * D).sum().backward()  # sparse + dense
    assert s.grad.layout is rl.strided and rl.equal(s.grad, 2 * D * held(V) + D)
    s.grad = None
    t = s * 2
    t.retain_grad()
    t.sum().backward()
    assert t.grad.is_sparse and t.grad.to_dense().sum() == 4
    (g,) = rl.autograd.grad((s * s).sum(), s)
    assert rl.equal(g.to_dense(), 2 * s.detach().to_dense())


def test_cotangents_with_places_that_occur_twice():
    s = leaf(REPEATED)
    (s * 1).to_dense().backward(D)
    assert rl.equal(s.grad.to_dense(), D * held(V, REPEATED))
    v = V.clone().requires_grad_()
    coo(v, REPEATED).backward(coo(rl.ones(4, dtype=rl.float64), REPEATED))  # at (1, 1): 1 + 1, for each of its summands
    assert v.grad.tolist() == [2.0, 1.0, 2.0, 1.0]


def test_dense_leaves_take_sparse_gradients():
    table = rl.ones(4, 3, dtype=rl.float64, requires_grad=True)
    (table * 1).backward(coo(V))
    assert rl.equal(table.grad.to_dense(), dense(V))
    table.grad = coo(V)
    (table * D).sum().backward()
    assert table.grad.layout is rl.strided and rl.equal(table.grad, dense(V) + D)
    part = rl.ones(5, 3, dtype=rl.float64, requires_grad=True)
    part[1:].backward(coo(V))  # through a view: dense
    assert rl.equal(part.grad[1:], dense(V)) and not part.grad[0].any()


def test_in_place_writes_are_part_of_the_graph():
    s = leaf()
    t = s * 1
    t.mul_(2).add_(t)
    t.neg_()
    t.sum().backward()
    assert rl.equal(s.grad.to_dense(), held(V) * -4.0)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        s.mul_(2)
    d = D.clone().requires_grad_()
    v = V.clone().requires_grad_()
    e = d * 1
    e.add_(coo(v), alpha=2)
    (e * D).sum().backward()
    assert rl.equal(d.grad, D) and rl.equal(v.grad, 2 * D[tuple(rl.tensor(PLACES))])


def test_a_write_after_a_read_is_noticed():
    d = M.clone().requires_grad_() * 1
    result = csr(V.clone().requires_grad_()) @ d
    d.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_no_graph_without_recording():
    s = leaf()
    with rl.no_grad():
        assert not (s * 2).requires_grad and not (s @ M).requires_grad
    assert not s.detach().requires_grad and not (s.detach() * 2).requires_grad
    assert (s * 2).grad_fn.name() == "MulBackward0" and "grad_fn=<MulBackward0>" in repr(s * 2)


def test_forward_mode_follows_dense_factors_alone():
    forward = rl.autograd.forward_ad
    s, move = csr(V), rl.ones(3, 2, dtype=rl.float64)
    with forward.dual_level():
        x = forward.make_dual(M, move)
        for product in (s @ x, (x.t() @ s.t()).t(), coo(V) @ x):
            assert rl.equal(forward.unpack_dual(product).tangent, s @ move)
        assert forward.unpack_dual(s @ M).tangent is None
        for call in (lambda: x.to_sparse(), lambda: coo(x.reshape(-1)[:4]), lambda: coo(V) * x[:, 0]):
            with pytest.raises(NotImplementedError, match="forward mode"):
                call()


def test_comparison():
    s = coo(V)
    rl.testing.assert_close(s, s.coalesce())
    rl.testing.assert_close(csr(V), csr(V))
    rl.testing.assert_close(s, dense(V), check_layout=False)
    for other, message in (
        (s * 2, "Sparse COO values are not close"),
        (dense(V), "attribute 'layout'"),
        (coo(V, REPEATED), "number of specified values"),
        (s.to_sparse_csr(), "attribute 'layout'"),
    ):
        with pytest.raises(AssertionError, match=message):
            rl.testing.assert_close(s, other)
