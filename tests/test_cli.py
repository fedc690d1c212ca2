"""The command line, and programs that import torch."""

import subprocess
import sys

PROGRAM = """
import sys
import torch
import torch.nn as nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Linear(3, 2)
loader = DataLoader(TensorDataset(torch.ones(4, 3)), batch_size=2)
print(type(model).__module__, torch.float32, model(next(iter(loader))[0]).shape, sys.argv[1:])
"""


def rushlight(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "rushlight.cli", *arguments], capture_output=True, text=True, timeout=60
    )


def test_run_gives_rushlight_for_torch(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = rushlight("run", str(script), "--flag", "x")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "rushlight.nn.linear torch.float32 torch.Size([2, 2]) ['--flag', 'x']"


def test_a_program_finds_the_version_of_the_interface(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import torch\nprint(torch.__version__, torch.__version__ >= '1.8', torch.__version__ < '2.0')\n")
    version, *compared = rushlight("run", str(script)).stdout.split()
    assert version.startswith("1.9.0+rushlight.") and compared == ["True", "True"]


def test_missing_parts_are_named(tmp_path):
    script = tmp_path / "program.py"
    script.write_text("import torch.sparse_of_another_kind\n")
    done = rushlight("run", str(script))
    assert done.returncode != 0 and "rushlight has no rushlight.sparse_of_another_kind" in done.stderr


def test_a_script_that_is_missing(tmp_path):
    done = rushlight("run", str(tmp_path / "missing.py"))
    assert done.returncode == 2 and done.stderr.startswith("rushlight run: there is no file")


def test_version():
    assert rushlight("--version").stdout.split()[0] == "rushlight"


def test_doctor():
    done = rushlight("doctor")
    assert done.returncode == 0, done.stderr
    assert "self-test  passed" in done.stdout and "processor" in done.stdout


def test_the_package_is_a_program():
    done = subprocess.run([sys.executable, "-m", "rushlight", "doctor"], capture_output=True, text=True, timeout=60)
    assert "self-test  passed" in done.stdout, done.stderr
