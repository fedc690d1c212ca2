"""Sparse tensors against PyTorch: what calls give, how results print, which errors they raise, gradients."""

import re
import warnings

import pytest

import rushlight

torch = pytest.importorskip("torch")


def names(module):
    """What the expressions may use: the same tensors in both modules.

    u is uncoalesced with a place that occurs twice, w uncoalesced without, c coalesced, h and g hybrid, r and k CSR, e
    empty, i of integers, z complex, b of bools.
    """
    T = module
    places, numbers = T.tensor([[0, 1, 1], [2, 0, 2]]), T.tensor([0.5, -1.25, 2.0])
    w = T.sparse_coo_tensor(places, numbers, (2, 3))
    return {
        "T": T,
        "F": T.nn.functional,
        "p": places,
        "n": numbers,
        "w": w,
        "c": w.coalesce(),
        "u": T.sparse_coo_tensor(T.tensor([[1, 0, 1], [1, 1, 1]]), numbers, (2, 3)),
        "h": T.sparse_coo_tensor(T.tensor([[0, 1, 1]]), T.arange(6.0).reshape(3, 2) - 2, (2, 2)),
        "g": T.sparse_coo_tensor(T.tensor([[1, 0]]), T.arange(12.0).reshape(2, 2, 3), (3, 2, 3)).coalesce(),
        "r": w.to_sparse_csr(),
        "k": T.sparse_csr_tensor([0, 2, 3], [0, 1, 1], [1.0, 2.0, 3.0], (2, 3)),
        "s": T.sparse_csr_tensor([0, 2, 2, 3], [0, 2, 1], [1.0, 2.0, 3.0], (3, 3), dtype=T.float64),
        "e": T.sparse_coo_tensor((2, 3)),
        "i": T.sparse_coo_tensor(places, T.tensor([3, -4, 5], dtype=T.int32), (2, 3)),
        "z": T.sparse_coo_tensor(places, T.tensor([1 + 2j, -1j, 3]), (2, 3)),
        "b": T.sparse_coo_tensor(places, T.tensor([True, False, True]), (2, 3)),
        "d": T.arange(6.0).reshape(2, 3) - 2,
        "big": (10**9, 10**9),
    }


def described(value):
    """A result without what may differ: the memory, the module's name, where lines break."""
    if isinstance(value, (tuple, list)):
        return [described(v) for v in value]
    if not hasattr(value, "layout"):
        return re.sub(r"(torch|rushlight)\.", "", repr(value))
    layout, shown = (
        str(value.layout).split(".")[1],
        re.sub(r"\s+", " ", re.sub(r"(torch|rushlight)\.", "", repr(value))),
    )
    facts = (layout, tuple(value.shape), str(value.dtype).split(".")[1], value.requires_grad)
    coalesced = value.is_coalesced() if layout == "sparse_coo" else None
    return facts, coalesced, re.sub(r", grad_fn=<.*>", "", shown)


def lines(text):
    return [line.strip() for line in text.replace(";", "\n").splitlines() if line.strip()]


def evaluated(module, expression):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(expression, names(module))


RESULTS = lines(
    """
    w; c; u; h; g; r; e; i; z; b; T.sparse_coo_tensor(p, n); T.sparse_coo_tensor([[0, 1], [1, 0]], [1, 2])
    c.to_sparse_csc(); T.sparse_coo_tensor(p, n, (2, 3), dtype=T.float64)
    T.sparse_coo_tensor(p, n, (2, 3), requires_grad=True); w.double(); T.sparse_coo_tensor((2, 3), dtype=T.int32)
    T.sparse_coo_tensor(T.zeros(0, 3, dtype=T.int64), n, ()).to_dense(); T.sparse_coo_tensor(p, n, big)
    T.sparse_coo_tensor(p, n, big).coalesce(); T.sparse_coo_tensor(p, n, big).numel()
    T.sparse_coo_tensor(p, n, big).t() * 2; T.sparse_coo_tensor(p, n, big) + T.sparse_coo_tensor(p, n, big)
    T.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0])
    T.sparse_csc_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2)).to_dense()
    T.sparse_compressed_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2), layout=T.sparse_csc)
    T.sparse_csr_tensor([0, 0], [], [], (1, 4)); T.eye(40, 50).to_sparse(); T.eye(1200).to_sparse()
    u.requires_grad_(); w.layout; r.layout; w.is_sparse; r.is_sparse; r.is_sparse_csr; u.coalesce(); h.coalesce()
    u.is_coalesced(); c.indices(); c.values(); u._indices(); u._values(); u._nnz(); r._nnz(); w.sparse_dim()
    h.sparse_dim(); h.dense_dim(); d.sparse_dim(); d.dense_dim(); r.crow_indices(); r.col_indices(); r.values()
    r.sparse_dim(); r.t(); c.to_sparse_csc().ccol_indices(); c.to_sparse_csc().row_indices(); w.stride()
    w.is_contiguous(); w.element_size(); len(w); u.to_dense(); h.to_dense(); g.to_dense(); r.to_dense(); e.to_dense()
    i.to_dense(); z.to_dense(); b.to_dense(); d.to_dense(); d.to_sparse(); d.to_sparse(1)
    d.to_sparse(layout=T.sparse_csr); d.to_sparse_csr(); d.to_sparse_csc(); r.to_sparse(); w.to_sparse()
    u.to_sparse_csr(); T.zeros(2, 0).to_sparse(); T.zeros(0, 2).to_sparse_csr(); d.int().to_sparse()
    (d > 0).to_sparse(); d.sparse_mask(w); d.sparse_mask(u); d.sparse_mask(r); c.sparse_mask(w); c.sparse_mask(u)
    T.arange(4.0).reshape(2, 2).sparse_mask(h); w + w; c + c; u + u; d + w; d - w; d.add(w, alpha=2)
    w.add(w, alpha=3); w.sub(c); c - c; c + c * 2; i + i; r + r; r + d; d + r; c + e; w * 2; 2 * w; w * d; d * w
    c * c; w * n; w * T.tensor(2.0); w * 2.5; i * 2; i * 2.5; r * 2; r * d; r * r; h * 2; (b * c).abs(); c * e; w / 2
    i / 2; w // 2; w.div(2, rounding_mode='floor'); w.div(T.tensor(4.0)); w.floor_divide(2); -w; -u; -r; +u; w.abs()
    u.abs(); u.sin(); u.asin(); w.sinh(); w.tan(); w.tanh(); w.atan(); w.asinh(); w.expm1(); u.sign(); u.sgn()
    z.abs(); z.abs(); w.floor(); (w / 3).ceil(); (w / 3).round(); (w / 3).trunc(); (w / 3).frac(); w.erf(); w.relu()
    u.relu(); w.deg2rad(); w.rad2deg(); w.isnan(); w.isinf(); w.isposinf(); w.isneginf(); w.signbit(); w.nan_to_num()
    w.abs().sqrt(); w.abs().log1p(); r.sin(); r.neg(); u.neg(); w ** 2; u ** 2; w ** -1; w.pow(3); w.conj(); z.conj()
    T.real(w); r.abs(); i.abs(); i.sin(); w.t(); c.t(); w.transpose(0, 1); g.permute(0, 2, 1); w.T; w.mT; w.H
    w.swapaxes(0, 1); c.unsqueeze(0).to_dense(); w.unsqueeze(-1); h.unsqueeze(1).to_dense(); w.select(0, 1)
    c.select(1, 2).to_dense(); h.select(0, 1); h.select(1, 0); w[0]; w[0, 2]; w[:, 1]; w[None]; w[-1]; list(w)
    w.unbind(); w.index_select(0, T.tensor([1, 0])); w.index_select(1, T.tensor([2, 2]))
    h.index_select(1, T.tensor([1]))
    w.narrow_copy(1, 0, 2).to_dense(); c.narrow_copy(1, 1, 2); T.cat([w, w]); T.cat([w, c], 1)
    T.stack([w, c], 1); T.cat([h, h]); T.cat([g, g], 1); T.stack([w, w]); w.clone(); w.detach(); w.to(T.float64)
    i.float(); w.int(); w.type(T.float64); w.type(); T.zeros(2, 3, layout=T.sparse_coo)
    T.zeros(2, 3, layout=T.sparse_csr); T.empty(2, 3, layout=T.sparse_coo); T.zeros_like(w); T.empty_like(w)
    T.zeros_like(r); T.zeros_like(d, layout=T.sparse_coo); w.new_zeros(2, 2); w.new_empty(2); w.new(2, 3)
    T.zeros_like(h); w.sum(); u.sum(); w.sum(0); w.sum(1); i.sum(); i.sum(0); T.sparse.sum(w); T.sparse.sum(w, 0)
    T.sparse.sum(w, [0, 1]); e.sum(); T.sparse.sum(h, 1).to_dense(); T.sparse.sum(g, [0, 1])
    T.sparse.sum(w, 1, dtype=T.float64); w.any(); e.any(); w.norm(); u.norm(); w.norm(1); T.sparse.softmax(w, 1)
    T.sparse.softmax(u, 0); T.sparse.log_softmax(w, 1); T.sparse.softmax(g, 1)
    T.sparse.softmax(w, 1, dtype=T.float64); w @ d.t(); u @ d.t(); d @ w.t(); d.t() @ r; r @ d.t(); r @ n; w @ n
    w.mv(n); n @ w.t(); T.mm(w, d.t()); T.matmul(u, d.t()); z @ z.t().to_dense(); w @ w.t(); u @ u.t()
    T.sparse.mm(w, w.t()); T.sparse.mm(w, d.t()); T.sparse.mm(d, w.t()); (s @ s).to_dense(); e @ d.t()
    w @ d.t()[:, :0]; T.addmm(d[:, :2], w, d.t()); T.addmm(d[:, :2], w, d.t(), beta=2, alpha=3)
    T.sparse.addmm(d[:, :2], w, d.t(), beta=0.5); T.smm(w, d.t()).to_dense(); T.hspmm(w, d.t()).to_dense()
    T.sspaddmm(w @ w.t(), w, d.t()).to_dense(); T.sparse.mm(r, d.t(), 'mean'); T.sparse.mm(r, d.t(), 'amax')
    T.bmm(T.stack([w, w]), T.stack([d.t(), d.t()])); T.sparse.sampled_addmm(r, T.ones(2, 4), T.ones(4, 3))

    T.sparse.sampled_addmm(r, d, d.t() @ d, beta=2.0, alpha=0.5)
    T.sparse.spdiags(T.arange(9.0).reshape(3, 3), T.tensor([0, -1, 2]), (3, 3))
    T.sparse.spdiags(T.ones(3), T.tensor([1]), (2, 4)).to_dense(); w.clone().add_(w); w.clone().mul_(2)
    w.clone().mul_(d); d.clone().mul_(w).abs(); d.clone().add_(u, alpha=2); d.clone().sub_(w); w.clone().zero_()
    c.clone().sin_(); w.clone().neg_(); w.clone().copy_(c); w.clone().t_(); w.clone().sparse_resize_((3, 4), 2, 0)
    w.clone().div_(2); w.clone().sparse_resize_and_clear_((3, 4, 2), 2, 1); e.clone().resize_as_sparse_(h)
    T.sparse.check_sparse_tensor_invariants.is_enabled(); T.nn.Parameter(w); T.tensor(w); T.as_tensor(w)
    w.is_floating_point(); i.is_complex()
"""
)


@pytest.mark.parametrize("expression", RESULTS)
def test_results(expression):
    assert described(evaluated(rushlight, expression)) == described(evaluated(torch, expression))


ERRORS = lines(
    """
    u.indices(); u.values(); w.crow_indices(); r.indices(); d.indices(); d.values(); d.coalesce(); r.coalesce()
    d.is_coalesced(); d._nnz(); w + d; w + 1; w - d; w / d; w / w; 2 / w; w ** 0; w ** w; w.exp(); w.cos()
    w.sigmoid(); w.exp_(); w == w; w < w; w.mean(); w.max(); w.argmax(); w.data_ptr(); w.untyped_storage(); w.numpy()
    w.tolist(); w.item(); w.nbytes; bool(w); w.reshape(3, 2); w.view(3, 2); w.flatten(); w.expand(2, 2, 3)
    T.cat([w, d]); w[p]; w.norm(2, dim=0); w.fill_(1); T.ones_like(w); T.full_like(w, 2.0); T.rand_like(w)
    w.cumsum(0); T.ones(2, 3, layout=T.sparse_coo); w.copy_(d); d.copy_(w); w.clone().add_(d); w.resize_(3, 3)
    w.sparse_resize_((1, 4), 2, 0); w.nonzero(); w.to_dense(T.float64); d.to_sparse(3); w.to_sparse(1); w.contiguous()
    T.softmax(w, 1); T.where(d > 0, w, w); w.is_shared(); w.apply_(abs); T.sparse_coo_tensor(p, n[:2], (2, 3))
    T.sparse_coo_tensor(p, d, (2,)); T.sparse_coo_tensor(p, n, (2,)); T.sparse_coo_tensor(p[0], n, (2,))
    T.sparse_coo_tensor(p, n, (10**10, 10**10)); T.sparse_compressed_tensor([0, 1], [0], [1.0], (1, 1)); w @ w; w @ d
    T.hspmm(w, w); w.bmm(w); T.addmm(d, w, d); w.permute(0, 0); w.permute(0); w.select(0, 5); w.select(3, 0)
    w.index_select(0, T.tensor([7])); w + c[:1].clone(); w.transpose(0, 2); w.narrow_copy(0, 1, 5); w.mv(n[:2])
    c * c.t(); g.transpose(0, 1); T.stack([w, w.t()]); T.cat([w, w.t()]); d.sparse_mask(d); d.t().sparse_mask(w)
    w.sum(3); T.sparse.sampled_addmm(w, d, d.t()); w.__setitem__(0, 1); T.as_strided(w, (2,), (1,))
    T.sparse.spdiags(T.ones(2, 2), T.tensor([0, 0]), (2, 2)); i.requires_grad_()
"""
)


@pytest.mark.parametrize("expression", ERRORS)
def test_errors(expression):
    """Both refuse; where PyTorch has no form of an op, ours tells the same."""
    with pytest.raises(Exception) as theirs:
        evaluated(torch, expression)
    with pytest.raises(Exception) as ours:
        evaluated(rushlight, expression)
    kinds = type(ours.value), type(theirs.value)
    refused = issubclass(kinds[0], RuntimeError) and kinds[1] in (RuntimeError, NotImplementedError)
    assert issubclass(*kinds) or refused, (ours.value, theirs.value)


GRADIENTS = lines(
    """
    w.to_dense() * d; w.to_dense(masked_grad=True).exp(); d + w; w * d; (w * d).to_dense(); c * c; c + c; w / 2
    c ** 2; w.clone(); w.double(); T.sparse.mm(w, d.t()); T.sparse.mm(w, w.t()); T.sparse.mm(c, c.t().coalesce())
    T.sparse.addmm(d[:, :2], w, d.t()); w.coalesce(); c.coalesce().values() ** 2; T.sparse.sum(w); T.sparse.sum(w, 0)
    T.sparse.softmax(w, 1) * d; T.sparse.log_softmax(w, 1) * d; w.t(); d.sparse_mask(w); d.to_sparse()
    r.to_dense() * d; r.values() ** 2; u.coalesce().values() ** 2; u.to_dense() * d; u.coalesce()
    F.embedding(p % 2, d, sparse=True) ** 2; F.embedding(p % 2, d, padding_idx=1, sparse=True)
    F.embedding_bag(p % 2, d, sparse=True, mode='sum')
"""
)
LEAVES = ("w", "c", "u", "r", "d")


def gradients(module, expression):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scope = names(module)
        for name in LEAVES:
            scope[name] = scope[name].detach().requires_grad_()
        result = eval(expression, scope)
        total = result.sum() if str(result.layout).endswith("strided") else module.sparse.sum(result)
        total.backward()
        found = [scope[name].grad for name in LEAVES]
    return [None if g is None else (str(g.layout).split(".")[1], g.to_dense().tolist()) for g in found]


@pytest.mark.parametrize("expression", GRADIENTS)
def test_gradients(expression):
    ours, theirs = gradients(rushlight, expression), gradients(torch, expression)
    for name, a, b in zip(LEAVES, ours, theirs):
        assert (a is None) == (b is None), name
        if a is not None:
            if name != "d":  # a dense factor's gradient is dense here
                assert a[0] == b[0], name
            assert a[1] == [pytest.approx(row, rel=1e-5) for row in b[1]], name
