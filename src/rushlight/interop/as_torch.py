"""Let `import torch` mean rushlight, so that programs run unchanged."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers imports of `torch` and its submodules with the modules of rushlight."""

    def find_spec(self, name: str, path=None, target=None):
        if name == "torch" or name.startswith("torch."):
            return importlib.machinery.ModuleSpec(name, self)
        return None

    def create_module(self, spec):
        ours = "rushlight" + spec.name.removeprefix("torch")
        try:
            return importlib.import_module(ours)
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(f"{spec.name}: rushlight has no {ours}", name=spec.name) from error

    def exec_module(self, module) -> None:
        """Nothing to run: the module is one of ours, loaded already."""


OFFERED = "1.9.0"  # the PyTorch whose interface a program finds, for those that compare versions


def install() -> None:
    """From now on `import torch` gives rushlight, and dtypes print as torch's do. Does nothing the second time.

    `torch.__version__` is then that of the interface, with rushlight's as its local part: "1.9.0+rushlight.0.1.0".
    """
    from .. import version
    from ..core import engine
    from ..ir import dtypes
    from ..torch_version import TorchVersion

    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if "torch" in sys.modules:
        raise RuntimeError("as_torch: PyTorch is loaded already; install before the first `import torch`")
    sys.meta_path.insert(0, _Finder())
    dtypes._MODULE = "torch"
    engine.set_module_name("torch")
    package = sys.modules["rushlight"]
    package.__version__ = TorchVersion(f"{OFFERED}+rushlight.{version.__version__}")
