"""Print the largest error of every math function, in units in the last place.

python benchmarks/ulp.py [--points 100000] [name ...]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "compiler"))

from sweep import BINARY, UNARY, UNKNOWN_TO_NUMPY, worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=UNARY + BINARY)
    parser.add_argument("--points", type=int, default=100_000)
    options = parser.parse_args()
    print(f"{'function':12} {'float32':>9} {'float64':>9}   worst operands")
    for name in options.names:
        # mpmath takes its time
        slow = name in UNKNOWN_TO_NUMPY
        single, *at_single = worst(name, np.float32, options.points // (20 if slow else 1))
        double, *at_double = worst(name, np.float64, options.points // (20 if slow else 2))
        print(f"{name:12} {single:9.3f} {double:9.3f}   {at_single[0]} {at_double[0]}")


if __name__ == "__main__":
    main()
