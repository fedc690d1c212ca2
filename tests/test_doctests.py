"""The examples in docstrings: every `>>>` that the documentation shows runs, and prints what it says."""

import doctest
import importlib
import pkgutil

import pytest

import rushlight

FINDER = doctest.DocTestFinder(exclude_empty=True)


def modules():
    """All modules of the package but those that are programs."""
    for found in pkgutil.walk_packages(rushlight.__path__, "rushlight."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def collect():
    """Each docstring with an example, once, by its name."""
    tests, loaded = {}, list(modules())
    functions = [getattr(module, name) for module in loaded for name in getattr(module, "__all__", ())]
    for function in (*rushlight.ops.FUNCTIONS.values(), *rushlight.ops.METHODS.values(), *functions):
        document = getattr(function, "__doc__", None) or ""
        if ">>>" in document and hasattr(function, "__name__"):
            tests.setdefault(document, (f"rushlight.{function.__name__}", document))
    for module in loaded:
        for found in FINDER.find(module, module.__name__):
            if found.examples:
                tests.setdefault(found.docstring, (found.name, found.docstring))
    return sorted(tests.values())


def run(name: str, document: str) -> str:
    """What the examples print that the docstring does not say; nothing when all is well."""
    names = {"rushlight": rushlight, "nn": rushlight.nn, "F": rushlight.nn.functional}
    test = doctest.DocTestParser().get_doctest(document, names, name, None, 0)
    complaints = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=complaints.append)
    return "".join(complaints)


EXAMPLES = collect()


@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled", "ignore:.*weight_norm. is deprecated")
@pytest.mark.parametrize("name, document", EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_example(name, document):
    rushlight.manual_seed(0)
    complaints = run(name, document)
    assert not complaints, complaints


def test_wrong_examples_are_found():
    assert EXAMPLES and "Expected" in run("wrong", ">>> rushlight.ones(1)\ntensor([2.])\n")
