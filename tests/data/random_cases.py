"""Cases of random streams: how rushlight fills memory, and how PyTorch fills a tensor with the same numbers.

Run as a script (with PyTorch installed) it writes `random_streams.json`, the values that the tests expect.
"""

from __future__ import annotations

import json
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rushlight import random

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
SIZES = (1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 100, 1000)
SEEDS = (5, -1, 2**40 + 7)
STORED = Path(__file__).parent / "random_streams.json"


@dataclass(frozen=True)
class Case:
    """`fill(generator, address, count, dtype_name)` against `torch(tensor)`, which returns the tensor it filled."""

    fill: Callable
    torch: Callable
    dtypes: tuple[str, ...]
    largest: int = 1 << 40  # size


def _randperm(tensor):
    import torch

    return torch.randperm(len(tensor), dtype=tensor.dtype)


def _randint(low: int, high: int, *dtypes: str) -> Case:
    return Case(lambda *to: random.fill_randint(*to, low, high), lambda t: t.random_(low, high), dtypes)


def _noise(p: float) -> Case:
    return Case(lambda *to: random.fill_dropout_noise(*to, p), lambda t: t.bernoulli_(1 - p).div_(1 - p), FLOATS)


def parameter(size: int, dtype: str, period: int, unit: float) -> np.ndarray:
    """0, unit, 2 unit, ... starting over after `period`: exact in every dtype for small powers of two."""
    values = (np.arange(size) % period * unit).astype(np.float32)
    return (values.view(np.uint32) >> 16).astype(np.uint16) if dtype == "bfloat16" else values.astype(dtype)


def _torch_parameter(tensor, period: int, unit: float):
    import torch

    return (torch.arange(len(tensor)) % period * unit).to(tensor.dtype)


def _with_parameters(function: Callable, torch_function: str, dtypes: tuple[str, ...], *shapes: tuple) -> Case:
    """Numbers that each have parameters of their own, `shapes` giving (period, unit) of each."""

    def fill(generator, address: int, size: int, dtype: str) -> None:
        arrays = [parameter(size, dtype, *shape) for shape in shapes]
        function(generator, address, size, dtype, *(a.ctypes.data for a in arrays))

    def torch_fill(tensor):
        import torch

        return getattr(torch, torch_function)(*(_torch_parameter(tensor, *shape) for shape in shapes))

    return Case(fill, torch_fill, dtypes)


CASES = {
    "uniform": Case(random.fill_uniform, lambda t: t.uniform_(), FLOATS),
    "uniform(-1.3, 0.7)": Case(
        lambda *to: random.fill_uniform(*to, -1.3, 0.7), lambda t: t.uniform_(-1.3, 0.7), FLOATS
    ),
    "normal": Case(random.fill_normal, lambda t: t.normal_(), FLOATS),
    "normal(0.3, 1.7)": Case(lambda *to: random.fill_normal(*to, 0.3, 1.7), lambda t: t.normal_(0.3, 1.7), FLOATS),
    "log_normal": Case(lambda *to: random.fill_log_normal(*to, 0.3, 0.7), lambda t: t.log_normal_(0.3, 0.7), FLOATS),
    "exponential": Case(lambda *to: random.fill_exponential(*to, 0.3), lambda t: t.exponential_(0.3), FLOATS),
    "cauchy": Case(lambda *to: random.fill_cauchy(*to, 0.3, 1.7), lambda t: t.cauchy_(0.3, 1.7), FLOATS),
    "geometric": Case(lambda *to: random.fill_geometric(*to, 0.3), lambda t: t.geometric_(0.3), FLOATS + INTEGERS),
    "bernoulli": Case(
        lambda *to: random.fill_bernoulli(*to, 0.3), lambda t: t.bernoulli_(0.3), (*FLOATS, *INTEGERS, "bool")
    ),
    "noise 0.1": _noise(0.1),
    "noise 0.5": _noise(0.5),
    "random": Case(random.fill_random, lambda t: t.random_(), (*FLOATS, *INTEGERS, "bool")),
    "randint(3, 100)": _randint(3, 100, *FLOATS, *INTEGERS),
    "randint(0, 2)": _randint(0, 2, "bool", "int64"),
    "randint below 2^28": _randint(-5, 2**28 - 6, "int32", "int64", "float64"),
    "randint from 2^28": _randint(-5, 2**28 - 5, "int32", "int64", "float64"),
    "randint widest": _randint(-(2**63), 2**63 - 1, "int64"),
    "randint rounded": _randint(2**25 + 1, 2**25 + 90, "float32"),
    "randint rounded half": _randint(0, 5000, "float16"),
    "randint rounded bfloat": _randint(257, 300, "bfloat16"),
    "poisson": _with_parameters(random.fill_poisson, "poisson", FLOATS, (40, 0.5)),
    "binomial": _with_parameters(random.fill_binomial, "binomial", ("float32", "float64"), (80, 1.0), (17, 1 / 16)),
    "gamma": _with_parameters(random.fill_gamma, "_standard_gamma", ("float32", "float64"), (40, 0.125)),
    "randperm": Case(lambda *to: random.fill_randperm(*to), _randperm, ("int16", "int32", "int64", "float32"), 30000),
    "randperm small": Case(lambda *to: random.fill_randperm(*to), _randperm, ("uint8", "int8", "bfloat16"), 100),
}
KEYS = [(name, dtype) for name, case in CASES.items() for dtype in case.dtypes]
# computed in float64 and stored unrounded: equal within a few units in the last place, others bit for bit
INEXACT = {(name, "float64") for name in ("normal", "normal(0.3, 1.7)", "log_normal", "exponential", "cauchy", "gamma")}
NUMPY = {"bfloat16": np.uint16}


def fill(generator, name: str, dtype: str, size: int) -> np.ndarray:
    """What rushlight draws; bfloat16 as uint16 bits. Checks that memory behind the elements is left alone."""
    memory = np.full((size + 4) * 8, 0xAB, np.uint8).view(NUMPY.get(dtype, dtype))
    CASES[name].fill(generator, memory.ctypes.data, size, dtype)
    assert (memory[size:].view(np.uint8) == 0xAB).all()
    return memory[:size]


def torch_fill(name: str, dtype: str, size: int) -> np.ndarray:
    """What PyTorch draws from its default generator."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bounds that a float rounds
        made = CASES[name].torch(torch.empty(size, dtype=getattr(torch, dtype)))
    return made.view(torch.int16).numpy().view(np.uint16) if dtype == "bfloat16" else made.numpy()


def sizes(name: str) -> list[int]:
    return [n for n in SIZES if n <= CASES[name].largest]


def summary(key: tuple[str, str], arrays: list[np.ndarray]):
    """What is stored: one checksum of all arrays, or the ends of those that are not exact."""
    if key in INEXACT:
        return [[float(a[0]), float(a[-1])] for a in arrays]
    return zlib.crc32(b"".join(a.tobytes() for a in arrays))


def main() -> None:
    import torch

    stored = {}
    for name, dtype in KEYS:
        for seed in SEEDS:
            torch.manual_seed(seed)
            arrays = [torch_fill(name, dtype, n) for n in sizes(name)]
            stored[f"{name} {dtype} {seed}"] = summary((name, dtype), arrays)
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in stored.items())
    STORED.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
