"""Einstein sums, tensordot and their kin, distances."""

import pytest

import rushlight as rl

from .parity import agree, table

FORMS = """
T.einsum('ij,jk->ik',T.arange(6.).reshape(2,3),T.arange(6.).reshape(3,2))
T.einsum('ij,jk',T.arange(6.).reshape(2,3),T.arange(6.).reshape(3,2))
T.einsum('ii',T.arange(9.).reshape(3,3))
T.einsum('ii->i',T.arange(9.).reshape(3,3))
T.einsum('ij->ji',T.arange(6.).reshape(2,3))
T.einsum('ij->',T.arange(6.).reshape(2,3))
T.einsum('ba',T.arange(6.).reshape(2,3))
T.einsum('i,j->ij',T.arange(3.),T.arange(2.))
[T.einsum(e,*[(T.ones(3,3)*100).to(d)]*(1+e.count(','))) for d in (T.uint8,T.bool,T.int32) for e in ('ii->','ij->i','ij->ji','ij,kl->i')]
T.einsum('bij,bjk->bik',T.arange(12.).reshape(2,2,3),T.arange(12.).reshape(2,3,2))
T.einsum('...ij,...jk->...ik',T.arange(12.).reshape(2,2,3),T.arange(6.).reshape(3,2))
T.einsum('...ij,...jk',T.arange(12.).reshape(2,1,2,3),T.arange(12.).reshape(2,3,2))
T.einsum('i...->...',T.arange(12.).reshape(2,2,3))
T.einsum('b n h w, n d -> b d h w',T.arange(24.).reshape(1,2,3,4),T.arange(6.).reshape(2,3))
T.einsum('bn,anm,bm->ba',T.arange(6.).reshape(2,3),T.arange(36.).reshape(3,3,4),T.arange(8.).reshape(2,4))
T.einsum(T.arange(6.).reshape(2,3),[0,1],T.arange(6.).reshape(3,2),[1,2],[0,2])
T.einsum(T.arange(6.).reshape(2,3),[0,1],T.arange(6.).reshape(3,2),[1,2])
T.einsum(T.arange(12.).reshape(2,2,3),[...,1],T.arange(3.),[1],[...])
T.einsum('ij,ij->ij',T.arange(6.).reshape(2,3),T.ones(1,3))
T.einsum('ij,jk->ik',T.ones(2,1),T.arange(6.).reshape(3,2))
T.einsum('iij->j',T.arange(18.).reshape(3,3,2))
T.einsum('iijj->',T.arange(36.).reshape(3,3,2,2))
T.einsum('aB,Bc',T.arange(6.).reshape(2,3),T.arange(6.).reshape(3,2))
T.einsum('ij,jk->ik',T.arange(6).reshape(2,3),T.arange(6).reshape(3,2))
T.einsum('ij,jk,kl,lm->im',T.ones(2,3),T.ones(3,4),T.ones(4,2),T.ones(2,5))
T.einsum('i,i',T.arange(3.),T.arange(3.))
T.einsum(',i->i',T.tensor(2.),T.arange(3.))
T.einsum('ij,kl->',T.ones(2,3),T.ones(2,3))
T.einsum('ij,jk->ik',[T.ones(2,3),T.ones(3,2)])
T.einsum('ij,jk->ik',T.ones(2,3),T.ones(2,2))
T.einsum('ij,jk->ik',T.ones(2,3))
T.einsum('ij->ik',T.ones(2,3))
T.einsum('ij->ii',T.ones(2,3))
T.einsum('ijk->i',T.ones(2,3))
T.einsum('i...jkl->i',T.ones(2,3))
T.einsum('i.j->i',T.ones(2,3))
T.einsum('i1->i',T.ones(2,3))
T.einsum('...i...->i',T.ones(2,3))
T.einsum('ii->i',T.ones(2,3))
T.einsum('ij')
T.einsum('i->...i',T.ones(2))
T.einsum('...->',T.ones(2,3))
T.einsum('ij,jk->ik',T.ones(0,3),T.ones(3,2))
T.einsum('ij,jk->ik',T.ones(2,0),T.ones(0,2))
T.einsum('ij,jk->ki',T.ones(2,3,dtype=T.complex64)*(1+2j),T.ones(3,2,dtype=T.complex64))
T.einsum(equation='ij->i')
T.tensordot(T.arange(6.).reshape(2,3),T.arange(6.).reshape(3,2),1)
T.tensordot(T.arange(6.).reshape(2,3),T.arange(6.).reshape(3,2),dims=([0,1],[1,0]))
T.tensordot(T.arange(6.).reshape(2,3),T.arange(6.).reshape(2,3))
T.tensordot(T.arange(6.).reshape(2,3),T.arange(6.).reshape(3,2),0)
T.tensordot(T.arange(6.).reshape(2,3),T.arange(6.).reshape(3,2),dims=[[1],[1]])
T.tensordot(T.arange(6.).reshape(2,3),T.arange(6.).reshape(3,2),dims=[[1,0],[0]])
T.tensordot(T.ones(2,1),T.arange(6.).reshape(3,2),dims=[[1],[0]])
T.kron(T.arange(4.).reshape(2,2),T.arange(3.))
T.kron(T.eye(2),T.ones(2,2))
T.inner(T.arange(3.),T.arange(3.))
T.inner(T.arange(6.).reshape(2,3),T.arange(3.))
T.inner(T.arange(6.).reshape(2,3),T.tensor(2.))
T.inner(T.arange(6.).reshape(2,3),T.ones(4))
T.vdot(T.tensor([1+1j,2]),T.tensor([1j,1]))
T.vdot(T.ones(2),T.ones(3))
T.vdot(T.ones(2,2),T.ones(3))
T.nn.functional.bilinear(T.arange(6.).reshape(2,3),T.arange(4.).reshape(2,2),T.arange(12.).reshape(2,3,2),T.ones(2))
T.bilinear(T.arange(6.).reshape(2,3),T.arange(4.).reshape(2,2),T.arange(12.).reshape(2,3,2),None)
T.nn.functional.bilinear(T.arange(6.).reshape(2,3),T.arange(4.).reshape(2,2),T.arange(18.).reshape(2,3,3))
T.cross(T.arange(3.),T.tensor([1.,5,2]))
T.cross(T.arange(6.).reshape(2,3),T.ones(2,3),dim=1)
T.cross(T.arange(6.).reshape(2,3),T.ones(2,3))
T.cross(T.arange(4.).reshape(2,2),T.ones(2,2))
T.cross(T.arange(6.).reshape(2,3),T.ones(2,3),dim=0)
T.matrix_power(T.arange(4.).reshape(2,2),3)
T.matrix_power(T.arange(4.).reshape(2,2),0)
T.matrix_power(T.arange(4.).reshape(2,2),1)
T.matrix_power(T.arange(8.).reshape(2,2,2),5)
T.matrix_power(T.ones(2,3),5)
T.renorm(T.arange(6.).reshape(2,3),2,0,1.)
T.renorm(T.arange(6.).reshape(2,3),1,1,1.)
T.renorm(T.arange(6.).reshape(2,3),float('inf'),1,1.)
T.renorm(T.arange(3.),1,0,1.)
T.arange(6.).reshape(2,3).renorm_(2,0,1.)
T.dist(T.arange(3.),T.ones(3))
T.dist(T.arange(3.),T.ones(3),1)
T.dist(T.arange(3.),T.ones(3),float('inf'))
T.cdist(T.arange(6.).reshape(2,3),T.ones(4,3))
T.cdist(T.arange(6.).reshape(2,3),T.ones(4,3),p=1)
T.cdist(T.arange(6.).reshape(2,3),T.ones(4,3),p=0)
T.cdist(T.arange(6.).reshape(2,3),T.ones(4,3),p=3.)
T.cdist(T.arange(6.).reshape(2,3),T.ones(4,3),p=.5)
T.cdist(T.arange(6.).reshape(2,3),T.ones(4,3),p=float('inf'))
T.cdist(T.arange(90.,dtype=T.float64).reshape(30,3)/90,T.ones(4,3,dtype=T.float64))
T.cdist(T.arange(12.).reshape(2,2,3),T.ones(4,3))
T.cdist(T.ones(2,3),T.ones(2,2))
T.cdist(T.ones(3),T.ones(2,2))
T.cdist(T.ones(2,0),T.ones(3,0))
T.cdist(T.ones(0,2),T.ones(3,2))
T.cdist(T.ones(2,3),T.ones(2,3),p=-1)
T.pdist(T.arange(12.).reshape(4,3)**1.5)
T.pdist(T.arange(12.).reshape(4,3)**1.5,1)
T.pdist(T.arange(12.).reshape(4,3)**1.5,float('inf'))
T.pdist(T.ones(1,3))
T.nn.functional.pdist(T.ones(3))
"""
GRADIENTS = [
    ("T.einsum('bij,bjk,k->bi', a, b, c)", "(2, 3, 4)", "(2, 4, 5)", "(5,)"),
    ("T.einsum('iij,j->i', a, b)", "(3, 3, 2)", "(2,)", "(1,)"),
    ("T.tensordot(a, b, ([0, 2], [1, 0]))", "(2, 3, 4)", "(4, 2, 3)", "(1,)"),
    ("T.kron(a, b)", "(2, 3)", "(3, 1, 2)", "(1,)"),
    ("T.inner(a, b)", "(2, 3)", "(4, 3)", "(1,)"),
    ("T.cross(a, b, dim=1)", "(2, 3)", "(2, 3)", "(1,)"),
    ("T.nn.functional.bilinear(a, b, c)", "(4, 2)", "(4, 3)", "(5, 2, 3)"),
    ("T.cdist(a, b)", "(3, 4)", "(2, 4)", "(1,)"),
    ("T.cdist(a, b, p=1)", "(3, 4)", "(2, 4)", "(1,)"),
    ("T.cdist(a, b, p=3)", "(3, 4)", "(2, 4)", "(1,)"),
    ("T.cdist(a, b, p=math.inf)", "(3, 4)", "(2, 4)", "(1,)"),
    ("T.cdist(a, a)", "(3, 4)", "(2, 4)", "(1,)"),
    ("T.cdist(a, b)", "(30, 4)", "(2, 4)", "(1,)"),
    ("T.pdist(a)", "(5, 4)", "(2, 4)", "(1,)"),
    ("T.renorm(a, 2, 0, 0.5)", "(3, 4)", "(2, 4)", "(1,)"),
    ("T.matrix_power(a, 5)", "(3, 3)", "(2, 4)", "(1,)"),
    ("T.dist(a, b, 2)", "(3, 4)", "(3, 4)", "(1,)"),
    ("T.vdot(a, b)", "(3,)", "(3,)", "(1,)"),
]
CALL = """(lambda a, b, c: T.autograd.grad((({0}) ** 2).sum(), (a, b, c), allow_unused=True))(
    *[(T.arange(1.0, 1 + math.prod(s), dtype=T.float64).reshape(s) * k).sin().requires_grad_()
      for k, s in ((0.7, {1}), (1.1, {2}), (1.7, {3}))])"""


@table(FORMS)
def test_forms(expression):
    agree(expression)


@pytest.mark.parametrize("case", GRADIENTS, ids=lambda case: case[0])
def test_gradients(case):
    agree(CALL.format(*case))


def test_a_chain_is_contracted_in_the_cheap_order():
    """Left to right the middle product would have 10^10 elements."""
    column, row = rl.ones(100_000, 1), rl.ones(1, 100_000)
    assert rl.einsum("ij,jk,kl->il", row, column, row[:, :3]).tolist() == [[1e5] * 3]
    assert rl.einsum("ij,jk,kl->il", column, row, column)[0].item() == 1e5


def test_single_operands_are_views():
    x = rl.zeros(3, 3)
    rl.einsum("ii->i", x).fill_(1)
    rl.einsum("ij->ji", x)[2, 0] = 5
    assert x.tolist() == [[1, 0, 5], [0, 1, 0], [0, 0, 1]]
