"""The command line: `rushlight run script.py`, `rushlight doctor`."""

from __future__ import annotations

import argparse
import os
import platform
import sys

from . import __version__

USAGE = "usage: rushlight run [-h] (script.py | folder | archive.zip | -m module) [arguments ...]"
HELP = """
Run a program written for PyTorch as `python` would, with `torch` meaning rushlight: in the program itself, and in the
processes that it starts through multiprocessing (those of subprocess are programs of their own).

  rushlight run train.py --epochs 3      a script; all that follows is for the script
  rushlight run -m package.train         a module, or a package with a __main__.py
  rushlight run folder                   a folder or zip archive with a __main__.py

The program finds the interface of PyTorch 1.9. RUSHLIGHT_DEBUG=graph,loops,llvm,asm prints stages of the compiler,
RUSHLIGHT_CACHE moves the kernels that are kept on disk.
"""


def run(arguments: list[str]) -> None:
    """Run a program written for PyTorch, with `torch` meaning rushlight."""
    program, *rest = arguments or [""]
    if program in ("-h", "--help"):
        print(f"{USAGE}\n{HELP}", end="")
        return
    by_name = program.startswith("-m")
    if by_name:
        program, *rest = [program[2:], *rest] if program != "-m" else rest or [""]
    if not program:
        _refuse("-m needs the name of a module" if by_name else "which program? Name a script, a folder or -m module")
    if program.startswith("-"):
        _refuse(f"there is no option {program!r}")
    from . import running
    from .interop.as_torch import install

    install()
    start = running.run_module if by_name else running.run_file
    start(program, rest)


def _refuse(reason: str) -> None:
    print(f"{USAGE}\nrushlight run: {reason}", file=sys.stderr)
    sys.exit(2)


def environment() -> list[str]:
    """Versions, processor, threads, kernel cache: lines of text."""
    import llvmlite
    import numpy

    import rushlight

    from .compiler import cache, disk
    from .compiler.target import host

    target = host()
    x = rushlight.ones(64, 64)
    return [
        f"rushlight  {rushlight.__version__}",
        f"Python     {platform.python_version()} on {platform.platform()}",
        f"llvmlite   {llvmlite.__version__}, NumPy {numpy.__version__}",
        f"processor  {target.cpu}, vectors of {target.vector_bytes} bytes, {rushlight.get_num_threads()} threads",
        f"self-test  {'passed' if (x @ x)[3, 5].item() == 64.0 else 'FAILED'}",
        f"kernels    {cache.statistics()}",
        f"cache      {disk.location()}",
    ]


def doctor() -> None:
    """Print what a bug report needs: versions, processor, threads, kernel cache."""
    try:
        print("\n".join(environment()), flush=True)
    except BrokenPipeError:  # the reader (`head`) has seen enough; Python must not write the rest when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: list[str] | None = None) -> None:
    """Parse the command line and run the command."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["run"]:  # what follows the program is the program's
        return run(argv[1:])
    parser = argparse.ArgumentParser(prog="rushlight", description="PyTorch's system, small.")
    parser.add_argument("--version", action="version", version=f"rushlight {__version__}")
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("run", help=run.__doc__, add_help=False)
    commands.add_parser("doctor", help=doctor.__doc__, description=doctor.__doc__)
    parser.parse_args(argv)
    return doctor()


if __name__ == "__main__":
    main()
