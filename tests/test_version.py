"""Versions, and the modules that only hold names."""

import pathlib
import tomllib

import pytest

import rushlight as rl
from rushlight.torch_version import TorchVersion


def test_one_version():
    project = tomllib.loads((pathlib.Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    assert rl.__version__ == rl.version.__version__ == project["version"]
    assert isinstance(rl.__version__, TorchVersion) and rl.version.cuda is None and rl.version.hip is None


@pytest.mark.parametrize(
    "smaller, larger",
    [
        ("1.9", "1.10"),
        ("1.9.0a1", (1, 9)),
        ("2.0.dev3", "2.0a1"),
        ("2.0a2", "2.0b1"),
        ("2.0b1", "2.0rc1"),
        ("2.0rc1", "2.0"),
        ("2.0", "2.0+cpu"),
        ("2.0+cpu", "2.0.post1"),
        ("2.0", (2, 1)),
        ("9.9", "1!0"),
    ],
)
def test_order(smaller, larger):
    ours = TorchVersion(smaller)
    assert ours < larger and ours <= larger and ours != larger and not ours > larger and not ours >= larger


def test_equality_and_text():
    version = TorchVersion("2.0")
    assert version == "2.0.0" and version == (2,) and version == "v2.0" and repr(version) == "'2.0'"
    assert version != "nonsense" and (version < "nonsense") and hash(version) == hash("2.0")
    assert version != ("x",)
    with pytest.raises(TypeError):
        assert version < 3


def test_names_for_annotations():
    assert isinstance(3, rl.types.Number) and rl.types.Tensor is rl.Tensor and isinstance("cpu", rl.types.Device)
    assert rl.functional.einsum is rl.einsum and "cdist" in dir(rl.functional)
    with pytest.raises(AttributeError):
        rl.functional.relu
    assert not (rl.has_cuda or rl.has_mkl or rl.has_mkldnn or rl.has_openmp or rl.has_cudnn)
    assert rl.has_lapack and rl.has_spectral and rl.legacy_contiguous_format is rl.contiguous_format
