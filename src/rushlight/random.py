"""Generators of random numbers whose streams are PyTorch's CPU streams, number by number.

A `Generator` is a Mersenne Twister (MT19937). A number of 24 bits takes one word of it, one of 53 bits two (the upper
half first). What each function draws per element:

    uniform            one word (float64: two), u (high - low) + low in one rounding; low for what rounds up to high
    random, randint    one word modulo the range, or two where the range is 2^28 or more
    bernoulli          two words whatever the type, u < p; with a tensor of probabilities one (float64: two)
    dropout            bernoulli(1 - p), then a division by 1 - p
    normal             16 or more contiguous elements: blocks of 16 words or 16 pairs (see `compiler/random_normal.py`),
                       the last 16 anew from 16 more if the size is no multiple of 16; else pairs of float64, with the
                       second number of an odd pair kept in the generator
    log_normal         pairs of float64 always
    exponential, cauchy, geometric   two words, computed in float64
    randperm           Fisher and Yates with one word for each exchange; from 2^32 / 20 on inside out with two words
    multinomial        with replacement two words per sample; without, the largest of weights / exponential(1)
    poisson, binomial, gamma         pairs of words until a number is accepted (`compiler/random_rejection.py`)

Elements are filled in the order of memory where a tensor is dense (a transposed one too), else in logical order.
Initialisers in `nn` draw nothing else: `kaiming_uniform_` and `xavier_uniform_` are one `uniform_`, their normal kin
one `normal_`. For each pass over the data, `DataLoader` and then `RandomSampler` draw one `random_int64()`; the
sampler permutes with a fresh generator of that seed, or with the one it was given.

Functions `fill_*` write contiguous memory at an address. They hold the generator's lock; large ones run on several
threads, with results that do not depend on how many.
"""

from __future__ import annotations

import functools
import importlib
import math
import struct
from array import array
from contextlib import contextmanager

from .compiler.random_state import POSITION, SIZE, STATE_BYTES, STATE_WORDS
from .core.engine import get_num_threads, launch_kernel
from .ir.dtypes import DType, dtype_named
from .random_generator import Generator, default_generator

__all__ = ["Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed"]
__all__ += ["set_rng_state"]


# -- the default generator --------------------------------------------------------------------------
def manual_seed(seed: int) -> Generator:
    """Restart the default generator from a seed; returns the generator."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Restart the default generator from a seed of the operating system's; returns it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed the default generator was last restarted from."""
    return default_generator.initial_seed()


def get_rng_state():
    """The default generator's state, a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state) -> None:
    """Give the default generator a state that `get_rng_state` returned."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices=None, enabled: bool = True, device_type: str = "cpu"):
    """A block after which the default generator goes on as if nothing had been drawn in it."""
    if not enabled:
        yield
        return
    state = default_generator.state_bytes()
    try:
        yield
    finally:
        default_generator.load_state_bytes(state)


# -- running a sampler ------------------------------------------------------------------------------
PARALLEL_WORDS = 1 << 23  # below this, moving states ahead costs as much as it saves
LEAST_JUMP = 10  # chunks are at least 2^10 blocks of words long


@functools.cache
def _kernel(file: str, maker: str, *arguments):
    """The kernel that a function of `compiler/random_<file>.py` makes; the compiler is not imported before."""
    return getattr(importlib.import_module(f".compiler.random_{file}", __package__), maker)(*arguments)


def _fill(generator, kernel, pointers, count: int, words: int, numbers=(), tail: int = -1, skipped: int = 0) -> None:
    """Make `count` items of `words` words each; the arguments are those of `compiler/random_sampler.py`."""
    if count == 0:
        return
    generator = default_generator if generator is None else generator
    with generator.lock:
        if count * words >= PARALLEL_WORDS and get_num_threads() > 1:
            _fill_in_chunks(generator, kernel, pointers, count, words, (tail, skipped, *numbers))
        else:
            buffers = [generator.address, *pointers]
            launch_kernel(kernel.address, buffers, [count, count, tail, skipped, *numbers], 1, 1)


def _fill_in_chunks(generator, kernel, pointers, count: int, words: int, rest: tuple) -> None:
    """Chunks of 2^m blocks of words, each from a state of its own, several for each thread."""
    blocks = count * words // SIZE
    m = max(LEAST_JUMP, (blocks // (2 * get_num_threads())).bit_length() - 1)
    chunk = (SIZE << m) // words
    chunks = -(-count // chunk)
    states = array("I", bytes(STATE_BYTES * chunks))
    _ = generator.address
    states[:STATE_WORDS] = generator._words
    first, ready = states.buffer_info()[0], 1
    while ready < chunks:
        coefficients = array("Q", _kernel("jump", "polynomial_bytes", m))
        more = min(ready, chunks - ready)
        launch_kernel(_kernel("jump", "jump").address, [first, coefficients.buffer_info()[0]], [ready], more, 1)
        ready, m = ready + more, m + 1
    launch_kernel(kernel.address, [first, *pointers], [count, chunk, *rest], chunks, 1)
    last = STATE_WORDS * (chunks - 1)
    generator._words[: POSITION + 1] = states[last : last + POSITION + 1]


def _float_dtype(name: str, function: str) -> DType:
    dtype = dtype_named(name)
    if dtype.kind != "f":
        raise NotImplementedError(f"{function}: expected a floating point dtype, got {name}")
    return dtype


def _real_dtype(name: str, function: str) -> DType:
    dtype = dtype_named(name)
    if dtype.kind == "c":
        raise NotImplementedError(f"{function}: complex numbers have no order to draw from, got {name}")
    return dtype


# -- filling memory ---------------------------------------------------------------------------------
_LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}


def fill_uniform(generator, address: int, count: int, dtype_name: str, low: float = 0.0, high: float = 1.0) -> None:
    """Uniform numbers in [low, high)."""
    dtype, largest = _float_dtype(dtype_name, "uniform_"), _LARGEST.get(dtype_name, math.inf)
    if not (-largest <= low <= high <= largest and high - low <= largest):
        raise RuntimeError(_uniform_fault(low, high, dtype_name, largest))
    kernel = _kernel("kernels", "uniform", dtype_name)
    _fill(generator, kernel, (address,), count, 2 if dtype.itemsize == 8 else 1, (float(low), float(high)))


def _uniform_fault(low: float, high: float, dtype_name: str, largest: float) -> str:
    if low > high:
        return f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
    for name, bound in (("from", low), ("to", high)):
        if not abs(bound) <= largest:
            return f"uniform_: {name}={bound} is out of bounds for {dtype_name}"
    return f"uniform_ expects to - from <= {largest} for {dtype_name}, but found from={low} and to={high}"


def fill_normal(generator, address: int, count: int, dtype_name: str, mean=0.0, std=1.0, serial: bool = False) -> None:
    """Normal numbers. `serial` draws in pairs whatever the size, as for a tensor that is not contiguous."""
    dtype = _float_dtype(dtype_name, "normal_")
    if not std >= 0:
        raise RuntimeError(f"normal_ expects std >= 0.0, but found std={std}")
    if count < 16 or serial:
        return _fill_pairs(generator, address, count, _kernel("normal", "normal_serial", dtype_name), mean, std)
    rest, words = count % 16, 2 if dtype.itemsize == 8 else 1
    # half types have no words drawn for the remainder that the tail then covers
    skipped = 0 if dtype.itemsize == 2 else rest * words
    kernel, tail = _kernel("normal", "normal", dtype_name), count - 16 if rest else -1
    return _fill(generator, kernel, (address,), count - rest, words, (float(mean), float(std)), tail, skipped)


def fill_log_normal(generator, address: int, count: int, dtype_name: str, mean=1.0, std=2.0) -> None:
    """e to the power of normal numbers."""
    _float_dtype(dtype_name, "log_normal_")
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    _fill_pairs(generator, address, count, _kernel("normal", "normal_serial", dtype_name, True), mean, std)


def _fill_pairs(generator, address: int, count: int, kernel, mean: float, std: float) -> None:
    if count:
        generator = default_generator if generator is None else generator
        with generator.lock:
            launch_kernel(kernel.address, [generator.address, address], [count, float(mean), float(std)], 1, 1)


def _threshold(p: float) -> int:
    """u < p for u = k / 2^53 means k < this."""
    return math.ceil(p * 2.0**53)


def fill_bernoulli(generator, address: int, count: int, dtype_name: str, p: float = 0.5) -> None:
    """1 with probability p, else 0, in any real dtype."""
    _real_dtype(dtype_name, "bernoulli_")
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    _fill(generator, _kernel("kernels", "bernoulli", dtype_name), (address,), count, 2, (_threshold(p),))


def fill_bernoulli_tensor(generator, address: int, count: int, dtype_name: str, p_address: int, p_dtype: str) -> None:
    """1 with the probability that lies at the same place of a contiguous array of `p_dtype`, else 0."""
    _real_dtype(dtype_name, "bernoulli_")
    words = 2 if _float_dtype(p_dtype, "bernoulli").itemsize == 8 else 1
    _fill(generator, _kernel("kernels", "bernoulli_tensor", dtype_name, p_dtype), (address, p_address), count, words)


def _kept(p: float, dtype: DType, function: str) -> tuple[int, float]:
    """The numbers of dropout kernels: the threshold, and 1 / (1 - p) as division in `dtype` gives it."""
    if not 0 <= p < 1:
        raise RuntimeError(f"{function} expects a probability in [0, 1), but got p={p}")
    scale = 1 / (1 - p)
    if dtype.name != "float64":
        scale = _rounded(1 / _rounded(1 - p, "f"), "f")
    if dtype.name == "float16":
        scale = _rounded(scale, "e") if scale < 65520 else math.inf
    if dtype.name == "bfloat16":
        bits = struct.unpack("<I", struct.pack("<f", scale))[0]
        scale = struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]
    return _threshold(1 - p), scale


def _rounded(number: float, format: str) -> float:
    return struct.unpack(format, struct.pack(format, number))[0]


def fill_dropout_noise(generator, address: int, count: int, dtype_name: str, p: float) -> None:
    """0 with probability p, else 1 / (1 - p), for 0 <= p < 1."""
    numbers = _kept(p, _float_dtype(dtype_name, "dropout"), "dropout")
    _fill(generator, _kernel("kernels", "noise", dtype_name), (address,), count, 2, numbers)


def fill_dropout(generator, address, mask_address, input_address, count: int, dtype_name: str, p: float) -> None:
    """Input times noise (see `fill_dropout_noise`), and a bool mask of what was kept, in one pass."""
    numbers = _kept(p, _float_dtype(dtype_name, "dropout"), "dropout")
    pointers = (address, mask_address, input_address)
    _fill(generator, _kernel("kernels", "dropout", dtype_name), pointers, count, 2, numbers)


# -- integers ---------------------------------------------------------------------------------------
_DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _fill_integers(generator, address: int, count: int, dtype_name: str, base: int, range: int, wide: bool) -> None:
    if not wide:
        # a little more than 1 / range, so that whole quotients do not fall below themselves
        numbers = (base, range, (1 + 2.0**-51) / range)
        return _fill(generator, _kernel("kernels", "integers", dtype_name, "modulo32"), (address,), count, 1, numbers)
    power = range & (range - 1) == 0
    kernel = _kernel("kernels", "integers", dtype_name, "mask64" if power else "modulo64")
    return _fill(generator, kernel, (address,), count, 2, (base, _signed(range - 1 if power else range)))


def fill_random(generator, address: int, count: int, dtype_name: str) -> None:
    """Whole numbers from 0 up to the largest of an integer dtype, or up to 2^digits of a floating one (`random_()`)."""
    dtype = _real_dtype(dtype_name, "random_")
    bits = 8 * dtype.itemsize - (dtype.kind == "i")
    range = 2 if dtype.kind == "b" else (1 << _DIGITS[dtype_name]) + 1 if dtype.kind == "f" else 1 << bits
    _fill_integers(generator, address, count, dtype_name, 0, range, dtype.itemsize == 8)


def fill_randint(generator, address: int, count: int, dtype_name: str, low: int, high: int) -> None:
    """Whole numbers in [low, high)."""
    dtype = _real_dtype(dtype_name, "random_")
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    least, most = _bounds(dtype)
    if low < least:
        raise RuntimeError(f"random_: from={low} is out of bounds for {dtype_name}")
    if high - 1 > most:
        raise RuntimeError(f"random_: to - 1={high - 1} is out of bounds for {dtype_name}")
    if dtype.kind == "f":
        low, high = _fit(low, high, _DIGITS[dtype_name])
        if low >= high:
            raise RuntimeError(f"random_: no {dtype_name} lies between from={low} and to={high}")
    range = high - low
    base = 0 if range == 1 << 64 else low  # all 64 bits are used as they are
    _fill_integers(generator, address, count, dtype_name, base, range, range >= 1 << 28)


def _bounds(dtype: DType) -> tuple[float, float]:
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind == "f":
        largest = _LARGEST.get(dtype.name, math.inf)
        return max(-largest, -(1 << 63)), min(largest, (1 << 63) - 1)
    bits = 8 * dtype.itemsize - (dtype.kind == "i")
    return -(1 << bits) if dtype.kind == "i" else 0, (1 << bits) - 1


def _fit(low: int, high: int, digits: int) -> tuple[int, int]:
    """Bounds moved inwards where a float of so many digits would round over them."""
    first, last = _to_digits(low + 1, digits), _to_digits(high - 1, digits)
    if first < low:
        low = first + (1 << abs(first).bit_length() - digits)
    if last >= high:
        high = last - (1 << abs(last).bit_length() - digits)
    return low, high


def _to_digits(number: int, digits: int) -> int:
    """An integer rounded to so many binary digits, ties to even."""
    shift = max(abs(number).bit_length() - digits, 0)
    half = (1 << shift) >> 1
    magnitude = abs(number)
    rounded = magnitude + half - (shift > 0 and not magnitude >> shift & 1) >> shift << shift
    return -rounded if number < 0 else rounded


def random_int64(generator=None) -> int:
    """One number in [0, 2^63), as `empty((), dtype=int64).random_().item()` gives it: a data loader's seed."""
    memory = array("q", bytes(8))
    fill_random(generator, memory.buffer_info()[0], 1, "int64")
    return memory[0]


# -- choices ----------------------------------------------------------------------------------------
def fill_randperm(generator, address: int, n: int, dtype_name: str = "int64") -> None:
    """A permutation of 0 to n - 1."""
    dtype = dtype_named(dtype_name)
    largest = (1 << _DIGITS[dtype_name]) + 1 if dtype.kind == "f" else int(_bounds(dtype)[1]) + 1
    if n < 0:
        raise RuntimeError(f"randperm: expected n >= 0, got {n}")
    if n > largest or dtype.kind == "b":
        raise RuntimeError(f"randperm: n={n} is too large for {dtype_name}")
    generator = default_generator if generator is None else generator
    long = n >= (1 << 32) / 20
    kernel = _kernel("choice", "permutation_long" if long else "permutation", dtype.itemsize)
    with generator.lock:
        launch_kernel(_kernel("choice", "ascending", dtype_name).address, [address], [], n, 1 << 15)
        launch_kernel(kernel.address, [generator.address, address], [n], 1, 1)


def fill_multinomial(generator, address, weights_address, dtype_name: str, rows: int, categories: int, samples: int):
    """Indices (int64, rows by samples) drawn with replacement in proportion to weights (rows by categories)."""
    _float_dtype(dtype_name, "multinomial")
    uniform = array("d", bytes(8 * rows * samples))
    place = uniform.buffer_info()[0]
    fill_uniform(generator, place, rows * samples, "float64")
    buffers = [weights_address, place, address]
    kernel = _kernel("choice", "multinomial", dtype_name)
    launch_kernel(kernel.address, buffers, [categories, samples], rows, 1, 8 * categories)


def fill_exponential(generator, address: int, count: int, dtype_name: str, rate: float = 1.0) -> None:
    """-log(1 - u) / rate."""
    _float_dtype(dtype_name, "exponential_")
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
    kernel = _kernel("normal", "transformed", "exponential", dtype_name)
    _fill(generator, kernel, (address,), count, 2, (-1 / rate, 0.0))


def fill_cauchy(generator, address: int, count: int, dtype_name: str, median=0.0, sigma=1.0) -> None:
    """median + sigma tan(pi (u - 1/2))."""
    _float_dtype(dtype_name, "cauchy_")
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    kernel = _kernel("normal", "transformed", "cauchy", dtype_name)
    _fill(generator, kernel, (address,), count, 2, (float(median), float(sigma)))


def fill_geometric(generator, address: int, count: int, dtype_name: str, p: float) -> None:
    """Trials up to the first success of probability p, in any dtype but bool."""
    if _real_dtype(dtype_name, "geometric_").kind == "b":
        raise NotImplementedError("geometric_: expected a dtype other than bool")
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    kernel = _kernel("normal", "transformed", "geometric", dtype_name)
    _fill(generator, kernel, (address,), count, 2, (math.log1p(-p), 0.0))


# -- numbers with parameters of their own -----------------------------------------------------------
def _fill_by_rejection(distribution, generator, address, count, dtype_name: str, *parameters: int) -> None:
    _float_dtype(dtype_name, distribution)
    kernel = _kernel("rejection", "rejection", distribution, dtype_name)
    generator = default_generator if generator is None else generator
    with generator.lock:
        launch_kernel(kernel.address, [generator.address, address, *parameters], [count], 1, 1)


def fill_poisson(generator, address: int, count: int, dtype_name: str, rate_address: int) -> None:
    """Poisson numbers, each for the rate at the same place of a contiguous array of the same floating dtype."""
    _fill_by_rejection("poisson", generator, address, count, dtype_name, rate_address)


def fill_binomial(generator, address: int, count: int, dtype_name: str, trials_address: int, p_address: int) -> None:
    """Successes in so many trials of probability p, both contiguous arrays of the same floating dtype."""
    _fill_by_rejection("binomial", generator, address, count, dtype_name, trials_address, p_address)


def fill_gamma(generator, address: int, count: int, dtype_name: str, shape_address: int) -> None:
    """Gamma numbers of scale 1 and the shapes of a contiguous array of the same floating dtype."""
    _fill_by_rejection("gamma", generator, address, count, dtype_name, shape_address)
