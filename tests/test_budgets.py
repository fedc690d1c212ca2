"""Budgets: what an import, a small call, a new shape, a kernel and the package may cost.

Times are compared with something measured beside them on the same machine, so that a slow machine does not fail.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

import rushlight as rl
from rushlight.compiler import cache

PACKAGE = pathlib.Path(rl.__file__).parent


def seconds_of(code: str, repeats: int = 5) -> float:
    """The median time of a fresh interpreter that runs the code."""

    def once() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
        return time.perf_counter() - start

    return statistics.median(once() for _ in range(repeats))


def best(function, repeats: int = 2000) -> float:
    """Seconds of one call: the fastest of several rounds."""

    def round_() -> float:
        start = time.perf_counter()
        for _ in range(repeats):
            function()
        return (time.perf_counter() - start) / repeats

    function()
    return min(round_() for _ in range(7))


def test_import_costs_less_than_a_few_standard_modules():
    # NumPy alone takes 0.15 s, torch 1.8 s; these standard modules take about as long as rushlight
    ours = seconds_of("import rushlight")
    theirs = seconds_of("import asyncio, http.server, unittest.mock, email.message, xml.dom.minidom, sqlite3, decimal")
    assert ours < 3 * theirs, f"import rushlight: {ours:.3f} s, the standard modules {theirs:.3f} s"


def test_a_small_op_costs_a_few_python_calls():
    def empty(a, b):
        return a

    a = rl.ones(8, 8)
    ours, call = best(lambda: a + a), best(lambda: empty(a, a))
    assert ours < 25 * call, f"a + a: {ours * 1e9:.0f} ns, a Python call: {call * 1e9:.0f} ns"


def test_a_recorded_op_costs_little_more():
    a, b = rl.ones(8, 8, requires_grad=True), rl.ones(8, 8)
    plain, recorded = best(lambda: b + b), best(lambda: a + b)
    assert recorded < 4 * plain, f"a + b: {plain * 1e9:.0f} ns, recorded {recorded * 1e9:.0f} ns"


def test_a_new_shape_compiles_nothing():
    for n in range(20, 24):
        rl.ones(n, 7).exp()
    before = cache.statistics()
    tensors = [rl.ones(n, 7) for n in range(30, 130)]
    start = time.perf_counter()
    for tensor in tensors:
        tensor.exp()
    each = (time.perf_counter() - start) / len(tensors)
    after = cache.statistics()
    assert (after.compiled, after.loaded_from_disk) == (before.compiled, before.loaded_from_disk)
    assert each < 100e-6, f"{each * 1e6:.1f} us for an op on a new shape"


COLD = """
import rushlight as rl
from rushlight import nn
from rushlight.compiler import machine_code
texts, emit = [], machine_code.emit
machine_code.emit = lambda text: texts.append(text) or emit(text)
model = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1, bias=False),
                      nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 10))
loss = nn.functional.cross_entropy(model(rl.rand(64, 1, 8, 8)), rl.zeros(64, dtype=rl.int64))
loss.backward()
print(sum(map(len, texts)), len(texts), len(set(texts)))
"""


def test_a_first_convolutional_network_compiles_each_function_once(tmp_path):
    # the time of a cold start is that of LLVM, which is in proportion to the text that it sees
    environment = os.environ | {"RUSHLIGHT_CACHE": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", COLD], env=environment, check=True, timeout=60, capture_output=True, text=True
    )
    size, emitted, different = map(int, run.stdout.split())
    assert emitted == different
    assert size < 800_000, f"{size} characters in {emitted} functions"


def test_a_second_process_does_not_load_llvm(tmp_path):
    code = (
        "import sys, rushlight as rl\n"
        "x = rl.ones(8, 8, requires_grad=True)\n"
        "(x.exp() @ x).softmax(1).sum().backward()\n"
        "print('llvmlite' in sys.modules, 'numpy' in sys.modules)"
    )
    environment = {
        "RUSHLIGHT_CACHE": str(tmp_path / "kernels"),
        "PYTHONPATH": str(PACKAGE.parent),
        "PATH": "/usr/bin:/bin",
    }

    def run() -> str:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert run() == "True False"
    assert run() == "False False"


def test_the_package_stays_small():
    sources = [p for p in PACKAGE.rglob("*") if p.suffix in (".py", ".pyx", ".pxi", ".h", ".so")]
    total = sum(p.stat().st_size for p in sources)
    assert total < 6 << 20, f"{total / 2**20:.1f} MiB"
    core = [p for p in (PACKAGE / "core").glob("*") if p.suffix in (".pyx", ".pxi", ".h")]
    lines = sum(len(p.read_text().splitlines()) for p in core)
    assert lines < 5300, f"{lines} lines in the compiled room"
