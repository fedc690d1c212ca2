"""Functions of rooms that are loaded late: they explain failures, keep their names, and can be redirected."""

import copy
import inspect
import pickle
import subprocess
import sys

import pytest

import rushlight as rl
from rushlight.core import engine


@pytest.mark.parametrize("path", ["linalg.svd", "fft.rfft", "linalg.cond"])
def test_functions_of_rooms(path):
    room, name = path.split(".")
    function = getattr(getattr(rl, room), name)
    assert isinstance(function, engine.Composite) and function.__name__ == name
    assert pickle.loads(pickle.dumps(function)) is function is copy.deepcopy(function)
    assert next(iter(inspect.signature(function).parameters)) in ("input", "A")
    with pytest.raises(TypeError, match="must be Tensor"):
        function("a")


def test_late_functions_of_the_catalogue():
    assert isinstance(rl.svd, engine.Composite) and pickle.loads(pickle.dumps(rl.svd)) is rl.svd
    assert rl.svd is not rl.linalg.svd
    assert rl.allclose(rl.ones(2, 2).svd()[1], rl.svd(rl.ones(2, 2))[1])


def test_ops_are_pickled_by_name():
    for op in (rl.mm, rl.ones(1).add_.__func__, rl.linalg.inv):
        assert pickle.loads(pickle.dumps(op)) is op and len(pickle.dumps(op)) < 100
    code = f"import pickle; print(pickle.loads({pickle.dumps(rl.linalg.inv)!r}).name)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "linalg_inv"


def test_redirection_is_undone():
    function = engine.Composite(lambda x: x + 1, "plus")
    function.redirect(lambda x: x + 2)
    assert function(1) == 3
    function.redirect(None)
    assert function(1) == 2
