"""`out=`: what is written directly, what through a copy, what is refused."""

import warnings

import pytest

import rushlight as rl

from .parity import agree, numbers, table

WRITES = """
(lambda o: (T.add(X,Y,out=o) is o, o))(T.empty(3,4,dtype=T.float64))
(lambda o: (T.add(X,Y,out=o), o))(T.empty(4,3,dtype=T.float64).t())
(lambda o: (T.exp(X.float(),out=o), o))(T.empty(3,4,dtype=T.float64))
(lambda o: (T.sum(X,1,out=o), o))(T.empty(3,dtype=T.float64))
(lambda o: (T.sum(X.float(),1,out=o), o))(T.empty(3,dtype=T.float64))
(lambda o: (T.sum(L([[1,2]]),1,out=o), o))(T.empty(1,dtype=T.int8))
(lambda o: (T.max(X,1,out=o), o))((T.empty(3,dtype=T.float64),T.empty(3,dtype=T.int64)))
(lambda x: (T.mul(x,x,out=x), x))(X.clone())
(lambda x: T.add(x,x.t(),out=x))(X[:,:3].clone())
(lambda x: T.add(x[:-1],1,out=x[1:]))(X.clone())
T.add(X,Y,out=T.empty(0,dtype=T.float64))
T.add(X,Y,out=T.empty(2,2,dtype=T.float64))
T.add(X,Y,out=T.empty(3,4,dtype=T.int64))
T.add(X,Y,out=T.empty(1,dtype=T.float64).expand(3,4))
T.mm(X,X.t(),out=T.empty(3,3))
T.signbit(X,out=T.empty(3,4))
T.argmax(X,1,out=T.empty(3))
T.positive(X,out=X)
T.add(X.requires_grad_(),Y,out=T.empty(3,4,dtype=T.float64))
T.nn.functional.normalize(X,out=T.empty(3,4,dtype=T.float64))
T.nn.functional.avg_pool2d(X[None],2,out=T.empty(1,1,2,dtype=T.float64))
"""


@table(WRITES)
def test_out(expression):
    agree(expression, numbers)


def test_a_fitting_output_is_written_without_a_plan_for_the_copy():
    x, out = rl.ones(3, 4), rl.empty(3, 4)
    rl.tanh(x, out=out)
    ((_, layouts),) = rl.tanh.out_plans
    assert layouts == (out._layout,) and rl.tanh.out_plans.popitem()[1] is not None
    assert out.tolist() == x.tanh().tolist()


def test_a_product_may_overwrite_its_operand():
    x = rl.arange(9.0).reshape(3, 3)
    expected = (x @ x).tolist()
    assert rl.mm(x, x, out=x).tolist() == expected


def test_resizing_a_full_output_warns():
    with warnings.catch_warnings(), pytest.raises(UserWarning):
        warnings.simplefilter("error")
        rl.add(rl.ones(2), 1, out=rl.ones(3))
