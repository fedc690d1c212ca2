"""Running a program as `python` runs it: a script, a folder or archive with a `__main__.py`, a module by its name."""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import sys
import types
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader


def run_file(path: str, arguments: list[str]) -> None:
    """Run a script, or the `__main__.py` in a folder or zip archive, as `python path arguments...` does.

    Ends the process (SystemExit) with code 2 where there is nothing to run.
    """
    if not os.path.exists(path):
        _stop(f"there is no file {path!r}")
    archive = not os.path.isdir(path) and _is_archive(path)
    if not os.path.isdir(path) and not archive:
        _set_first(os.path.dirname(os.path.realpath(path)))
        file = os.path.join(os.getcwd(), path)
        names = {"__file__": file, "__loader__": SourceFileLoader("__main__", file), "__package__": None}
        return _run(lambda: _compiled(file), [path, *arguments], **names)
    folder = os.path.abspath(path)
    _set_first(folder)
    spec = PathFinder.find_spec("__main__", [folder])
    if spec is None or spec.loader is None:
        _stop(f"there is no '__main__' module in {path!r}")
    return _run(lambda: spec.loader.get_code("__main__"), [path, *arguments], **_names(spec), __package__="")


def run_module(name: str, arguments: list[str]) -> None:
    """Run a module, or the `__main__` of a package, as `python -m name arguments...` does."""
    _set_first(os.getcwd())
    if name.startswith("torch."):
        name = "rushlight" + name.removeprefix("torch")
    spec = _find(name)
    if spec is not None and spec.submodule_search_locations is not None:
        name += ".__main__"
        spec = _find(name)
    if spec is None or spec.loader is None:
        _stop(f"there is no module named {name!r}")
    sys.argv[0] = "-m"  # while the code is loaded
    package = name.rpartition(".")[0]
    _run(lambda: spec.loader.get_code(name), [spec.origin or name, *arguments], **_names(spec), __package__=package)


def _find(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:  # a package on the way
        if error.name is None:  # one of ours, and the message says why
            _stop(str(error))
        if name == error.name or name.startswith(f"{error.name}."):
            return None
        raise


def _is_archive(path: str) -> bool:
    from zipimport import ZipImportError, zipimporter

    try:
        zipimporter(path)
    except ZipImportError:
        return False
    return True


def _compiled(path: str):
    with io.open_code(path) as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


def _names(spec: ModuleSpec) -> dict:
    return {"__spec__": spec, "__loader__": spec.loader, "__file__": spec.origin, "__cached__": spec.cached}


def _set_first(folder: str) -> None:
    """Put the program's folder where that of the command lies, unless Python was told not to (`-P`)."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _stop(message: str) -> None:
    print(f"rushlight run: {message}", file=sys.stderr)
    sys.exit(2)


def _run(load, argv: list[str], **names) -> None:
    """Run code in a fresh `__main__`, which stays, as `atexit` functions and pickles of its classes need it."""
    main = types.ModuleType("__main__")
    vars(main).update({"__builtins__": builtins, "__cached__": None} | names)
    if sys.version_info < (3, 14):  # made when they are asked for, since
        main.__annotations__ = {}
    _kept.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    sys.argv[:] = argv
    try:
        exec(load(), vars(main))
    except SystemExit:
        raise
    except BaseException as error:
        _show(error)
        raise


_kept: list = []  # the command's own `__main__`, whose functions are running still


def _show(error: BaseException) -> None:
    """Print the traceback without the frames of this file; Python, which ends the process, shall not print it again."""
    traceback = error.__traceback__
    while traceback is not None and _is_ours(traceback.tb_frame.f_code.co_filename):
        traceback = traceback.tb_next
    error = error.with_traceback(traceback)
    sys.excepthook(type(error), error, traceback)
    sys.excepthook = lambda *_: None


def _is_ours(filename: str) -> bool:
    return filename == __file__ or filename.startswith(("<frozen importlib", "<frozen zipimport"))
