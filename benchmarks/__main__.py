"""`python -m benchmarks`: rushlight and PyTorch on the same workloads, in alternation; medians of ratios.

python -m benchmarks                    everything, as a Markdown table
python -m benchmarks matmul conv        workloads whose names contain a word
python -m benchmarks --pairs 9 --seconds 0.5 --threads 1
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

from . import calls, indexing, quantization, workloads  # noqa: F401 - they fill the list
from .registry import WORKLOADS
from .startup import STARTUP


class Worker:
    """One engine in a process of its own."""

    def __init__(self, engine: str, threads: int):
        command = [sys.executable, "-m", "benchmarks.worker", engine, str(threads)]
        environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def time(self, name: str, seconds: float) -> float:
        self.process.stdin.write(f"{name}\t{seconds}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{name}: the worker stopped")
        return float(line)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)


def show(seconds: float) -> str:
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def verdict(ratio: float, floor: float, aim: float) -> str:
    return "aim" if ratio >= aim else "floor" if ratio >= floor else "BELOW"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("words", nargs="*", help="only workloads whose names contain one of these")
    parser.add_argument("--pairs", type=int, default=5, help="pairs of measurements for each workload")
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a measurement")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    chosen = [w for w in WORKLOADS.values() if not options.words or any(word in w.name for word in options.words)]
    print("| workload | rushlight | PyTorch | speed-up | aim | |\n|---|--:|--:|--:|--:|---|")
    ours, theirs = Worker("rushlight", options.threads), Worker("torch", options.threads)
    for w in chosen:
        pairs = [
            (ours.time(w.name, options.seconds), theirs.time(w.name, options.seconds)) for _ in range(options.pairs)
        ]
        ratio = statistics.median(b / a for a, b in pairs)
        a, b = (statistics.median(column) for column in zip(*pairs))
        print(
            f"| {w.name} | {show(a)} | {show(b)} | {ratio:.2f}x | {w.aim:.2g}x | {verdict(ratio, w.floor, w.aim)} |",
            flush=True,
        )
    ours.close()
    theirs.close()
    if not options.words or "startup" in options.words:
        print("\n| start | measured | aim | floor | |\n|---|--:|--:|--:|---|")
        for name, (measure, aim, floor, unit) in STARTUP.items():
            found = measure()
            word = "aim" if found <= aim else "floor" if found <= floor else "BELOW"
            print(f"| {name} | {found:.3g} {unit} | {aim:g} {unit} | {floor:g} {unit} | {word} |", flush=True)


if __name__ == "__main__":
    main()
