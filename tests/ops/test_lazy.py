"""Conjugates and negatives that are not computed: views, what reads them, what is written through them, their gradients."""

import copy
import io
import pickle

import pytest

import rushlight as rl

from .parity import agree, table

Z = "T.tensor([[1 + 2j, 3 - 1j, 5j], [0, 4j, 2 - 3j]])"
FACTS = """
(lambda c: (c.is_conj(), c._is_view(), c.conj().is_conj(), c.clone().is_conj(), c.contiguous().is_conj()))(Z.conj())
(lambda c: (c.t().contiguous().is_conj(), c.detach().is_conj(), c.data.is_conj(), (c + 0).is_conj()))(Z.conj())
(lambda c: [v.is_conj() for v in (c[0], c.t(), c.reshape(-1), c.unbind()[0], c.split(1)[1], c.view(6))])(Z.conj())
(lambda c: [v.is_conj() for v in (c.expand(2, 2, 3), c.diagonal(), c.as_strided((2,), (1,)), c.T, c.flatten())])(Z.conj())
(lambda c: [v.is_conj() for v in (Z.H, Z.mH, Z.adjoint(), T.conj(Z), T._conj(Z), c.real, c.imag)])(Z.conj())
(lambda c: [v.is_neg() for v in (c, c.real, c.imag, T._neg_view(Z), T._neg_view(c).imag, T._neg_view(T._neg_view(Z)))])(Z.conj())
(lambda c: (c.resolve_conj() is c, c.resolve_conj().is_conj(), c.resolve_neg() is c, c.imag.resolve_neg().is_neg()))(Z.conj())
(lambda c: (T.empty_like(c).is_conj(), T.zeros_like(c).is_conj(), c.to(T.complex128).is_conj(), c.to(T.complex64) is c))(Z.conj())
(lambda r: r.conj() is r)(T.ones(2))
T._neg_view(T.ones(2).int())
T._neg_view(T.ones(2).bool())
Z.conj().tolist(), Z.conj()[0, 1].item(), Z.conj().imag.tolist(), Z.conj()[1, 2].imag.item()
str(Z.conj()), str(Z.conj().imag)
Z.conj() + Z, Z.conj() * 2j, Z.conj().abs(), Z.conj().sum(0), Z.conj().angle(), Z.conj().imag.exp(), Z.conj().imag.max()
Z.conj() @ Z.t(), Z.conj() @ Z.mH, T.mv(Z.H.conj(), Z[:, 0].conj()), T.vdot(Z[0].conj(), Z[1]), T.dot(Z[0].conj(), Z[1])
T.cat([Z.conj(), Z]), T.stack([Z.conj(), Z]).conj(), T.where(Z.real > 0, Z.conj(), Z), Z.conj()[Z.real > 0]
Z.conj()[T.tensor([1, 0])], Z.conj().gather(1, T.tensor([[0, 2]])), Z.conj().masked_select(Z.imag < 0), Z.conj().nonzero()
Z.conj().imag.sort(), Z.conj().imag.cumsum(1), Z.conj().cumprod(1), Z.conj().imag[Z.imag > 0], Z.conj().imag.topk(2)
T.view_as_real(Z.conj())
T.view_as_real(T._neg_view(Z))
T.view_as_real(T._neg_view(Z).conj().conj())
Z.conj().view(T.float32)
Z.conj().imag.view(T.int32)
Z.conj().numpy()
Z.conj().imag.numpy()
T._conj(T.ones(2))
Z.conj().numpy(force=True).tolist(), Z.conj().imag.numpy(force=True).tolist()
T.conj_physical(Z.conj()), T.conj_physical(Z.conj()).is_conj(), Z.conj().conj_physical_().is_conj()
T.add(Z.conj(), 1, out=T.zeros_like(Z).conj()), T.add(Z.real, 1, out=T.zeros_like(Z).conj().imag)
(lambda z: (z.conj().resize_(2, 2), z))(Z)
Z.conj().imag == -Z.imag, T.equal(Z.conj(), Z.conj().resolve_conj()), T.allclose(Z.conj().conj(), Z)
"""
WRITES = """
c.mul_(2j)
c.copy_(Z * 3)
c[0, 1] = 7 + 1j
c[0] = Z[1]
c.imag.fill_(3)
c.imag[0, 1] = 5
c.imag.mul_(2.5)
c.real.add_(1)
c.add_(c)
c.mul_(z)
z.mul_(c)
c.zero_()
c.t()[1].sub_(1j)
c.masked_fill_(Z.real > 1, 9j)
c.index_add_(0, T.tensor([1]), Z[:1])
c.conj_physical_()
c.data.mul_(2j)
T._neg_view(c).add_(1)
T.mul(c, 2j, out=c)
"""
LOSSES = """
(z.conj() * z).real.sum()
z.conj().imag.pow(3).sum()
(z.conj() @ z.mH).abs().sum()
z.conj()[0].imag.exp().sum()
T._neg_view(z.conj()).imag[1:].pow(2).sum()
(z.H.reshape(-1)[::2] * (1 + 2j)).real.sum()
z.conj().conj()[0, 1].abs()
T.conj_physical(z.conj()).real.sum()
z.conj().expand(4, 2, 3).real.pow(2).sum()
"""


@table(FACTS)
def test_facts(expression):
    agree(expression.replace("Z", Z))


@pytest.mark.parametrize("write", WRITES.strip().split("\n"))
def test_writes_reach_the_base_conjugated(write):
    names = lambda T: {"written": written, "run": write}  # noqa: E731
    agree(f"written(T, {Z}, run)", names)


def written(T, z, write: str):
    scope = {"T": T, "z": z, "Z": z.clone(), "c": z.conj()}
    exec(write, scope)
    return scope["z"], scope["c"], z._version > 0


@pytest.mark.parametrize("write", WRITES.strip().split("\n"))
def test_gradients_of_writes(write):
    if "out=" in write or "data" in write:
        pytest.skip("not recorded")
    agree(f"written(T, {Z}, run)", lambda T: {"written": gradient_of_write, "run": write})


def gradient_of_write(T, leaf, write: str):
    leaf.requires_grad_()
    z = leaf * (2 - 1j)
    scope = {"T": T, "z": z, "Z": leaf.detach().clone(), "c": z.conj()}
    exec(write, scope)
    weight = T.arange(6.0).reshape(2, 3) + 1
    return T.autograd.grad(((scope["c"] * (1 + 3j)).imag * weight).sum() + (z.real * weight).sum(), leaf)


@pytest.mark.parametrize("loss", LOSSES.strip().split("\n"))
def test_gradients(loss):
    agree(f"(lambda z: T.autograd.grad({loss}, z))({Z}.requires_grad_())")


def test_second_derivatives_and_forward_mode():
    z = rl.tensor([[1 + 2j, 3 - 1j], [0.5, 4j]], dtype=rl.complex128, requires_grad=True)
    assert rl.autograd.gradcheck(lambda z: (z.conj() @ z, z.conj().imag), z, check_forward_ad=True)
    assert rl.autograd.gradgradcheck(lambda z: z.conj() @ z, z)


def test_memory_is_shared_and_nothing_is_copied():
    z = rl.tensor([1 + 2j, 3j])
    c = z.conj()
    assert c.data_ptr() == z.data_ptr() and c._base is z and c.conj().data_ptr() == z.data_ptr()
    assert c.imag.data_ptr() == z.imag.data_ptr() and c.storage_offset() == 0


@pytest.mark.parametrize(
    "make", [lambda z: z.conj(), lambda z: z.conj().imag, lambda z: z.conj()[1:]], ids=["conj", "imag", "part"]
)
def test_copies_and_files_keep_the_numbers(make):
    given = make(rl.tensor([1 + 2j, 3j, -1]))
    file = io.BytesIO()
    rl.save({"x": given, "y": given}, file)
    file.seek(0)
    for other in (copy.deepcopy(given), pickle.loads(pickle.dumps(given)), rl.load(file)["x"], rl.tensor(given)):
        assert rl.equal(other, given)


def test_files_of_pytorch():
    torch = pytest.importorskip("torch")
    for make in (lambda z: z.conj(), lambda z: z.conj().imag):
        file = io.BytesIO()
        torch.save(make(torch.tensor([1 + 2j, 3j])), file)
        file.seek(0)
        assert rl.load(file).tolist() == make(torch.tensor([1 + 2j, 3j])).tolist()


def test_other_libraries_get_no_conjugates():
    for lazy in (rl.ones(2, dtype=rl.complex64).conj(), rl.ones(2, dtype=rl.complex64).conj().imag):
        with pytest.raises(BufferError, match="bit set"):
            lazy.__dlpack__()


def test_layouts_with_bits_are_interned():
    z = rl.ones(2, 3, dtype=rl.complex64)
    assert z.conj()._layout is z.clone().conj()._layout is not z._layout
    assert z.conj()._layout.plain is z._layout and pickle.loads(pickle.dumps(z.conj()._layout)) is z.conj()._layout
