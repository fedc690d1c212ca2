"""The examples run and do what they say."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


def run_digits(*arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / "digits.py"), *arguments]
    # PyTorch's threads wait for each other for long where another process has a core
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)
    assert run.returncode == 0, run.stderr
    return run.stdout


def losses(output: str) -> list[float]:
    return [float(loss) for loss in re.findall(r"loss (\d+\.\d+)", output)]


def test_digits(tmp_path):
    """The digits are learnt: at least 98.5 % of the held-out fifth."""
    output = run_digits("--checkpoint", str(tmp_path / "digits.pt"))
    correct, total = map(int, re.search(r"read correctly: (\d+) of (\d+)", output).groups())
    assert total == 359 and correct / total >= 0.985
    assert "predictions are equal" in output and len(losses(output)) == 12
    assert (tmp_path / "digits.pt").stat().st_size > 50_000
    table = re.findall(r"^ {3}\d((?: +(?:\d+|·)){10})$", output, re.M)
    assert len(table) == 10 and sum(int(n) for row in table for n in row.split() if n != "·") == 359


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_digits_under_pytorch():
    """The same program under PyTorch: the same losses, as long as rounding has not grown."""
    ours, theirs = (losses(run_digits("--epochs", "3", "--module", m)) for m in ("rushlight", "torch"))
    assert ours[0] == pytest.approx(theirs[0], rel=1e-3) and ours == pytest.approx(theirs, rel=0.05)


def test_what_is_not_installed_is_named(tmp_path):
    """One line that says what to install, where there is neither PyTorch nor matplotlib."""
    command = [sys.executable, "-S", str(EXAMPLES / "digits.py")]
    for arguments, way in (
        (["--module", "torch"], "pip install torch"),
        (["--plot", "x.png"], "pip install '.[plot]'"),
    ):
        run = subprocess.run([*command, *arguments], capture_output=True, text=True, cwd=tmp_path, env={})
        assert run.returncode == 2 and run.stderr.splitlines()[-1].endswith(way) and "Traceback" not in run.stderr


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_digits_are_drawn(tmp_path):
    run_digits("--epochs", "1", "--plot", str(tmp_path / "out.png"))
    assert (tmp_path / "out.png").read_bytes()[:4] == b"\x89PNG"
