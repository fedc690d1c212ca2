"""What all tests share: a fixed seed, the default modes after each test, and kernels cached between runs."""

import pytest

import rushlight as rl


@pytest.fixture(autouse=True)
def clean_state():
    """Every test starts from the same random numbers, and leaves the modes as they were."""
    rl.manual_seed(0)
    threads = rl.get_num_threads()
    yield
    rl.set_num_threads(threads)
    rl.set_default_dtype(rl.float32)
    rl.set_grad_enabled(True)
