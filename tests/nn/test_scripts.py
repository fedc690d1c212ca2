"""Programs written for PyTorch run unchanged, with PyTorch's losses."""

import pathlib
import subprocess
import sys

import pytest

SCRIPTS = pathlib.Path(__file__).parent / "scripts"
# what PyTorch 2.13 prints: three epochs in float32, one under autocast, then the restored average on other images
LOSSES = """
    1.53969 1.52583 1.37183 1.15994 1.16407 1.05410 0.89776 0.86335 0.78455 0.69442 0.57653 0.48405
    0.50906 0.45706 0.39352 0.39260 0.44207
""".split()  # noqa: SIM905


def test_mixed_precision_cnn(tmp_path):
    command = [
        sys.executable,
        "-m",
        "rushlight",
        "run",
        str(SCRIPTS / "mixed_precision_cnn.py"),
        str(tmp_path / "a.pt"),
    ]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    losses, expected = ([float(text) for text in texts] for texts in (found.stdout.split(), LOSSES))
    assert losses[:12] == pytest.approx(expected[:12], rel=1e-3)
    assert losses[12:] == pytest.approx(expected[12:], rel=2e-2)
