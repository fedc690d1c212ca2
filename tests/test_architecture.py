"""The rooms' order: a room imports only from rooms above it."""

import ast
import pathlib
import re

import pytest

SOURCE = pathlib.Path(__file__).parent.parent / "src" / "rushlight"
# Outermost last. A module in a room may import its own room and any before it.
ORDER = [
    "core",
    "ir",
    "compiler",
    "random_generator",
    "random",
    "ops",
    "interop",
    "sparse",
    "quantized",
    "fft",
    "signal",
    "linalg",
    "masked",
    "autograd",
    "nn",
    "func",
    "optim",
    "distributions",
    "amp",
    "data",
    "serialization",
    "special",
    "quasirandom",
    "array_api",
]
# A room may reach one that comes later in these places, each for a reason.
ALLOWED = {
    ("ops", "interop"): "arrays: methods of Tensor that exchange memory are part of the catalogue",
    ("ops", "linalg"): "names of functions and methods that need LAPACK, loaded when one is called",
    ("ops", "random"): "samplers",
    ("interop", "array_api"): "a method of Tensor names the namespace",
    ("ops", "quantized"): "the namespace ops.quantized, loaded when it is first named",
    ("ops", "sparse"): "sparsity: methods of every tensor load the room of sparse tensors on first use",
}


def room_of(path: pathlib.Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: pathlib.Path):
    """Rooms that a module imports, relative to the package, at the top or inside functions."""
    depth = len(path.relative_to(SOURCE).parts) - 1
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = path.relative_to(SOURCE).parts[: depth - node.level + 1]
            names = [node.module.split(".")[0]] if node.module else [alias.name for alias in node.names]
            yield from ([above[0]] if above else names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rushlight":
            yield from node.module.split(".")[1:2]


FILES = [p for p in SOURCE.rglob("*.py") if p.name != "__init__.py" or p.parent != SOURCE]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_room_imports_only_rooms_above_it(path):
    room = room_of(path)
    if room not in ORDER:
        return
    for other in imported_rooms(path):
        if other in ORDER and other != room and (room, other) not in ALLOWED:
            assert ORDER.index(other) < ORDER.index(room), (
                f"{path.relative_to(SOURCE)} imports {other}, a room below {room}"
            )


def test_every_room_is_in_the_order():
    rooms = {room_of(p) for p in SOURCE.rglob("*.py")} - {"__init__"}
    thin = {
        "accelerator",
        "aliases",
        "backends",
        "cli",
        "compiling",
        "cpu",
        "cuda",
        "multiprocessing",
        "running",
        "special",
        "storage",
        "testing",
        "utils",
    }  # for users
    thin |= {
        "_C",
        "__config__",
        "_six",
        "_tensor",
        "_utils",
        "__main__",
        "absent",
        "functional",
        "overrides",
        "return_types",
        "torch_version",
        "types",
        "version",
    }
    assert rooms <= set(ORDER) | thin, f"rooms without a place in the order: {rooms - set(ORDER) - thin}"


def test_core_knows_no_op():
    """The compiled room calls ops by the names that Python's operators need, and nothing else."""
    text = "".join(p.read_text() for p in (SOURCE / "core").glob("*.p*x*"))
    assert "import rushlight" not in text and "from .." not in text


def test_importing_loads_nothing_heavy():
    import subprocess
    import sys

    code = (
        "import rushlight, sys; print([m for m in ('numpy', 'llvmlite', 'inspect', 'dataclasses') if m in sys.modules])"
    )
    heavy = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert heavy == "[]", f"import rushlight loads {heavy}"


def test_the_document_lists_the_rooms_in_their_order():
    document = (SOURCE.parent.parent / "docs" / "architecture.md").read_text()
    listed = re.findall(r"^\| ((?:`\w+(?:/|\.py)`(?:, )?)+) \|", document, re.M)
    rooms = [room for names in listed for room in re.findall(r"`(\w+)", names) if room in ORDER]
    thin = {"random_generator", "special"}
    assert sorted(rooms, key=ORDER.index) == rooms and set(ORDER) - thin <= set(rooms)
