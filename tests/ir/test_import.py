"""Importing the language must stay cheap: it loads neither NumPy nor anything else that is heavy."""

from __future__ import annotations

import subprocess
import sys
import textwrap

PROGRAM = textwrap.dedent(
    """
    import sys, time, types
    package = types.ModuleType("rushlight")  # the language alone, whatever the package itself imports
    package.__path__ = [sys.argv[1]]
    sys.modules["rushlight"] = package
    before = set(sys.modules)
    import rushlight.ir.build, rushlight.ir.derive, rushlight.ir.sizes
    import rushlight.ir.dtypes as dtypes
    from rushlight.ir.graph import Graph
    graph = Graph()
    with graph:
        x = graph.tensor((2, 3), dtypes.float32)
        graph.returns([rushlight.ir.build.sum(x * 2)])
    print(sorted(m for m in set(sys.modules) - before if not m.startswith("rushlight")))
    """
)


def test_import_loads_nothing_heavy():
    import rushlight.ir

    root = rushlight.ir.__path__[0].rsplit("/", 1)[0]
    run = subprocess.run([sys.executable, "-S", "-c", PROGRAM, root], capture_output=True, text=True, check=True)
    loaded = set(eval(run.stdout))
    heavy = {"numpy", "ast", "re", "typing", "inspect", "dataclasses", "hashlib", "llvmlite", "enum"}
    assert not loaded & heavy, loaded & heavy
