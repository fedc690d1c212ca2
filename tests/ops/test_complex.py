"""Parts of complex numbers as views, conjugates, angles."""

import pytest

import rushlight as rl

from .parity import agree, table

PARTS = """
T.view_as_real(T.tensor([1+2j,3]))
T.view_as_real(T.tensor([[1+2j,3],[4,5j]]).t())
T.view_as_complex(T.ones(2,3))
T.view_as_complex(T.arange(8.).reshape(2,2,2))
T.view_as_complex(T.arange(8.).reshape(2,2,2).transpose(0,1))
T.view_as_complex(T.arange(9.)[1:].reshape(2,2,2))
T.view_as_complex(T.arange(10.)[2:].reshape(2,2,2))
T.view_as_complex(T.arange(9.).reshape(3,3)[:,:2])
T.view_as_complex(T.ones(2,2).t()[:,::1])
T.view_as_complex(T.arange(4.).reshape(2,2).t())
T.view_as_complex(T.ones(2,2,dtype=T.int64))
T.view_as_complex(T.ones(()))
T.view_as_complex(T.ones(2))
T.view_as_real(T.ones(2))
T.ones(2).real
T.ones(2).imag
T.real(T.ones(2))
T.imag(T.ones(2))
T.tensor([1+2j,3-1j]).imag
T.tensor([1+2j,3-1j]).real
T.tensor(1+2j).imag
T.tensor([[1+2j,3-1j],[5,6]])[1:,:].t().imag
T.tensor([[1+2j,3-1j],[5,6]])[1:,1:].real
T.tensor([1+2j,3-1j,4]).imag[1:]
T.conj(T.ones(2))
T.conj(T.tensor([1+2j])).resolve_conj()
T.tensor([1+2j]).conj_physical()
T.tensor([1+2j]).conj_physical_()
T.conj_physical(T.ones(2,dtype=T.int64))
T.resolve_conj(T.ones(2))
T.resolve_neg(T.ones(2))
T.angle(T.tensor([1,-1,0]))
T.angle(T.tensor([1.,-1,0,float('nan')]))
T.angle(T.tensor([True]))
T.angle(T.tensor([1+1j,-1,0,-2j]))
T.isreal(T.tensor([1,1j]))
T.isreal(T.tensor([1,1]))
T.is_complex(T.ones(2))
T.is_conj(T.ones(2))
T.is_neg(T.ones(2))
T.sgn(T.tensor([3+4j,0]))
T.complex(T.ones(2),T.ones(2))
T.complex(T.ones(2,1),T.arange(3.))
T.complex(T.ones(2),T.ones(2,dtype=T.float64))
T.complex(T.ones(2,dtype=T.int64),T.ones(2))
T.polar(T.ones(2),T.arange(2.))
T.polar(T.ones(2),T.ones(2,dtype=T.float64))
T.heaviside(T.tensor([-1.,0,1,float('nan')]),T.tensor(.5))
T.heaviside(T.tensor([-1.,0,1]),T.tensor(1))
T.complex(real=T.ones(2),imag=T.ones(2))
T.polar(abs=T.ones(2),angle=T.ones(2))
T.tensor([1+2j]).real.requires_grad
"""
GRADIENTS = [
    "z.real.sum()",
    "(z.imag * z.real).sum()",
    "z.angle().sum()",
    "(T.view_as_real(z) ** 2).sum()",
    "z.t().imag[1].sum() * 3",
    "(z.conj() * z).real.sum()",
    "z[1].real.pow(3).sum()",
    "T.polar(z.abs() + 1, z.real).real.sum()",
    "z.sgn().real.sum()",
    "T.view_as_complex(T.view_as_real(z) * 2).imag.sum()",
]
WRITES = [
    "w.real.mul_(3.0)",
    "w.imag[0].fill_(5.0)",
    "w.mul_(2)",
    "w.t().real[0].copy_(w.imag[1].detach())",
    "setattr(w, 'real', T.ones(2, 2))",
    "setattr(w, 'imag', 2)",
]
WRITE = """(lambda z: (lambda w, v: ({}, T.autograd.grad((w * (1 + 2j)).real.sum() + v.sum(), z), w)[1:])(
    *(lambda w: (w, w.imag))(z * 2)))(T.tensor([[1 + 2j, 3 - 1j], [0, 4j]], requires_grad=True))"""


@table(PARTS)
def test_parts(expression):
    agree(expression)


@pytest.mark.parametrize("loss", GRADIENTS)
def test_gradients(loss):
    agree(f"(lambda z: T.autograd.grad({loss}, z))(T.tensor([[1 + 2j, 3 - 1j], [0, 4j]], requires_grad=True))")


@pytest.mark.parametrize("write", WRITES)
def test_gradients_after_writes_to_parts(write):
    agree(WRITE.format(write))


def test_writes_into_pairs_reach_the_real_base():
    x = rl.arange(8.0).requires_grad_()
    y = x * 2
    rl.view_as_complex(y.view(4, 2)).mul_(1j)
    (y * rl.arange(8.0)).sum().backward()
    assert x.grad.tolist() == [2, 0, 6, -4, 10, -8, 14, -12]


def test_parts_share_memory():
    z = rl.tensor([1 + 2j, 3])
    z.real = rl.tensor([7.0, 8.0])
    z[1:].imag.fill_(9)
    assert z.tolist() == [7 + 2j, 8 + 9j]
    assert rl.ones(2).real.tolist() == [1, 1] and rl.view_as_real(z)._base is z


def test_real_arguments_of_complex_results_have_gradients():
    x, y = (rl.tensor([0.5, 2.0], dtype=rl.float64, requires_grad=True) for _ in range(2))
    (rl.complex(x, y) * (3 + 4j)).real.sum().backward()
    assert x.grad.tolist() == [3, 3] and y.grad.tolist() == [-4, -4]


def test_conj_physical_keeps_real_tensors():
    x = rl.arange(6.0)[::2]
    assert x.conj_physical() is x
    z = rl.tensor([1 + 2j])
    assert z.conj_physical().data_ptr() != z.data_ptr() and z.conj_physical().item() == 1 - 2j
