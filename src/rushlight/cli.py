"""The command line: `rushlight run script.py`, `rushlight doctor`."""

from __future__ import annotations

import argparse
import os
import platform
import runpy
import sys

from . import __version__


def run(arguments) -> None:
    """Run a program written for PyTorch, with `torch` meaning rushlight."""
    from .interop.as_torch import install

    if not os.path.exists(arguments.script):
        sys.exit(f"rushlight run: there is no file {arguments.script!r}")
    install()
    sys.argv = [arguments.script, *arguments.arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments.script)))
    runpy.run_path(arguments.script, run_name="__main__")


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


def doctor(arguments) -> None:
    """Print what a bug report needs: versions, processor, threads, kernel cache."""
    print("\n".join(environment()))


def main(argv=None) -> None:
    """Parse the command line and run the command."""
    parser = argparse.ArgumentParser(prog="rushlight", description="PyTorch's system, small.")
    parser.add_argument("--version", action="version", version=f"rushlight {__version__}")
    commands = parser.add_subparsers(required=True, dest="command")
    command = commands.add_parser("run", help=run.__doc__)
    command.add_argument("script")
    command.add_argument("arguments", nargs=argparse.REMAINDER)
    command.set_defaults(function=run)
    command = commands.add_parser("doctor", help=doctor.__doc__)
    command.set_defaults(function=doctor)
    arguments = parser.parse_args(argv)
    arguments.function(arguments)


if __name__ == "__main__":
    main()
