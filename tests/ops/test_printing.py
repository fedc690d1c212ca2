"""`repr` of tensors: PyTorch's, character by character."""

import pytest

import rushlight as rl
from rushlight.ir import dtypes

from .parity import agree, table

SHAPES = [(), (0,), (2, 0, 3), (1,), (30,), (999,), (1001,), (2, 3), (40, 40), (7, 8, 30), (2, 2000), (3, 1, 500)]
SPECIAL = [
    [float("inf")],
    [float("nan"), 1.0],
    [float("inf"), 0.0],
    [-float("inf"), 1.5, 2],
    [0.0, 0.0],
    [-0.0],
    [1e-10],
    [1e9, 1.0],
    [1.5, 1e6],
    [1e8, 1],
    [100000001.0],
    [1.0, 1001.0],
    [1.5, 1000.5],
    [1e-4, 1e-5],
]
OPTIONS = [
    {"precision": 2},
    {"profile": "short"},
    {"profile": "full"},
    {"sci_mode": True},
    {"sci_mode": False},
    {"edgeitems": 0, "threshold": 2},
    {"threshold": 5, "edgeitems": 1},
    {"linewidth": 120},
]


@pytest.fixture
def torch(monkeypatch):
    """PyTorch, whose name the dtypes take over; its options as they were afterwards."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(dtypes, "_MODULE", "torch")
    yield torch
    torch.set_printoptions(profile="default")
    rl.set_printoptions(profile="default")


def both(torch, values, dtype: str, shape=None):
    """The same tensor of both engines."""
    theirs = torch.tensor(values, dtype=torch.complex128).to(getattr(torch, dtype))
    theirs = theirs if shape is None else theirs.reshape(shape)
    ours = rl.tensor(theirs.reshape(-1).tolist(), dtype=getattr(rl, dtype)).reshape(tuple(theirs.shape))
    return theirs, ours


@pytest.mark.parametrize("dtype", [d.name for d in dtypes.ALL])
def test_shapes_and_scales(torch, dtype):
    torch.manual_seed(0)
    for shape in SHAPES:
        for scale in (1, 1e-6, 1e5) if dtype in ("float32", "float64", "complex64") else (10,):
            values = torch.randn(shape, dtype=torch.complex128) * scale
            if not dtype.startswith("complex"):
                values = values.real.abs() if dtype == "uint8" else values.real
            theirs, ours = both(torch, values.reshape(-1).tolist(), dtype, shape)
            assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("values", SPECIAL, ids=str)
def test_special_numbers(torch, values):
    for dtype in ("float32", "float64", "complex64"):
        theirs, ours = both(torch, values, dtype)
        assert repr(ours) == repr(theirs) and repr(ours[0]) == repr(theirs[0])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(torch, options):
    torch.set_printoptions(**options)
    rl.set_printoptions(**options)
    torch.manual_seed(0)
    for values in (torch.randn(10, 10), torch.randn(2, 2, 9) * 1e-5, torch.ones(40, 50), torch.arange(20.0)):
        theirs, ours = both(torch, values.tolist(), "float32")
        assert repr(ours) == repr(theirs)


def test_facts_after_the_numbers():
    x = rl.ones(2, requires_grad=True)
    assert repr(x) == "tensor([1., 1.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"
    assert repr(x.detach().double()) == "tensor([1., 1.], dtype=rushlight.float64)"
    assert repr(rl.empty(2, 0, dtype=rl.int32)) == "tensor([], size=(2, 0), dtype=rushlight.int32)"


def test_subclasses_show_their_name():
    class Mine(rl.Tensor):
        pass

    assert repr(Mine([1.0])) == "Mine([1.])"


def test_format():
    assert f"{rl.tensor(1.5)}" == "1.5" and f"{rl.tensor(2.0):.3f}" == "2.000" and f"{rl.ones(1)}" == "tensor([1.])"
    with pytest.raises(TypeError):
        format(rl.ones(2), ".2f")


def test_large_tensors_are_read_in_part():
    """A tensor over memory that is mostly not there prints if only its ends are read."""
    wide = rl.zeros(1).expand(1 << 40)
    assert repr(wide) == "tensor([0., 0., 0.,  ..., 0., 0., 0.])"
    with rl.ops.printing.printoptions(precision=1):
        assert repr(rl.tensor(1.25)) == "tensor(1.2)"
    assert repr(rl.tensor(1.25)) == "tensor(1.2500)"


NAMED = """
x[0]
x[1:, 0]
x[:, None]
x[0, ...]
x.view(-1)
x.double()
x.sum()
x.sum(0)
x.max()
x ** 2
2 - x
2 / x
x.clamp(0, 1)
x @ x.t()
x.norm()
x[T.tensor([0])]
T.nn.functional.linear(x, x.detach(), None)
T.nn.functional.linear(x, x.detach(), T.ones(3))
T.nn.functional.mse_loss(x, x.detach())
T.nn.functional.cross_entropy(x, T.zeros(3, dtype=T.int64))
T.nn.functional.layer_norm(x, (4,))
T.nn.functional.dropout(x)
"""


@table(NAMED)
def test_names_of_nodes(expression):
    agree(f"(lambda x: {expression})(T.ones(3, 4, requires_grad=True)).grad_fn.name()")


def test_named_results_show_a_field_a_line():
    shown = "rushlight.return_types.sort(\nvalues=tensor([1, 2]),\nindices=tensor([1, 0]))"
    assert repr(rl.tensor([2, 1]).sort()) == shown
