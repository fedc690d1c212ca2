"""Costs that a process pays once: import, the first kernel, a new shape, and what a second process saves."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile


def run(code: str, cache: str | None = None) -> str:
    """The output of a fresh interpreter, with its own kernel cache if one is given."""
    environment = dict(os.environ)
    if cache is not None:
        environment["RUSHLIGHT_CACHE"] = cache
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout


IMPORT = "import time; t = time.perf_counter(); import rushlight; print(time.perf_counter() - t)"
KERNEL = """
import time, rushlight as rl
x = rl.ones(64, 64)
(x + x).sum()  # LLVM itself is loaded
times = []
for f in (rl.exp, rl.tanh, lambda x: x.softmax(1), lambda x: x * 2 - 1, lambda x: x.mean(0), rl.erf, rl.sigmoid):
    t = time.perf_counter(); f(x); times.append(time.perf_counter() - t)
times.sort(); print(times[len(times) // 2])
"""
SHAPES = """
import time, rushlight as rl
f = lambda x: x + x
xs = [rl.ones(n, 7) for n in range(10, 310)]
for x in xs[:100]: f(x)
times = []
for x in xs[100:]:
    t = time.perf_counter(); f(x); times.append(time.perf_counter() - t)
times.sort(); print(times[len(times) // 2])
"""
SECOND = """
import sys, rushlight as rl
x = rl.ones(8, 8, requires_grad=True)
(x.exp() @ x).softmax(1).sum().backward()
print(int('llvmlite' in sys.modules))
"""


def import_time() -> float:
    """Seconds of `import rushlight`."""
    return statistics.median(float(run(IMPORT)) for _ in range(7))


def cold_kernel() -> float:
    """Milliseconds from the first call of an op to its result: trace, compile, link, run."""
    with tempfile.TemporaryDirectory() as cache:
        return 1e3 * float(run(KERNEL, cache))


def new_shape() -> float:
    """Microseconds of an op on a shape not seen before, of a known structure."""
    return 1e6 * float(run(SHAPES))


def second_process() -> float:
    """1 if a second run of the same program loads LLVM, else 0."""
    with tempfile.TemporaryDirectory() as cache:
        run(SECOND, cache)
        return float(run(SECOND, cache))


STARTUP = {
    "import rushlight": (import_time, 0.12, 0.25, "s"),
    "one kernel, cold: trace to result": (cold_kernel, 25, 60, "ms"),
    "a new shape of a known structure": (new_shape, 5, 20, "us"),
    "LLVM loaded by a second process": (second_process, 0, 0, ""),
}
