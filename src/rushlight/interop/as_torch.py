"""Let `import torch` mean rushlight, so that programs run unchanged."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers imports of `torch` and its submodules with the modules of rushlight."""

    def find_spec(self, name: str, path=None, target=None):
        if name != "torch" and not name.startswith("torch."):
            if name.startswith("multiprocessing.") and "multiprocessing.reduction" in sys.modules:
                self._share()
            return None
        ours = "rushlight" + name.removeprefix("torch")
        if ours not in sys.modules and importlib.util.find_spec(ours) is None:
            from ..absent import refuse_import

            refuse_import(name, sys._getframe(1))
            return None
        return importlib.machinery.ModuleSpec(name, self)

    def _share(self) -> None:
        """The program begins to use multiprocessing: teach it to share tensors, as `import torch` does there."""
        if not self.shares:
            self.shares = True
            importlib.import_module("rushlight.multiprocessing")

    shares = False

    def create_module(self, spec):
        return importlib.import_module("rushlight" + spec.name.removeprefix("torch"))

    def exec_module(self, module) -> None:
        """Nothing to run: the module is one of ours, loaded already."""


OFFERED = "1.9.0"  # the PyTorch whose interface a program finds, for those that compare versions
CHILD_PATH = os.path.join(os.path.dirname(__file__), "import_path")


def install() -> None:
    """From now on `import torch` gives rushlight, and dtypes print as torch's do. Does nothing the second time.

    This holds for child processes that `multiprocessing` starts by any method, and for theirs: a folder in which they
    find `torch` is put on `sys.path`, which they inherit. Programs started in other ways (`subprocess`) do not see it.

    `torch.__version__` is then that of the interface, with rushlight's as its local part: "1.9.0+rushlight.0.1.0".

    Raises:
        RuntimeError: if PyTorch is loaded already
    """
    from .. import version
    from ..core import engine
    from ..ir import dtypes
    from ..torch_version import TorchVersion

    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if "torch" in sys.modules:
        raise RuntimeError("as_torch: PyTorch is loaded already; install before the first `import torch`")
    sys.meta_path.insert(0, finder := _Finder())
    if "multiprocessing.queues" in sys.modules or "multiprocessing.connection" in sys.modules:
        finder._share()
    if CHILD_PATH not in sys.path:
        sys.path.insert(1, CHILD_PATH)  # after the program's own folder, before the packages installed
    dtypes._MODULE = "torch"
    engine.set_module_name("torch")
    package = sys.modules["rushlight"]
    package.__version__ = TorchVersion(f"{OFFERED}+rushlight.{version.__version__}")
