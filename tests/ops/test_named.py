"""Results with names."""

import copy
import pickle

import pytest

import rushlight as rl
from rushlight.ops.named import FIELDS


def test_types_are_public_and_pickle():
    found = rl.tensor([[1.0, 3.0]]).max(1)
    kind = rl.return_types.max
    assert type(found) is kind and kind in rl.return_types.all_return_types and "max" in dir(rl.return_types)
    assert kind.n_fields == kind.n_sequence_fields == 2 and kind.n_unnamed_fields == 0
    for same in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert type(same) is kind and same.values.item() == 3 and same.indices.item() == 1
    values = found[0]
    assert values is found.values
    with pytest.raises(AttributeError, match="nothing"):
        rl.return_types.nothing


def test_construction():
    made = rl.return_types.sort((1, 2))
    assert (
        made.values == 1
        and isinstance(made, tuple)
        and str(made) == "rushlight.return_types.sort(\nvalues=1,\nindices=2)"
    )
    with pytest.raises(TypeError, match=r"takes a 2-sequence \(3-sequence given\)"):
        rl.return_types.sort((1, 2, 3))
    with pytest.raises(TypeError, match="sequence"):
        rl.return_types.sort(1)


def test_types_are_the_same_in_every_process():
    """Pickles name types that a new process has not made yet."""
    import subprocess
    import sys

    found = rl.linalg.eigh(rl.eye(2))
    code = f"import pickle; r = pickle.loads({pickle.dumps(found)!r}); print(type(r).__name__, r.eigenvalues.tolist())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "linalg_eigh [1.0, 1.0]", done.stderr


def test_fields_are_those_of_the_ops():
    x = rl.eye(2)
    results = [
        rl.frexp(x),
        rl.linalg.svd(x),
        rl.linalg.qr(x),
        rl.linalg.lu(x),
        rl.linalg.slogdet(x),
        rl.linalg.lstsq(x, x),
    ]
    results += [
        rl.linalg.inv_ex(x),
        rl.linalg.lu_factor_ex(x),
        rl.geqrf(x),
        rl.triangular_solve(x, x),
        rl.linalg.eig(x),
    ]
    for result in results:
        name = type(result).__name__
        assert type(result) is getattr(rl.return_types, name) and " ".join(result._fields) == FIELDS[name]


@pytest.mark.parametrize("name", ["cummax", "cummin", "max", "median", "min", "mode", "nanmedian", "sort"])
def test_every_op_returns_its_type(name):
    assert type(getattr(rl, name)(rl.rand(2, 3), dim=1)) is getattr(rl.return_types, name)
