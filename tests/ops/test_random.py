"""Random tensors draw PyTorch's streams, in PyTorch's order of memory, and refuse what it refuses."""

import pytest

import rushlight as rl

from .parity import agree, table

DRAWS = """
T.poisson(T.ones(30)*5)
T.poisson(T.linspace(0,60,50))
T.poisson(T.linspace(0,60,50,dtype=T.float64).reshape(5,10).t())
T.poisson(-T.ones(3))
T.poisson(T.ones(3,dtype=T.int64))
T.binomial(T.ones(20)*10,T.ones(20)*.3)
T.binomial(T.ones(30)*100,T.linspace(0,1,30))
T.binomial(T.ones(3)*10,T.ones(3,dtype=T.float64)*.5)
T.binomial(T.ones(3,dtype=T.int64)*10,T.ones(3)*.5)
T.bernoulli(T.tensor([1,0]))
T.bernoulli(T.full((5,),0.4,requires_grad=True))
T.bernoulli(T.full((5,),0.4,requires_grad=True)).grad_fn.name()
T.autograd.grad(T.bernoulli(x:=T.full((5,),0.4,requires_grad=True)).sum(),x)
T.autograd.grad(T.poisson(x:=T.full((5,),4.0,requires_grad=True)).sum(),x)
T.zeros((),dtype=T.complex64).conj().imag.bernoulli_(0.9)
T.zeros((1,1),dtype=T.complex64).conj().imag.normal_()
T.bernoulli(T.tensor([1.5,0]))
T.bernoulli(T.tensor([.5,0]),0.5)
T.bernoulli(T.tensor([.5,0.3,.2,.1,.8]*5))
T.bernoulli(T.tensor([.5,0.3,.2,.1,.8]*5,dtype=T.float64))
T.bernoulli(T.linspace(0,1,12).reshape(3,4).t())
T.ones(3).bernoulli_(T.tensor([.5,.5,.2]))
T.ones(2,3).t().bernoulli_(T.tensor([.5,.5]))
T.ones(3).bernoulli_(T.tensor([5]))
T.ones(3).bernoulli_(2)
T.ones(3,dtype=T.int64).bernoulli_()
T.multinomial(T.tensor([1,2]),2)
T.multinomial(T.tensor([1.,2]),3)
T.multinomial(T.tensor([1.,-2]),1)
T.multinomial(T.tensor([1.,-2]),1,True)
T.multinomial(T.tensor([1.,-2]),2,True)
T.multinomial(T.tensor([0.,0]),2,True)
T.multinomial(T.tensor([0.,0]),1)
T.multinomial(T.tensor([1.,float('nan')]),4,True)
T.multinomial(T.tensor([1.,2,3,4,5]),20,True)
T.multinomial(T.tensor([[1.,2,3,4,5],[5,4,3,2,1]]),3,True)
T.multinomial(T.tensor([[1.,2,3,4,5],[5,4,3,2,1]]),3)
T.multinomial(T.tensor([[1.,2,3,4,5],[5,4,3,2,1]]),1)
T.multinomial(T.tensor([[1.,2,3,4,5],[5,4,3,2,1]],dtype=T.float64),5)
T.multinomial(T.ones(2,2,2),1)
T.multinomial(T.ones(2),0)
T.rand(2,dtype=T.int64)
T.randn(2,dtype=T.int64)
T.rand(40)
T.rand(size=(3,4))
T.rand(3,4,dtype=T.float64)
T.rand(3,4,dtype=T.float16)
T.rand(3,4,dtype=T.bfloat16)
T.rand(2,requires_grad=True)
T.randn(40)
T.randn(5)
T.randn(3,4,dtype=T.float64)
T.randn(5,5,dtype=T.bfloat16)
T.randint(3)
T.randint(3,(2,))
T.randint(3,5,(2,))
T.randint(5,3,(2,))
T.randint(low=3,high=5,size=(2,))
T.randint(high=5,size=(2,))
T.randint(3,high=5,size=(2,))
T.randint(3,size=(2,))
T.randint(3,(2,),dtype=T.float32)
T.randint(0.5,3,(2,))
T.randint(0,2**40,(5,))
T.randperm(5)
T.randperm(100)
T.randperm(-1)
T.randperm(5,dtype=T.int32)
T.normal(T.zeros(2),T.ones(2))
T.normal(0.,T.ones(2))
T.normal(3.,T.ones(20)*2)
T.normal(T.zeros(2),2.)
T.normal(T.zeros(2))
T.normal(0.,1.,(2,))
T.normal(0.,1.)
T.normal(0,1,(2,))
T.normal(0.,-1.,(2,))
T.normal(mean=0.5,std=2.,size=(20,))
T.normal(T.zeros(2),T.tensor([-1.,1]))
T.normal(mean=T.zeros(2),std=T.ones(3))
T.normal(mean=T.zeros(2,1),std=T.ones(3))
T.normal(mean=T.arange(1.,4),std=T.arange(3.,0,-1))
T.zeros(3,dtype=T.int64).uniform_()
T.zeros(3).uniform_(1,0)
T.zeros(3).uniform_(-1,3)
T.zeros(3).uniform_(to=5)
T.zeros(3,4).t().uniform_()
T.zeros(3,8)[:,::2].uniform_()
T.zeros(3,8)[:,::2].normal_()
T.zeros(4,8).t().normal_()
T.zeros(4,8).normal_(1,3)
T.zeros(3).random_(5)
T.zeros(3).random_(2,5)
T.zeros(3).random_(to=5)
T.zeros(3).random_(**{'from':2,'to':5})
T.zeros(3).random_()
T.zeros(3,dtype=T.int64).random_()
T.zeros(3,dtype=T.uint8).random_()
T.zeros(3,dtype=T.int64).random_(2,None)
T.zeros(3).exponential_(-1)
T.zeros(3).exponential_()
T.zeros(3).exponential_(lambd=2)
T.zeros(3).cauchy_()
T.zeros(3).cauchy_(1,2)
T.zeros(3).log_normal_()
T.zeros(3).geometric_(.3)
T.zeros(3).geometric_()
T.zeros(3).geometric_(1.5)
T.zeros(3,requires_grad=True).uniform_()
(T.zeros(3,requires_grad=True)*1).uniform_()
T.zeros(3).expand(2,3).uniform_()
T.rand_like(T.ones(2,dtype=T.int64))
T.rand_like(T.ones(2,dtype=T.float64))
T.randn_like(T.ones(2,3).t())
T.randint_like(T.ones(2,dtype=T.float64),5)
T.randint_like(T.ones(2,dtype=T.float64),3,5)
T.rand(3,generator=5)
T.rand(3,generator=T.Generator().manual_seed(3))
T.rand(2,dtype=T.complex64)
T.randn(2,dtype=T.complex64)
T.randn(20,dtype=T.complex128)
T.randn((),dtype=T.complex128)
T.empty_strided((2,3),(1,2),dtype=T.complex128).normal_()
T.empty_strided((40,3),(1,40),dtype=T.complex64).uniform_()
T.empty(7,dtype=T.int32).random_(-5,9)
T.randn(0)
T.rand(0,3)
T.randn(2,3,out=T.zeros(1))
T.randint(5,(2,),out=T.zeros(2))
T.empty((2,3,2)).transpose(0,1).normal_()
"""


@table(DRAWS)
def test_draws(expression):
    agree(expression)


def test_generators_are_independent():
    first, second = rl.Generator().manual_seed(3), rl.Generator().manual_seed(3)
    state = rl.get_rng_state()
    assert rl.rand(20, generator=first).tolist() == rl.rand(20, generator=second).tolist()
    assert rl.get_rng_state().tolist() == state.tolist()


def test_a_state_restores_the_stream():
    state = rl.get_rng_state()
    assert state.dtype is rl.uint8 and state.shape == (5056,)
    first = rl.randn(33)
    rl.set_rng_state(state)
    assert rl.randn(33).tolist() == first.tolist()
    with rl.fork_rng():
        inside = rl.rand(4)
    assert rl.rand(4).tolist() == inside.tolist()


def test_filling_counts_as_a_write():
    x = rl.ones(3, requires_grad=True)
    y = x * 1
    z = y * y
    y.uniform_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_filling_cuts_the_gradient():
    x = rl.ones(3, requires_grad=True)
    y = x * 2
    y[1:].normal_()
    y.sum().backward()
    assert x.grad.tolist() == [2, 0, 0]


def test_long_streams_do_not_depend_on_threads():
    def drawn(threads):
        rl.set_num_threads(threads)
        rl.manual_seed(5)
        return rl.rand(1 << 23).sum().item(), rl.rand(1).item()

    assert drawn(1)[1] == drawn(2)[1]
