"""`out=`: what is written directly, what through a copy, what is refused."""

import sys
import threading
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


@table(WRITES)
def test_out_when_the_call_comes_again(expression):
    """The core then finds the plan itself."""
    agree(f"[{expression} for _ in range(3)][-1]", numbers)


def test_an_output_of_a_known_call_is_checked_each_time():
    x, out = rl.arange(6.0).reshape(2, 3), rl.empty(2, 3)
    for _ in range(3):
        assert rl.add(x, 1, out=out) is out
    version = out._version
    rl.add(x, 2, out=out)
    assert out.tolist() == [[2, 3, 4], [5, 6, 7]] and out._version == version + 1
    shared = rl.arange(7.0)  # the same layouts, over memory that is read
    with pytest.raises(RuntimeError, match="single memory location"):
        rl.add(shared[1:].view(2, 3), 1, out=shared[:6].view(2, 3))
    assert rl.add(shared[1:].view(2, 3), 1, out=shared[1:].view(2, 3)).tolist() == [[2, 3, 4], [5, 6, 7]]
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        rl.add(x.clone().requires_grad_(), 2, out=out)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        rl.add(x, 2, out=rl.empty(2, 3).requires_grad_())
    with rl.no_grad():
        assert rl.add(x, 3, out=rl.empty(2, 3).requires_grad_()).tolist() == [[3, 4, 5], [6, 7, 8]]


def test_a_product_of_the_right_dtype_is_written_without_a_copy():
    x, out = rl.eye(4), rl.empty(4, 4)
    for _ in range(2):
        rl.mm(x, x, out=out)
    assert any(plan is not None for plan in rl.mm.out_plans.values())
    assert out.tolist() == rl.eye(4).tolist()


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


SEVERAL = ["sort", "frexp", "aminmax", "linalg.eig", "linalg.eigh", "linalg.svd", "linalg.qr", "linalg.slogdet", "svd"]
SEVERAL += ["linalg.inv_ex", "linalg.lu_factor", "linalg.lu", "linalg.cholesky_ex", "linalg.ldl_factor", "geqrf", "lu"]


@pytest.mark.parametrize("name", SEVERAL)
def test_out_of_several_results_is_a_tuple_of_as_many_tensors(name):
    function = rl
    for part in name.split("."):
        function = getattr(function, part)
    made = rl.empty(0)
    for out in (made, rl.empty(2), 1, (), (made,), (made, 1), (1, 2), (made,) * 4):
        with pytest.raises(TypeError):
            function(rl.eye(2), out=out)
    assert made.shape == (0,)


def test_out_of_functions_of_several_ops_takes_no_gradient():
    x, place = rl.eye(2, requires_grad=True), rl.empty(2, dtype=rl.int64)
    for call in (
        lambda: rl.max(x, 0, out=(rl.empty(2), place)),
        lambda: rl.linalg.matrix_power(x, 3, out=rl.empty(2, 2)),
        lambda: rl.sort(x.detach(), out=(rl.empty(2, 2, requires_grad=True), rl.empty(2, 2, dtype=rl.int64))),
    ):
        with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
            call()


@pytest.mark.parametrize("dtype", [rl.bool, rl.uint8, rl.float16, rl.float32, rl.complex64])
def test_elements_that_share_memory_are_not_written(dtype):
    x = rl.ones(3, dtype=dtype)
    for write in (
        lambda z: z.logical_not_(),
        lambda z: z.copy_(x),
        lambda z: z.copy_(z),
        lambda z: rl.logical_and(x, x, out=z) if dtype is rl.bool else rl.add(x, x, out=z),
    ):
        with pytest.raises(RuntimeError, match="single memory location"):
            write(rl.zeros((), dtype=dtype).expand(3))
    for shape in ((1,), (0, 3), (1, 1)):  # no two elements
        assert rl.zeros((), dtype=dtype).expand(shape).logical_not_().shape == shape


def test_in_place_operands_over_one_storage_are_told_apart():
    """The very same places may be read while they are written; others that overlap may not."""
    x = rl.arange(6.0)
    assert x.mul_(x).tolist() == [0, 1, 4, 9, 16, 25]
    pairs = rl.arange(6.0).reshape(3, 2)
    assert pairs[:, 0].add_(pairs[:, 1]).tolist() == [1, 5, 9]
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:].add_(x[:-1])
    square = rl.arange(4.0).reshape(2, 2)
    with pytest.raises(RuntimeError, match="single memory location"):
        square.add_(square.t())
    shifted = rl.tensor([], dtype=rl.float32).set_(x.untyped_storage()[4:], 0, (5,), (1,))
    with pytest.raises(RuntimeError, match="single memory location"):
        x[:5].add_(shifted)


OUT_AND_GRADIENTS = {
    "leaf": lambda w: w,
    "view of a leaf, made without gradients": lambda w: without_gradients(w)[:2],
    "view of what has a gradient since": lambda w: view_before_a_write(w),
}


def without_gradients(w):
    with rl.no_grad():
        return w[:]


def view_before_a_write(w):
    base = rl.zeros(4)
    view = base[:2]
    base.mul_(w)
    return view


@pytest.mark.parametrize("made", OUT_AND_GRADIENTS.values(), ids=OUT_AND_GRADIENTS)
def test_what_takes_part_in_a_graph_is_no_output(made):
    out = made(rl.ones(4, requires_grad=True))
    rl.exp(rl.ones(out.shape), out=rl.empty(out.shape))  # a call that is known does not see less
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        rl.exp(rl.ones(out.shape), out=out)


def test_equal_static_arguments_of_other_types_are_refused_each_time():
    x, out = rl.ones(2, 3), rl.empty(2)
    for _ in range(2):
        rl.sum(x, 1, out=out)
        with pytest.raises(TypeError, match="'dim'"):
            rl.sum(x, 1.0, out=out)
        with pytest.raises(TypeError, match="'dim'"):
            rl.sum(x, 1.0)


def test_one_output_is_not_given_in_a_tuple():
    with pytest.raises(TypeError, match="must be Tensor, not tuple"):
        rl.add(rl.ones(2), 1, out=(rl.empty(2),))


def test_forward_mode_does_not_follow_outputs():
    forward = rl.autograd.forward_ad
    with forward.dual_level():
        moving = forward.make_dual(rl.ones(2), rl.ones(2))
        for x, out in ((moving, rl.empty(2)), (rl.ones(2), moving)):
            with pytest.raises(NotImplementedError, match="out= function"):
                rl.mul(x, 2, out=out)


def test_threads_write_with_plans_that_others_make():
    def write(failures):
        try:
            for size in range(1, 120):
                out = rl.empty(size)
                if rl.cosh(rl.zeros(size), out=out).sum().item() != size:
                    failures.append(size)
        except Exception as error:
            failures.append(error)

    failures, interval = [], sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=write, args=(failures,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures
