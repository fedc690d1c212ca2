"""A process that holds one engine: it reads workload names and prints the time of a block of steps."""

from __future__ import annotations

import importlib
import sys
import time

from . import calls, indexing, quantization, workloads  # noqa: F401 - they fill the list
from .registry import WORKLOADS


def block(step, seconds: float) -> float:
    """Seconds of one step: the fastest of a few, each repeated to last long enough."""
    start = time.perf_counter()
    step()
    once = time.perf_counter() - start
    count = max(1, min(100_000, int(seconds / max(once, 1e-7) / 3)))
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(count):
            step()
        best = min(best, (time.perf_counter() - start) / count)
    return best


def main() -> None:
    """Serve: a line "name seconds" in, a line with the time out."""
    engine = importlib.import_module(sys.argv[1])
    engine.set_num_threads(int(sys.argv[2]))
    steps = {}
    for line in sys.stdin:
        name, _, seconds = line.strip().rpartition("\t")
        if name not in steps:
            steps.clear()
            engine.manual_seed(0)
            steps[name] = WORKLOADS[name].make(engine)
            steps[name]()
        time.sleep(0.01)  # let the other engine's threads stop spinning
        print(block(steps[name], float(seconds)), flush=True)


if __name__ == "__main__":
    main()
