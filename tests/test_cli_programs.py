"""`rushlight run` runs programs as `python` does, with their children."""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

import rushlight as rl
from rushlight import cli

SOURCE = str(pathlib.Path(rl.__file__).parent.parent)


def run(*arguments, folder=None, **environment):
    command = [sys.executable, "-m", "rushlight", "run", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": SOURCE, **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=folder, env=environment)


def python(*arguments, folder=None):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=folder)


SHOW = """
import atexit, os, pickle, sys
class Own: pass
atexit.register(lambda: print("at exit", isinstance(pickle.loads(pickle.dumps(Own())), Own)))
main = sys.modules["__main__"]
print(__name__, __file__, __package__, __cached__ and "cached")
print(getattr(__spec__, "name", None), type(__loader__).__name__)
print(sys.argv, sys.path[0], main.__dict__ is globals(), sorted(globals()))
"""


@pytest.fixture
def programs(tmp_path):
    """A script, a folder, an archive and a package that show what they find."""
    for name in ("folder", "package"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__main__.py").write_text(SHOW)
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "part.py").write_text(SHOW)
    (tmp_path / "script.py").write_text(SHOW)
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.write(tmp_path / "script.py", "__main__.py")
    return tmp_path


@pytest.mark.parametrize("program", ["./script.py", "folder", "archive.zip", "-m package", "-m package.part"])
def test_a_program_finds_what_python_gives_it(program, programs):
    arguments = [*program.split(), "--help", "-m", "x"]
    ours, theirs = run(*arguments, folder=programs), python(*arguments, folder=programs)
    assert theirs.returncode == 0 and (ours.returncode, ours.stderr) == (0, "")
    assert ours.stdout == theirs.stdout


FAILING = {
    "raises": "def f():\n    raise ValueError('bad')\nf()\n",
    "syntax": "x = (\n",
    "exit code": "import sys\nsys.exit(7)\n",
    "interrupt": "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n",
    "hook": "import sys\nsys.excepthook = lambda t, e, b: print('hook', t.__name__, b.tb_lineno)\n1 / 0\n",
}


@pytest.mark.parametrize("text", FAILING.values(), ids=FAILING)
def test_a_program_fails_as_under_python(text, tmp_path):
    (tmp_path / "script.py").write_text(text)
    ours, theirs = (start("script.py", folder=tmp_path) for start in (run, python))
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "which program?"),
        (["-x"], "there is no option '-x'"),
        (["-m"], "-m needs the name of a module"),
    ],
)
def test_programs_that_are_not_named(arguments, message, capsys):
    with pytest.raises(SystemExit, match="^2$"):
        cli.main(["run", *arguments])
    assert f"rushlight run: {message}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["-m", "nothing.at.all"], "there is no module named 'nothing.at.all'"),
        (["-m", "torch.distributed.launch"], "there is no rushlight.distributed. Training on several machines"),
        (["."], "there is no '__main__' module in '.'"),
    ],
)
def test_programs_that_are_not_there(arguments, message, tmp_path):
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(f"rushlight run: {message}")
    assert done.stderr.count("\n") == 1


def test_modules_of_torch_run():
    done = run("-m", "torch.utils.collect_env")
    assert "self-test  passed" in done.stdout, done.stderr


def test_help(capsys):
    cli.main(["run", "--help"])
    text = capsys.readouterr().out
    assert "-m package.train" in text and text.startswith("usage: rushlight run")


CHILDREN = """
import sys
{start}
import torch
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return torch.tensor(i * i)

class Own: pass

def work(queue, x, depth):
    import torch.nn
    x.add_(1)
    if depth:
        child = {module}.get_context(sys.argv[1]).Process(target=work, args=(queue, x, depth - 1))
        child.start()
        child.join()
    else:
        queue.put((Own(), str(torch.float32), x[:1]))

if __name__ == "__main__":
    import {module}
    context = {module}.get_context(sys.argv[1])
    queue, x = context.Queue(), torch.zeros(3)
    process = context.Process(target=work, args=(queue, x, 1))
    process.start()
    own, name, view = queue.get(timeout=50)
    process.join()
    print(type(own) is Own, name, x.tolist(), view.data_ptr() == x.data_ptr(), process.exitcode)
    print([b.tolist() for b in DataLoader(Squares(), 2, num_workers=1, multiprocessing_context=sys.argv[1])])
else:
    import {module}
"""
EXPECTED = "True torch.float32 [2.0, 2.0, 2.0] True 0\n[[0, 1], [4, 9]]\n"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_children_and_their_children_find_torch(method, tmp_path):
    (tmp_path / "script.py").write_text(CHILDREN.format(start="", module="multiprocessing"))
    done = run(tmp_path / "script.py", method)
    assert done.returncode == 0, done.stderr
    assert done.stdout == EXPECTED


def test_children_of_a_program_that_installs_find_torch(tmp_path):
    start = "if __name__ == '__main__':\n    from rushlight.interop.as_torch import install; install()"
    (tmp_path / "script.py").write_text(CHILDREN.format(start=start, module="torch.multiprocessing"))
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    command = [sys.executable, str(tmp_path / "script.py"), "spawn"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100)
    assert done.stdout == EXPECTED, done.stderr


def test_other_programs_do_not_see_it(tmp_path):
    text = "import subprocess, sys, torch\nprint(subprocess.run([sys.executable, '-c', 'import sys; print(sys.path)'],"
    (tmp_path / "script.py").write_text(text + " capture_output=True, text=True).stdout)\n")
    done = run(tmp_path / "script.py")
    assert done.returncode == 0 and "import_path" not in done.stdout


IMPORTS = """
import importlib, importlib.util
for name in {names}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(error)
try:
    from torch.utils.tensorboard import SummaryWriter
except ImportError as error:
    print(error)
try:
    from torch import hub
except ImportError as error:
    print(error)
print(importlib.util.find_spec("torch.fx"), importlib.util.find_spec("torch.nn").name)
"""


def test_imports_of_what_is_missing_say_why(tmp_path):
    reasons = {
        "torch.distributed": "Training on several machines",
        "torch.jit": "TorchScript",
        "torch.onnx": "Models as graphs",
        "torch.autograd.profiler": "Measuring",
        "torch.hub": "Models from the network",
        "torch.utils.cpp_extension": "Extensions in C++",
        "rushlight.distributed": "Training on several machines",
    }
    (tmp_path / "script.py").write_text(IMPORTS.format(names=list(reasons)))
    done = run(tmp_path / "script.py")
    assert done.returncode == 0, done.stderr
    *lines, tensorboard, hub, last = done.stdout.splitlines()
    for line, (name, reason) in zip(lines, reasons.items(), strict=True):
        assert name in line and reason in line
    assert "tensorboardX" in tensorboard and "Models from the network" in hub and last == "None torch.nn"


def test_a_reader_that_leaves_is_no_error():
    command = f"'{sys.executable}' -m rushlight doctor | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_unknown_stages_are_named(tmp_path):
    (tmp_path / "script.py").write_text("import torch\n(torch.ones(3) + 1).exp()\n(torch.ones(2, 3) * 2).sum()\n")
    done = run(tmp_path / "script.py", RUSHLIGHT_DEBUG="foo,")
    assert done.stderr == "RUSHLIGHT_DEBUG: there is no stage 'foo'; there are graph, loops, llvm, asm\n"
