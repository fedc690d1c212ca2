"""Every function of the catalogue with a sparse tensor: it works or refuses, and never reads what is not there."""

import pickle
import warnings
from copy import deepcopy

import pytest

import rushlight as rl
from rushlight.ops import FUNCTIONS, METHODS, activation

S = rl.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, -4.0, 5.0], (3, 3))
SWITCHES = ("set_", "use_", "manual_seed", "seed", "fork")  # change modes
NAMES = sorted(
    {*FUNCTIONS, *METHODS, *activation.FUNCTIONAL} - {n for n in {*FUNCTIONS, *METHODS} if n.startswith(SWITCHES)}
)


def tensors_of(value):
    if isinstance(value, rl.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from tensors_of(part)


@pytest.mark.parametrize("start", range(0, len(NAMES), 60))
def test_every_function(start):
    for name in NAMES[start : start + 60]:
        function = FUNCTIONS.get(name) or METHODS.get(name) or activation.FUNCTIONAL[name]
        for kind in (S, S.coalesce(), S.to_sparse_csr()):
            for arguments in (
                (kind,),
                (kind, kind),
                (rl.ones(3, 3), kind),
                (kind, 1),
                (kind, rl.ones(3, 3)),
                ([kind, kind],),
            ):
                fresh = [a.clone() if isinstance(a, rl.Tensor) else a for a in arguments]
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        found = function(*fresh)
                except (RuntimeError, TypeError, IndexError, ValueError):
                    continue
                for made in tensors_of(found):
                    assert repr(made), name


REFUSED = {
    "exp": (S,),
    "cos": (S,),
    "cumsum": (S, 0),
    "conv2d": (S, S),
    "softmax": (S, 1),
    "where": (S, S, S),
    "lt": (S, S),
    "argmax": (S,),
    "sigmoid": (S,),
    "angle": (rl.ones(3), S),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_op_and_the_way_out(name):
    with pytest.raises(NotImplementedError, match=r"'SparseCPU' backend.*to_dense\(\)"):
        getattr(rl, name)(*REFUSED[name])
    with pytest.raises(NotImplementedError, match="SparseCsrCPU"):
        rl.exp(S.to_sparse_csr())


def test_out():
    out, dense = rl.zeros(3, 3, layout=rl.sparse_coo), rl.empty(3, 2)
    assert rl.add(S, S, out=out) is out and rl.equal(out.to_dense(), 2 * S.to_dense())
    assert rl.mm(S, rl.ones(3, 2), out=dense) is dense and dense.tolist() == [[3.0] * 2, [1.0] * 2, [0.0] * 2]
    with pytest.raises(RuntimeError, match="expected a tensor of layout"):
        rl.add(S, S, out=dense)


def test_copies_and_pickles():
    for s in (S, S.coalesce(), S.to_sparse_csr(), S.to_sparse_csc()):
        s = s.detach().clone().requires_grad_()
        s.note = "kept"
        s.grad = s.detach() * 2
        for copy in (deepcopy(s), pickle.loads(pickle.dumps(s))):
            assert repr(copy) == repr(s) and copy.requires_grad and copy.note == "kept"
            copy.detach().mul_(0)
            assert rl.equal(s.detach().to_dense(), S.to_dense())
        assert rl.equal(deepcopy(s).grad, s.grad)
    with pytest.raises(RuntimeError, match="graph leaves"):
        deepcopy(s * 2)
    parameter = deepcopy(rl.nn.Parameter(S))
    assert type(parameter) is rl.nn.Parameter and repr(parameter).startswith("Parameter containing:\ntensor(indices")


def test_files(tmp_path):
    for s in (S, S.coalesce(), S.to_sparse_csr(), S.to_sparse_csc(), rl.nn.Parameter(S)):
        rl.save({"s": s}, tmp_path / "file")
        found = rl.load(tmp_path / "file")["s"]
        assert repr(found) == repr(s) and type(found) is type(s)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_files_of_pytorch(tmp_path):
    torch = pytest.importorskip("torch")
    for layout in ("sparse_coo", "sparse_csr", "sparse_csc"):
        torch.save([torch.eye(3).to_sparse(layout=getattr(torch, layout))], tmp_path / "file")
        (found,) = rl.load(tmp_path / "file")
        assert found.layout is getattr(rl, layout) and rl.equal(found.to_dense(), rl.eye(3))
    torch.save(torch.sparse_coo_tensor([[0, 9]], [1.0, 2.0], (2,), check_invariants=False), tmp_path / "file")
    with pytest.raises(Exception, match="found index 9"):
        rl.load(tmp_path / "file")
