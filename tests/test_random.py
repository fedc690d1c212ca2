"""Streams of random numbers against stored values of PyTorch's, and against PyTorch itself where it is installed."""

from __future__ import annotations

import copy
import json
import os
import pickle
import sys
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest
from rushlight.core.engine import get_num_threads, launch_kernel, set_num_threads

from rushlight import random
from rushlight.compiler import random_choice, random_jump
from rushlight.compiler.random_state import POSITION, SIZE, STATE_BYTES, STATE_WORDS
from rushlight.random import Generator

sys.path.insert(0, str(Path(__file__).parent / "data"))
from random_cases import CASES, INEXACT, KEYS, SEEDS, STORED, fill, sizes, summary, torch_fill

EXPECTED = json.loads(STORED.read_text())


@pytest.fixture
def threads():
    """Set the number of threads; the old one returns afterwards."""
    before = get_num_threads()
    yield set_num_threads
    set_num_threads(before)


@pytest.fixture
def small_chunks(monkeypatch):
    """Every fill runs in chunks of at least two blocks."""
    monkeypatch.setattr(random, "PARALLEL_WORDS", 1)
    monkeypatch.setattr(random, "LEAST_JUMP", 1)


def seeded(seed: int) -> Generator:
    return Generator().manual_seed(seed)


def draw(function, generator, shape, dtype: str, *arguments) -> np.ndarray:
    array = np.empty(shape, dtype)
    function(generator, array.ctypes.data, array.size, dtype, *arguments)
    return array


def agree(a: np.ndarray, b: np.ndarray, key: tuple[str, str]) -> bool:
    """Bit for bit, or for float64 functions up to 4 units in the last place of the larger terms of a sum."""
    if key not in INEXACT:
        return a.tobytes() == b.tobytes()
    return np.allclose(a, b, rtol=4 * np.finfo(np.float64).eps, atol=4e-16)


# -- values -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name, dtype", KEYS, ids=[" ".join(key) for key in KEYS])
def test_stored_values(name, dtype):
    for seed in SEEDS:
        generator = seeded(seed)
        made = summary((name, dtype), [fill(generator, name, dtype, n) for n in sizes(name)])
        expected = EXPECTED[f"{name} {dtype} {seed}"]
        if (name, dtype) in INEXACT:
            assert agree(np.array(made), np.array(expected), (name, dtype))
        else:
            assert made == expected


def test_stored_values_are_complete():
    assert set(EXPECTED) == {f"{name} {dtype} {seed}" for name, dtype in KEYS for seed in SEEDS}


def test_normal_numbers_of_strided_tensors_come_in_pairs():
    made = draw(random.fill_normal, seeded(5), 40, "float32", 0.0, 1.0, True)
    assert made[:3].tolist() == [-0.4867807626724243, -0.6038215756416321, -0.5580962300300598]
    assert made[-2:].tolist() == [-0.3991796374320984, 1.2153481245040894]


def test_odd_normal_number_is_kept_for_the_next_call():
    whole = draw(random.fill_normal, seeded(5), 12, "float64")
    generator = seeded(5)
    parts = [draw(random.fill_normal, generator, n, "float64") for n in (1, 3, 5, 3)]
    assert np.concatenate(parts).tobytes() == whole.tobytes()


@pytest.mark.parametrize(
    "dtype, expected",
    [
        ("float32", [0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1]),
        ("float64", [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_bernoulli_with_a_tensor_of_probabilities(dtype, expected):
    p = np.linspace(0, 1, 20).astype(dtype)
    made = draw(random.fill_bernoulli_tensor, seeded(5), 20, "int64", p.ctypes.data, dtype)
    uniform = draw(random.fill_uniform, seeded(5), 20, dtype)
    assert made.tolist() == (uniform < p).tolist()
    assert made.tolist() == expected


def test_dropout_scales_what_it_keeps():
    x, y, mask = np.arange(1, 13, dtype=np.float32), np.empty(12, np.float32), np.empty(12, np.bool_)
    random.fill_dropout(seeded(5), y.ctypes.data, mask.ctypes.data, x.ctypes.data, 12, "float32", 0.3)
    expected = [1.4285714626312256, 2.857142925262451, 4.285714149475098, 5.714285850524902, 7.142857551574707, 0.0]
    expected += [10.0, 0.0, 0.0, 14.285715103149414, 15.714285850524902, 17.14285659790039]
    assert y.tolist() == expected
    assert mask.tolist() == [value != 0 for value in expected]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dropout_is_a_product_with_noise(dtype):
    x = np.linspace(-3, 3, 1003).astype(dtype)
    x[5], x[6], x[7] = np.inf, np.nan, -0.0
    y, mask = np.empty_like(x), np.empty(x.size, np.bool_)
    random.fill_dropout(seeded(2), y.ctypes.data, mask.ctypes.data, x.ctypes.data, x.size, dtype, 0.4)
    noise = draw(random.fill_dropout_noise, seeded(2), x.size, dtype, 0.4)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(y, x * noise)
    assert mask.tolist() == (noise != 0).tolist()
    assert np.signbit(y[7])


def test_multinomial_with_replacement():
    weights, indices = np.array([[1, 2, 3, 4], [4, 0, 0, 1]], np.float32), np.empty((2, 8), np.int64)
    random.fill_multinomial(seeded(5), indices.ctypes.data, weights.ctypes.data, "float32", 2, 4, 8)
    assert indices.tolist() == [[3, 1, 2, 2, 1, 3, 2, 3], [3, 0, 0, 0, 3, 0, 0, 0]]


def test_long_permutations_are_made_inside_out():
    n, made, generator = 5000, np.empty(5000, np.int64), seeded(5)
    launch_kernel(random_choice.ascending("int64").address, [made.ctypes.data], [], n, 64)
    kernel = random_choice.permutation_long(8)
    launch_kernel(kernel.address, [generator.address, made.ctypes.data], [n], 1, 1)
    words = draw(random.fill_randint, seeded(5), n, "int64", -(2**63), 2**63).view(np.uint64)
    expected = []
    for i, word in enumerate(words.tolist()):
        expected.append(i)
        place = word % (i + 1)
        expected[i], expected[place] = expected[place], i
    assert made.tolist() == expected


# -- what nn and data draw --------------------------------------------------------------------------
def test_initialisers_are_uniform_streams():
    """`Linear(4, 2)` draws its weight by `kaiming_uniform_(a=sqrt 5)`: uniform within 1 / sqrt(4)."""
    weight = draw(random.fill_uniform, seeded(5), 8, "float32", -0.5, 0.5)
    expected = [0.33025187253952026, -0.37388908863067627, 0.4074696898460388, 0.31992703676223755]
    expected += [0.42010343074798584, -0.3833547830581665, -0.33560848236083984, 0.2379193902015686]
    assert weight.tolist() == expected


def test_data_loader_draws_a_seed_for_workers_then_one_for_the_sampler():
    generator = seeded(5)
    assert random.random_int64(generator) == 4095051218741643470
    order = np.empty(10, np.int64)
    random.fill_randperm(seeded(random.random_int64(generator)), order.ctypes.data, 10)
    assert order.tolist() == [8, 3, 0, 5, 9, 1, 6, 2, 4, 7]


# -- threads ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name, dtype", [(n, "float64") for n in ("uniform", "normal", "exponential")])
@pytest.mark.parametrize("size", [20000, 20001, 624 * 32])
def test_threads_do_not_change_the_numbers(name, dtype, size, threads, monkeypatch):
    threads(1)
    alone = seeded(3)
    expected = [fill(alone, name, dtype, size) for _ in range(2)]
    monkeypatch.setattr(random, "PARALLEL_WORDS", 1)
    for count in (2, 3):
        for least in (1, 3):
            monkeypatch.setattr(random, "LEAST_JUMP", least)
            threads(count)
            together = seeded(3)
            made = [fill(together, name, dtype, size) for _ in range(2)]
            assert np.array_equal(made, expected)
            assert together.state_bytes() == alone.state_bytes()


@pytest.mark.parametrize("name, dtype", KEYS, ids=[" ".join(key) for key in KEYS])
def test_stored_values_in_chunks(name, dtype, threads, small_chunks):
    threads(2)
    test_stored_values(name, dtype)


@pytest.mark.parametrize("m", [0, 1, 7])
def test_jump_moves_a_state_by_blocks(m):
    generator, states = seeded(9), np.zeros((2, STATE_WORDS), np.uint32)
    draw(random.fill_uniform, generator, 700, "float32")
    states[0] = np.frombuffer(generator._words, np.uint32)
    coefficients = np.frombuffer(random_jump.polynomial_bytes(m), np.uint32).copy()
    launch_kernel(random_jump.jump().address, [states.ctypes.data, coefficients.ctypes.data], [1], 1, 1)
    draw(random.fill_uniform, generator, SIZE << m, "float32")
    assert states[1, : POSITION + 1].tolist() == generator._words[: POSITION + 1].tolist()
    assert states.itemsize * STATE_WORDS == STATE_BYTES


def test_python_threads_share_a_stream():
    """Two threads that draw from one generator take disjoint parts of its stream."""
    expected = draw(random.fill_randint, seeded(4), (400, 50), "int64", 0, 2**27)
    generator, parts = seeded(4), [[], []]

    def work(part):
        for _ in range(200):
            part.append(draw(random.fill_randint, generator, 50, "int64", 0, 2**27))

    workers = [threading.Thread(target=work, args=(part,)) for part in parts]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    made = sorted(row.tolist() for part in parts for row in part)
    assert made == sorted(expected.tolist())


# -- generators -------------------------------------------------------------------------------------
def test_state_has_the_layout_of_pytorch():
    generator = seeded(5)
    draw(random.fill_uniform, generator, 1000, "float32")
    draw(random.fill_normal, generator, 3, "float32")
    assert len(generator.state_bytes()) == 5056
    block, normal = generator.state_bytes()[: 24 + 8 * SIZE], generator.state_bytes()[24 + 8 * SIZE :]
    assert zlib.crc32(block) == 2813928188
    assert np.frombuffer(normal[8:16], np.float64)[0] == pytest.approx(0.17907520312269426, rel=1e-15)
    assert normal[24] == 1


@pytest.mark.parametrize("draws", [0, 1, 623, 624, 625])
def test_state_round_trip(draws):
    generator = seeded(6)
    draw(random.fill_uniform, generator, draws, "float32")
    draw(random.fill_normal, generator, 1, "float64")
    others = [generator.clone_state(), pickle.loads(pickle.dumps(generator)), copy.deepcopy(generator), Generator()]
    others[-1].load_state_bytes(generator.state_bytes())
    expected = draw(random.fill_normal, generator, 5, "float64")
    for other in others:
        assert draw(random.fill_normal, other, 5, "float64").tolist() == expected.tolist()
        assert other.initial_seed() == 6


def test_get_state_is_a_tensor():
    state = seeded(5).get_state()
    assert tuple(state.shape) == (5056,) and state.dtype.name == "uint8"
    generator = Generator()
    assert generator.set_state(state) is generator
    assert generator.state_bytes() == seeded(5).state_bytes()


@pytest.mark.parametrize("state", [b"", bytes(5055), bytes(5056), b"\xff" * 5056])
def test_bad_states_are_refused(state):
    generator = seeded(5)
    before = generator.state_bytes()
    with pytest.raises(RuntimeError, match="set_state"):
        generator.load_state_bytes(state)
    assert generator.state_bytes() == before


def test_state_must_be_bytes():
    with pytest.raises(TypeError, match="uint8"):
        Generator().set_state([1, 2])


@pytest.mark.parametrize("seed, initial", [(0, 0), (-1, 2**64 - 1), (-(2**63), 2**63), (2**64 - 1, 2**64 - 1)])
def test_seeds(seed, initial):
    generator = seeded(seed)
    assert generator.initial_seed() == initial
    # only the lower 32 bits make the stream
    same = draw(random.fill_uniform, seeded(initial % 2**32), 5, "float32")
    assert draw(random.fill_uniform, generator, 5, "float32").tolist() == same.tolist()


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seeds_out_of_range(seed):
    with pytest.raises(ValueError, match="manual_seed"):
        Generator().manual_seed(seed)


def test_generators_start_alike_and_seed_at_random():
    assert Generator().initial_seed() == Generator().initial_seed() == 67280421310721
    generator = Generator()
    seeds = {generator.seed() for _ in range(4)}
    assert len(seeds) == 4 and generator.initial_seed() in seeds


def test_only_the_cpu_has_generators():
    with pytest.raises(RuntimeError, match="cpu"):
        Generator("meta")


def test_default_generator():
    assert random.manual_seed(8) is random.default_generator
    assert random.initial_seed() == 8
    state = random.get_rng_state()
    first = draw(random.fill_uniform, None, 5, "float32")
    with random.fork_rng():
        draw(random.fill_uniform, None, 3, "float32")
    second = draw(random.fill_uniform, None, 5, "float32")
    random.set_rng_state(state)
    assert draw(random.fill_uniform, None, 10, "float32").tolist() == [*first, *second]
    with random.fork_rng(enabled=False):
        random.manual_seed(8)
    assert draw(random.fill_uniform, None, 5, "float32").tolist() == first.tolist()
    random.seed()
    assert random.initial_seed() != 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_child_process_draws_though_a_thread_held_the_lock():
    held, release = threading.Event(), threading.Event()

    def hold():
        with random.default_generator.lock:
            held.set()
            release.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if random.default_generator.lock.acquire(timeout=5) else 1)
    release.set()
    holder.join()
    assert os.waitpid(child, 0)[1] == 0


def test_nothing_drawn_changes_nothing():
    generator = seeded(5)
    before = generator.state_bytes()
    for name, dtype in KEYS:
        fill(generator, name, dtype, 0)
    assert generator.state_bytes() == before


# -- errors -----------------------------------------------------------------------------------------
BAD = [
    (random.fill_uniform, "float32", (2, 1), "from=2 > to=1"),
    (random.fill_uniform, "float16", (0, 7e4), "out of bounds for float16"),
    (random.fill_uniform, "float32", (-3e38, 3e38), "to - from"),
    (random.fill_uniform, "float32", (float("nan"), 1), "out of bounds"),
    (random.fill_uniform, "int32", (), "floating point"),
    (random.fill_normal, "float32", (0, -1), "std >= 0"),
    (random.fill_normal, "int64", (), "floating point"),
    (random.fill_log_normal, "float32", (0, 0), "std > 0"),
    (random.fill_exponential, "float32", (0,), "lambda > 0"),
    (random.fill_cauchy, "float32", (0, 0), "sigma > 0"),
    (random.fill_geometric, "float32", (1,), "p to be in"),
    (random.fill_geometric, "bool", (0.5,), "other than bool"),
    (random.fill_bernoulli, "float32", (1.5,), "p to be in"),
    (random.fill_dropout_noise, "float32", (1.0,), "probability in"),
    (random.fill_randint, "int64", (5, 5), "less than 'to'"),
    (random.fill_randint, "int8", (0, 129), "out of bounds for int8"),
    (random.fill_randint, "uint8", (-1, 5), "out of bounds for uint8"),
    (random.fill_randint, "float16", (0, 70000), "out of bounds for float16"),
]


@pytest.mark.parametrize("function, dtype, arguments, message", BAD)
def test_errors(function, dtype, arguments, message):
    with pytest.raises(RuntimeError, match=message):
        draw(function, seeded(5), 3, dtype, *arguments)


@pytest.mark.parametrize("n, dtype", [(-1, "int64"), (129, "int8"), (258, "bfloat16"), (2, "bool")])
def test_permutations_that_do_not_fit(n, dtype):
    with pytest.raises(RuntimeError, match="randperm"):
        random.fill_randperm(seeded(5), 0, n, dtype)


# -- PyTorch ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", [1, 2**33])
def test_streams_of_pytorch(seed):
    torch = pytest.importorskip("torch")
    torch.manual_seed(seed)
    generator = seeded(seed)
    for size in (1, 15, 16, 17, 33, 624, 5001):
        for name, dtype in KEYS:
            if size <= CASES[name].largest:
                expected = torch_fill(name, dtype, size)
                assert agree(fill(generator, name, dtype, size), expected, (name, dtype)), (name, dtype, size)
    theirs = bytes(torch.get_rng_state().numpy())
    assert generator.state_bytes()[: 24 + 8 * SIZE] == theirs[: 24 + 8 * SIZE]
    # each understands the other's state
    torch.set_rng_state(torch.tensor(list(generator.state_bytes()), dtype=torch.uint8))
    generator.load_state_bytes(theirs)
    assert fill(generator, "normal", "float32", 7).tolist() == torch_fill("normal", "float32", 7).tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_multinomial_of_pytorch(dtype):
    torch = pytest.importorskip("torch")
    weights = torch.rand(3, 1000, generator=torch.Generator()).to(getattr(torch, dtype))
    weights[:, ::3] = 0
    torch.manual_seed(7)
    expected = torch.multinomial(weights, 500, replacement=True)
    indices = np.empty((3, 500), np.int64)
    random.fill_multinomial(seeded(7), indices.ctypes.data, weights.data_ptr(), dtype, 3, 1000, 500)
    assert np.array_equal(indices, expected.numpy())
