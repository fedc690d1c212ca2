"""A broad table of calls against PyTorch: values, dtypes, shapes, strides, gradients, errors."""

import itertools
import warnings

import numpy as np
import pytest

import rushlight

torch = pytest.importorskip("torch")


def inputs(module, requires_grad):
    """What the expressions may use, from the same numbers in both modules."""
    random = np.random.default_rng(3)

    def made(*shape, low=-2.0, high=2.0, dtype="float32", grad=True):
        array = random.uniform(low, high, shape)
        array = (array + 1j * random.uniform(low, high, shape)) if dtype == "complex64" else array
        tensor = module.tensor(np.asarray(array).astype(dtype).tolist(), dtype=getattr(module, dtype))
        return tensor.requires_grad_() if requires_grad and grad and dtype in ("float32", "complex64") else tensor

    def whole(*shape, low=0, high=4):
        return module.tensor(random.integers(low, high, shape).tolist())

    leaves = {
        "x": made(3, 4),
        "y": made(3, 4),
        "v": made(4),
        "p": made(3, 4, low=0.2, high=3),
        "u": made(3, 4, low=-0.9, high=0.9),
        "s": made(2, 3, 4),
        "c": made(),
        "q": made(4, 4),
        "n": made(2, 4, 5, 6),
        "w": made(6, 4, 3, 3),
        "g": made(4, 2, 3, 3),
        "z": made(3, 4, dtype="complex64"),
    }
    others = {
        "i": whole(3, 4, low=-5, high=6),
        "k": whole(5),
        "r": module.tensor([0, 2, 1]),
        "j": whole(3, 2),
        "m": module.tensor(random.integers(0, 2, (3, 4)).astype(bool).tolist()),
        "h": made(3, 4, grad=False).to(module.bfloat16),
        "d": made(3, 4, grad=False).to(module.float64),
        "e": module.zeros(0, 4),
        "b": module.tensor(random.integers(0, 9, (3, 4)).tolist(), dtype=module.uint8),
        "nl": leaves["n"].detach().to(memory_format=module.channels_last),
    }
    return leaves, {**others, "T": module, "F": module.nn.functional, "inf": float("inf"), "nan": float("nan")}


def evaluate(module, expression: str, requires_grad: bool):
    """What an expression gives, described; gradients of what it used if asked for."""
    leaves, others = inputs(module, requires_grad)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(expression, {**leaves, **others})
        except Exception as error:
            return "raises", [kind.__name__ for kind in type(error).__mro__]
        found = [described(part, module) for part in parts(result)]
        return found, gradients(module, parts(result), leaves) if requires_grad else None


def parts(result) -> list:
    return [p for part in result for p in parts(part)] if isinstance(result, (tuple, list)) else [result]


def described(part, module):
    if not isinstance(part, module.Tensor):
        return part if isinstance(part, (bool, int, float, complex)) else str(part).replace("rushlight.", "torch.")
    strides = part.stride() if part.numel() else ()  # PyTorch leaves those of empty tensors as they come
    return str(part.dtype).split(".")[-1], tuple(part.shape), strides, part.requires_grad, part.detach().tolist()


def gradients(module, results, leaves):
    """Of every leaf, for the same cotangents on both sides."""
    roots = [y for y in results if isinstance(y, module.Tensor) and y.requires_grad]
    if not roots:
        return None
    cotangents = [(module.arange(y.numel()) % 7 - 2.5).reshape(tuple(y.shape)).to(y.dtype) for y in roots]
    found = module.autograd.grad(roots, list(leaves.values()), cotangents, allow_unused=True)
    return [None if g is None else (str(g.dtype).split(".")[-1], tuple(g.shape), g.tolist()) for g in found]


def close(ours, theirs) -> bool:
    if isinstance(theirs, (tuple, list)):
        return isinstance(ours, (tuple, list)) and len(ours) == len(theirs) and all(map(close, ours, theirs))
    if isinstance(theirs, (float, complex)) and not isinstance(ours, (str, type(None), tuple, list)):
        return ours == theirs or (ours != ours and theirs != theirs) or abs(ours - theirs) <= 5e-6 * (1 + abs(theirs))
    return type(ours) is type(theirs) and ours == theirs


def agree(expression: str, requires_grad: bool = False) -> None:
    theirs, ours = (evaluate(module, expression, requires_grad) for module in (torch, rushlight))
    if theirs[0] == "raises":
        assert ours[0] == "raises", f"{expression}: PyTorch raises {theirs[1][0]}, rushlight gives {ours}"
        assert theirs[1][0] in ours[1], f"{expression}: PyTorch raises {theirs[1][0]}, rushlight {ours[1][0]}"
        return
    assert close(ours, theirs), f"{expression}\n  rushlight: {str(ours)[:900]}\n  PyTorch:   {str(theirs)[:900]}"


def lines(text: str) -> list:
    return [line.strip() for line in text.strip().splitlines() if line.strip()]


# -- values, strides and gradients ------------------------------------------------------------------
CALLS = lines(
    """
    x + y; x - v; x * 2; x / p; 1 / p; x.detach() // 0.7; x % 0.7; p ** v; p ** 2.5; 2 ** x; -x; abs(x); x @ y.t()
    x.t() + y.t(); s.permute(2, 0, 1) * 2; s.transpose(0, 1) + x[:, None, :]; s[:, ::2] * 3; x.expand(2, 3, 4) + s
    T.add(x, y, alpha=2); T.sub(x, 3, alpha=0.5); T.rsub(x, y); T.addcmul(x, y, v, value=0.3); T.addcdiv(x, y, p, value=2)
    T.lerp(x, y, 0.2); T.lerp(x, y, p); T.atan2(x, y); T.hypot(x, y); T.copysign(x, y); T.fmod(x, 0.7); T.remainder(x, -0.7)
    T.maximum(x, y); T.minimum(x, v); T.fmax(x, y); T.fmin(x, v); x.clamp(-0.5, 0.5); x.clamp(min=v); x.clamp(max=0.1)
    T.xlogy(x, p); T.logaddexp(x, y); T.logaddexp2(x, y); T.div(x, 0.7, rounding_mode='floor'); T.float_power(p, 2)
    x.exp(); x.exp2(); x.expm1(); p.log(); p.log2(); p.log10(); p.log1p(); p.sqrt(); p.rsqrt(); p.reciprocal(); x.square()
    x.sin(); x.cos(); x.tan(); u.asin(); u.acos(); x.atan(); x.sinh(); x.cosh(); x.tanh(); x.asinh(); (p + 1).acosh(); u.atanh()
    x.sigmoid(); p.logit(0.1); x.erf(); x.erfc(); u.erfinv(); p.lgamma(); p.digamma(); x.sinc(); x.deg2rad(); x.frac(); x.round()
    x.floor(); x.ceil(); x.trunc(); x.sign(); x.nan_to_num(); x.round(decimals=1); p.mvlgamma(1)
    x.sum(); x.sum(1); s.sum((0, 2), keepdim=True); x.mean(); x.mean(0); x.prod(); x.prod(1); x.cumsum(1); p.cumprod(0)
    x.logsumexp(1); x.logcumsumexp(1); x.amax(1); x.amin((0, 1)); x.max(); x.max(1); x.min(0, keepdim=True); x.argmax(); x.argmin(1)
    x.var(); x.std(1); x.var(0, unbiased=False); T.var_mean(x, 1); T.std_mean(x, correction=0); x.norm(); x.norm(1); x.norm(3, 1)
    x.norm(inf, 0); x.median(); x.median(1); x.mode(1).values; x.kthvalue(2, 1); x.sort(1); x.argsort(0); x.topk(2); x.quantile(0.3)
    x.cummax(1); x.cummin(0); x.diff(); T.trapezoid(x); x.nansum(); x.nanmean(1); T.aminmax(x, dim=1); x.count_nonzero(1)
    (x > 0).all(); (x > 0).any(1); T.where(x > 0, x, y); T.where(m, x, 1.5); x.masked_fill(m, 2.0); x.masked_select(m)
    x.softmax(1); x.log_softmax(0); s.softmax(-1); F.softmin(x, 1); F.gumbel_softmax(x * 0, hard=False).sum(1)
    F.relu(x); F.relu6(x * 4); F.leaky_relu(x, 0.2); F.elu(x); F.selu(x); F.celu(x, 2.0); F.gelu(x); F.gelu(x, approximate='tanh')
    F.silu(x); F.mish(x); F.softplus(x, 2, 1); F.logsigmoid(x); F.softsign(x); F.tanhshrink(x); F.softshrink(x); F.hardshrink(x)
    F.hardtanh(x); F.hardsigmoid(x * 3); F.hardswish(x * 3); F.threshold(x, 0.1, 2.0); F.prelu(n, v); F.glu(x); F.normalize(x)
    F.mse_loss(x, y); F.l1_loss(x, y, reduction='sum'); F.smooth_l1_loss(x, y); F.huber_loss(x, y, delta=0.3); F.kl_div(x, p)
    F.nll_loss(x, r); F.cross_entropy(x, r); F.cross_entropy(x, p); F.cross_entropy(x, r, label_smoothing=0.1, weight=v.detach().abs())
    F.binary_cross_entropy(x.sigmoid(), u.abs()); F.binary_cross_entropy_with_logits(x, u.abs(), pos_weight=v.detach().abs())
    F.poisson_nll_loss(x, p); F.gaussian_nll_loss(x, y, p); F.margin_ranking_loss(x, y, T.sign(u.detach())); F.soft_margin_loss(x, T.sign(u.detach()))
    F.hinge_embedding_loss(x, T.sign(u.detach())); F.cosine_similarity(x, y); F.pairwise_distance(x, y); F.triplet_margin_loss(x, y, p)
    F.layer_norm(x, (4,), v, v); F.group_norm(n, 2, v, v); F.batch_norm(n, None, None, v, v, True); F.rms_norm(x, (4,), v)
    F.instance_norm(n); F.local_response_norm(n, 3); F.linear(x, q, v); F.bilinear(x, y, s.new_ones(5, 4, 4)); F.dropout(x, 0.0)
    F.conv2d(n, w); F.conv2d(n, w, padding=1, stride=2); F.conv2d(n, g[:, :2], groups=2); F.conv2d(nl, w, padding='same')
    F.conv_transpose2d(n, g); F.conv_transpose2d(n, g, stride=2, padding=1, output_padding=1); F.conv1d(s, s.new_ones(2, 3, 2))
    F.max_pool2d(n, 2); F.max_pool2d(n, 3, 2, 1, return_indices=True); F.avg_pool2d(n, 2); F.avg_pool2d(nl, 3, 1, 1, True, False)
    F.adaptive_avg_pool2d(n, (2, 3)); F.adaptive_max_pool2d(n, 3); F.lp_pool2d(n.abs(), 2, 2); F.interpolate(n, scale_factor=2)
    F.interpolate(n, (3, 9), mode='bilinear'); F.interpolate(n, (3, 9), mode='bicubic', align_corners=True); F.pad(n, (1, 2, 0, 1))
    F.pad(n, (1, 2), mode='reflect'); F.unfold(n, 2); F.fold(F.unfold(n, 2), (5, 6), 2); F.pixel_shuffle(n, 2); F.one_hot(k, 5)
    F.embedding(k, q); F.embedding_bag(j, q, mode='mean'); F.scaled_dot_product_attention(s, s, s, is_causal=True)
    T.mm(q, q); T.mv(q, v); T.dot(v, v); T.outer(v, v); T.addmm(x, x, q, beta=0.5, alpha=2); T.baddbmm(s, s, T.ones(2, 4, 4))
    T.addr(q, v, v); T.matmul(s, v); T.matmul(v, q); T.einsum('bij,kj->bik', s, q); T.tensordot(s, q, 1); T.inner(x, y); T.kron(x, v)
    x.reshape(2, 6); x.t().reshape(-1); x.view(4, 3); s.permute(2, 0, 1); s.flatten(1); x.unsqueeze(1); s[:, :1].squeeze(1); x.t()
    T.cat([x, y], 1); T.cat([s, s.transpose(0, 1).reshape(2, 3, 4)]); T.stack([x, y], 1); T.hstack([x, y]); T.vstack([x, v]); x.unbind(1)
    x.split(2, 1); x.chunk(3, 1); x.tensor_split(2); x.repeat(2, 1, 2); x.tile(2); x.roll(1, 0); x.flip(0, 1); x.rot90(); s.movedim(0, 2)
    x.tril(); s.triu(1); x.diagonal(1); v.diag(); T.diag_embed(x); q.trace(); x.repeat_interleave(2, 1); x.expand(2, 3, 4); x.unfold(1, 2, 1)
    x[1]; x[:, 1:3]; x[..., None, 2]; x[k.clamp(max=2)]; x[:, k % 4]; x[m]; x[r, r]; x[None, r[:, None], ::2]; x.select(1, -1)
    x.gather(1, j); x.index_select(1, k); x.take(k); x.take_along_dim(j, 1); x.scatter(1, j, y[:, :2]); x.scatter_add(1, j, y[:, :2])
    x.scatter_reduce(1, j, y[:, :2], 'amax'); x.index_add(0, r, y); x.index_copy(0, r, y); x.index_fill(1, k[:2], 0.5); x.index_put((r, r), v[:3])
    x.select_scatter(v, 0, 1); x.slice_scatter(y[:, :2], 1, 1, 3); q.diagonal_scatter(v); x.masked_scatter(m, y); x.put(k, v[k % 4])
    z * z; z + x; z.abs(); z.angle(); z.conj() * z; z.real * z.imag; z.exp(); z.sqrt(); z.log(); z @ z.t(); z.sum(1); z.sin(); 1 / z
    T.view_as_real(z); T.complex(x, y); T.polar(p, y); z.tanh(); z ** 2; z.prod(1); z.mean(); T.dot(z[0], z[1]); z.conj().t() @ z
    x.clone(); x.detach() + y; x.double().sum(); x.half().float(); x.to(T.bfloat16) * 2; x.type_as(d); x.contiguous(); x.t().contiguous()
    T.cdist(x, y); F.pdist(x); x.renorm(2, 0, 1.0); x.cov(); x.corrcoef(); T.cross(x[:, :3], y[:, :3], dim=1); T.logdet(q @ q.t() + T.eye(4))
    n.to(memory_format=T.channels_last) * 2; nl + 1; nl.relu(); nl.sum(1); F.batch_norm(nl, None, None, v, v, True); nl.permute(0, 2, 3, 1)
""".replace(";", "\n")
)


@pytest.mark.parametrize("expression", CALLS)
def test_calls(expression):
    if "logdet" in expression and not hasattr(rushlight, "logdet"):
        pytest.skip("needs factorizations")
    agree(expression, requires_grad=True)


PLAIN = lines(
    """
    i + 1; i * 2.5; i / 2; i // 2; i % 3; i ** 2; i & 3; i | b; i ^ 1; ~i; i << 1; i >> 1; -i; abs(i); i.sum(); i.sum(0); i.prod(1)
    b + 250; b - 9; b * b; b // 3; b.sum(); b.float().mean(); m + m; m * m; m & ~m; m.sum(); m ^ True; m.any(0); m.all(); m.cumsum(1)
    i.max(1); i.argmax(); i.sort(1, descending=True); i.topk(2, 1); i.unique(); i.unique(return_counts=True); T.bincount(k); i.flip(0)
    h + h; h * 2.5; h.sum(); h.exp(); h.mean(1); h @ h.t(); h.softmax(1); h.sqrt(); h.cumsum(0); h.max(1); h.float(); h / 3
    d + x; d * i; d.sum(); d.softmax(0); d.var(); d.float(); d.long(); d.bool(); d.to(T.int8); i.to(T.uint8); d.half(); m.float(); b.char()
    e.sum(); e.sum(0); e.prod(); e.t(); e + 1; e.reshape(4, 0); T.cat([e, x]); e @ q; e.argmax(1); e.softmax(1); e.mean(0); e.max(1).values
    c + x; c * i; c + 1; c.sum(); c.expand(2); c[None]; c.reshape(1); c.item(); x.sum().item() > 0; x.tolist(); x.numel(); x.stride()
    x == y; x < v; x >= 0; i != 2; T.isnan(x / 0); T.isinf(x / 0); T.isclose(x, x + 1e-9); T.allclose(x, y); T.equal(x, x); x.isfinite()
    T.arange(5); T.arange(1, 2, 0.3); T.linspace(0, 1, 5); T.logspace(0, 2, 3); T.eye(3, 2); T.zeros(2, 3); T.full((2,), 7); T.ones_like(i)
    T.tril_indices(3, 3); T.meshgrid(T.arange(2), T.arange(3), indexing='ij'); T.empty(2, 3).shape; T.zeros(2, dtype=T.bool); x.new_ones(2)
    T.nonzero(m); T.nonzero(m, as_tuple=True); T.searchsorted(v.sort().values, x); T.bucketize(x, T.tensor([-1.0, 0, 1])); T.histc(x, 4)
    T.result_type(i, 1.5); T.promote_types(T.int8, T.uint8); T.can_cast(T.float32, T.int64); x.dtype; i.dtype; (i / i).dtype; (m + 1).dtype
    T.floor_divide(i, -2); T.gcd(i, 6); T.lcm(i, 4); T.heaviside(x, y); T.signbit(x); T.ldexp(x, k[:4]); T.frexp(x); T.nextafter(x, y)
    T.broadcast_to(v, (2, 4)); T.broadcast_tensors(x, v); T.atleast_2d(v); T.block_diag(x, v); T.combinations(v, 2); T.cartesian_prod(v, v)
    x.as_strided((2, 2), (1, 2), 1); x.data_ptr() == x.view(-1).data_ptr(); x.is_contiguous(); x.t().is_contiguous(); nl.stride(); s.T.shape
    T.bernoulli(T.ones(3)); T.randperm(0); F.one_hot(r); T.vander(v[:3]); T.unique_consecutive(k); T.isin(k, r); T.cumulative_trapezoid(v)
""".replace(";", "\n")
)


@pytest.mark.parametrize("expression", PLAIN)
def test_plain(expression):
    agree(expression)


# -- promotion ------------------------------------------------------------------------------------------
TYPES = ["bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]
OPERANDS = ["T.ones(2, dtype=T.{0})", "T.tensor(1, dtype=T.{0})"]
NUMBERS = ["True", "2", "2.5", "1j"]


def test_promotion():
    """Every pair of dtypes, with and without dims, and every kind of number; there is no complex32 here."""
    wrong = []
    for a, b, left, right in itertools.product(TYPES, TYPES, OPERANDS, OPERANDS):
        if {a, b} == {"float16", "complex64"}:
            continue
        for operator in ("+", "/"):
            expression = f"({left.format(a)} {operator} {right.format(b)}).dtype"
            wrong += differing(expression)
    for a, left, number in itertools.product(TYPES, OPERANDS, NUMBERS):
        if (a, number) == ("float16", "1j"):
            continue
        for operator in ("+", "*", "/", "**"):
            wrong += differing(f"({left.format(a)} {operator} {number}).dtype")
    assert not wrong


def differing(expression: str) -> list:
    found = []
    for module in (torch, rushlight):
        try:
            found.append(str(eval(expression, {"T": module})).split(".")[1])
        except (RuntimeError, TypeError, NotImplementedError):
            found.append("raises")
    return [] if found[0] == found[1] else [(expression, *found)]


# -- in-place and out -----------------------------------------------------------------------------------
WRITES = lines(
    """
    x.add_(y); x.mul_(v); x.sub_(1); x.div_(p); x.t().add_(1); x[1].mul_(3); x[:, ::2].add_(y[:, 1::2]); x.copy_(v); x.zero_(); x.fill_(2)
    x.clamp_(0, 1); x.exp_(); x.sqrt_(); x.relu_(); x.masked_fill_(m, 7); x.index_fill_(0, r[:1], 1); x.scatter_(1, j, 2.0); x.t_(); x.neg_()
    x.__setitem__((r, r), 5.0); x.__setitem__(m, 0.0); x.__setitem__((slice(None), 1), v[:3]); x.__setitem__(0, v); x.unsqueeze_(0)
    x.index_add_(0, r, y); x.index_copy_(0, r, y); x.put_(k, v[k % 4]); x.addcmul_(y, v); x.lerp_(y, 0.3); x.tril_(); x.copy_(i); x.pow_(2)
    i.add_(2); i.mul_(i); i.floor_divide_(2); m.logical_not_(); x.cumsum_(1); x.addmm_(x[:, :3].clone(), y); x.squeeze_(); x.sigmoid_()
    T.add(x, y, out=x.new_empty(3, 4)); T.mul(x, 2, out=d); T.sum(x, 1, out=x.new_empty(0)); T.cat([x, y], out=x.new_empty(6, 4))
    T.max(x, 1, out=(x.new_empty(3), i.new_empty(3))); T.mm(x, q, out=y); T.exp(x, out=y.t().contiguous().t()); T.argmax(x, 1, out=i[:, 0])
""".replace(";", "\n")
)


@pytest.mark.parametrize("expression", WRITES)
def test_writes(expression):
    """The result, and the tensors that were written."""
    agree(f"({expression}, x, y, i, m, d)")


# -- errors ---------------------------------------------------------------------------------------------
ERRORS = lines(
    """
    x + T.ones(5); x @ x; T.mm(x, v); T.mv(x, y); T.dot(v, x); T.bmm(x, x); T.cat([x, v]); T.cat([]); T.stack([x, v]); x.view(5); x.reshape(-1, 5)
    x.sum(2); x.sum((0, 0)); x.softmax(3); x.max(4); x.transpose(0, 2); x.permute(0, 0); x.permute(0); x.unsqueeze(4); x.squeeze(3); x.flatten(2, 1)
    x[5]; x[0, 0, 0]; x[T.tensor([7])]; x[:, T.tensor([9])]; x[m[:2]]; x[1.5]; x.gather(1, x.long()[:, :1] * 0 + 9); x.index_select(0, j)
    x.expand(2, 4); x.repeat(2); x.split(0); x.chunk(0); x.narrow(0, 2, 5); x.unfold(0, 9, 1); x.diagonal(0, 0, 0); x.clamp(); x.view(3, 4, -1, -1)
    T.zeros(-1); T.arange(1, 0); T.full((2,), 'a'); T.tensor([[1], [1, 2]]); T.eye(-1); T.linspace(0, 1, -1); T.tensor('a'); T.empty(2, dtype=3)
    F.conv2d(n, w[:, :3]); F.conv2d(n, w, groups=3); F.conv2d(x, w); F.linear(x, q[:, :3]); F.max_pool2d(n, 9); F.layer_norm(x, (3,))
    F.nll_loss(x, r + 9); F.cross_entropy(x, v); F.mse_loss(x, y, reduction='other'); F.embedding(k + 9, q); F.dropout(x, 2.0); F.one_hot(-r)
    F.pad(x, (1,)); F.pad(n, (9, 9), mode='reflect'); F.interpolate(n); F.glu(x[:, :3]); F.batch_norm(x[:1], None, None, training=True); F.fold(x, 2, 2)
    i.add_(0.5); m - m; -m; x & x; i << x; T.bitwise_and(x, y); T.gcd(x, y); i.mean(); T.softmax(i, 1); x.quantile(2.0); T.bincount(x)
    x.backward(); T.tensor(1).requires_grad_(); x.item(); bool(x); int(x); len(c); iter(c); x.numpy(1, 2); x.foo; T.foo; x.sum(foo=1); x.sum(0, 1, 2)
    T.add(x); T.add(x, y, z); T.add(x, 'a'); x + 'a'; x + None; T.exp(); T.exp(1.0); T.matmul(x, 2); T.sum('a'); T.where(x, x, y); T.cat(x); T.stack(1)
    T.add(x, y, out=i); x.copy_(T.ones(5)); x.t().view(-1); x.as_strided((9, 9), (9, 9)); x.resize_(-1)
    T.masked_select(x, x); x.scatter(1, j, 'a'); x.scatter_add(0, j + 9, y); x.topk(9); x.kthvalue(0); x.sort(5); x.multinomial(2); T.randint(3, 3, (2,))
    T.bernoulli(x * 9); T.normal(x, -p.abs()); T.randperm(-1); x.renorm(2, 5, 1.0); T.einsum('ij,jk', x, x); T.einsum('ii', x); T.tensordot(x, x, 2)
    T.set_default_dtype(T.int64); T.device('nope'); T.promote_types(1, 2); T.broadcast_tensors(x, T.ones(5)); T.chain_matmul(x, x)
""".replace(";", "\n")
)


@pytest.mark.parametrize("expression", ERRORS)
def test_errors(expression):
    """What PyTorch refuses is refused with its kind of error."""
    agree(expression)
