"""The list of what is not supported is true, and its page is up to date."""

import importlib
import importlib.util
import pathlib

import pytest

import rushlight as rl
from rushlight.absent import ABSENT, GROUPS, REFUSED, reason

TOOL = pathlib.Path(__file__).parent.parent / "tools" / "list_unsupported.py"


def owner_of(name):
    """The module or class of ours that has PyTorch's place, or None."""
    found = rl
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def is_there(owner, name):
    found = owner_of(owner)
    if found is None:
        return False
    if hasattr(found, name):
        return True
    return hasattr(found, "__path__") and importlib.util.find_spec(f"{found.__name__}.{name}") is not None


@pytest.mark.parametrize("group", [g for g in GROUPS if g.kind == ABSENT], ids=lambda g: g.title)
def test_absent_names_are_absent(group):
    there = [f"{owner}.{name}" for owner, names in group.names.items() for name in names if is_there(owner, name)]
    assert not there, f"supported now: take them out of absent.py and run tools/list_unsupported.py: {there}"


@pytest.mark.parametrize("name", [n for g in GROUPS if g.kind == REFUSED for n in g.qualified()])
def test_refused_names_raise(name):
    function = getattr(owner_of(name.rpartition(".")[0]), name.rpartition(".")[2])
    with pytest.raises((NotImplementedError, RuntimeError), match="not supported|removed"):
        function(rl.ones(2, 3), "a")


def test_no_name_is_listed_twice():
    names = [name for group in GROUPS for name in group.qualified()]
    assert len(set(names)) == len(names) > 150


def test_missing_attributes_say_why():
    with pytest.raises(AttributeError, match=r"'AliasDb': Internals of PyTorch's C\+\+ library"):
        rl.AliasDb
    with pytest.raises(AttributeError, match="no attribute 'nothing_at_all'$"):
        rl.nothing_at_all
    assert reason("ones") is None and "C++" in reason("classes")


@pytest.mark.parametrize(
    "owner, name, why",
    [("utils", "tensorboard", "tensorboardX"), ("autograd", "profiler", "cProfile"), ("nn", "cpp", "C\\+\\+")],
)
def test_missing_attributes_of_packages_say_why(owner, name, why):
    with pytest.raises(AttributeError, match=f"module 'rushlight.{owner}' has no attribute '{name}': .*{why}"):
        getattr(getattr(rl, owner), name)
    with pytest.raises(AttributeError, match="no attribute 'nothing_at_all'$"):
        getattr(rl, owner).nothing_at_all


def test_missing_modules_say_why():
    with pytest.raises(ModuleNotFoundError, match="^there is no rushlight.distributed. Training on several machines"):
        importlib.import_module("rushlight.distributed")
    with pytest.raises(ModuleNotFoundError, match="^No module named 'rushlight.nothing_at_all'$"):
        importlib.import_module("rushlight.nothing_at_all")
    assert importlib.util.find_spec("rushlight.distributed") is None  # who only asks gets an answer


def test_the_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("list_unsupported", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text() == tool.page(), "run tools/list_unsupported.py"
    assert max(map(len, tool.page().splitlines())) <= 120
