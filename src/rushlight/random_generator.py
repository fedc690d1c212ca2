"""Generators: the state of a Mersenne Twister, its seeds, its layout in bytes."""

from __future__ import annotations

import os
import struct
import threading
from array import array

from .compiler.random_state import HAS_NORMAL, NORMAL, POSITION, SIZE, STATE_BYTES
from .core.engine import Device, borrow_storage, launch_kernel, make_tensor, require_device
from .ir.dtypes import uint8

DEFAULT_SEED = 67280421310721
STATE_NBYTES = 5056
# seed, words left, seeded, words used; then the block in 64-bit places; then the kept normal number and its flag
_HEAD, _NORMAL_TAIL = struct.Struct("<QiiQ"), struct.Struct("<8xd8xi12x")


class Generator:
    """A stream of random numbers.

    Args:
        device: where numbers are made; only the CPU has a generator of this kind.

    Example:
        >>> rushlight.Generator().manual_seed(7).initial_seed()
        7
    """

    def __init__(self, device="cpu"):
        self.device = Device(device)
        require_device(self.device)
        self.lock = threading.RLock()
        self._words = array("I", bytes(STATE_BYTES))
        self._address = self._words.buffer_info()[0]
        self._set_seed(DEFAULT_SEED)

    # -- seeds ----------------------------------------------------------------------------------
    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream from a seed in [-2^63, 2^64); a negative one counts from 2^64 down."""
        number = int(seed)
        if not -(1 << 63) <= number < 1 << 64:
            raise ValueError(f"manual_seed: expected a seed in [-2**63, 2**64), got {number}")
        self._set_seed(number % (1 << 64))
        return self

    def _set_seed(self, seed: int) -> None:
        with self.lock:
            # the block is filled when it is first needed: most generators are made only to be seeded again
            self._seed, self._pending = seed, True

    def seed(self) -> int:
        """Restart from a seed of the operating system's; returns it."""
        self._set_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """The seed of the last restart."""
        return self._seed

    @property
    def address(self) -> int:
        """Where the state lies, in the form that kernels know (see `compiler/random_stream.py`)."""
        if self._pending:
            from .compiler.random_stream import seeding

            seed = self._seed & 0xFFFFFFFF
            launch_kernel(seeding().address, [self._address], [seed], 1, 1)
            self._pending = False
        return self._address

    # -- state ----------------------------------------------------------------------------------
    def state_bytes(self) -> bytes:
        """The state in PyTorch's layout of 5056 bytes."""
        with self.lock:
            _ = self.address
            words, position = self._words, self._words[POSITION]
            fresh = position > SIZE
            head = _HEAD.pack(self._seed, 1 if fresh else SIZE + 1 - position, 1, 0 if fresh else position)
            normal = struct.unpack("<d", words[NORMAL : NORMAL + 2].tobytes())[0] if words[HAS_NORMAL] else 0.0
            block = array("Q", words[:SIZE]).tobytes()
            return head + block + _NORMAL_TAIL.pack(normal, words[HAS_NORMAL])

    def load_state_bytes(self, state: bytes) -> None:
        """Take over a state in PyTorch's layout.

        Raises:
            RuntimeError: if it has another size or holds no state of this generator
        """
        if len(state) != STATE_NBYTES:
            raise RuntimeError(f"set_state: expected a state of {STATE_NBYTES} bytes, got {len(state)}")
        seed, left, seeded, used = _HEAD.unpack_from(state)
        block = array("Q", state[_HEAD.size : _HEAD.size + 8 * SIZE])
        if seeded != 1 or not 1 <= left <= SIZE or used > SIZE or max(block) >= 1 << 32:
            raise RuntimeError("set_state: the bytes hold no MT19937 state")
        normal, has_normal = _NORMAL_TAIL.unpack_from(state, _HEAD.size + 8 * SIZE)
        with self.lock:
            self._seed, self._pending = seed, False
            self._words[:SIZE] = array("I", block)
            self._words[POSITION] = SIZE + 1 if left == 1 and used == 0 else SIZE + 1 - left
            self._words[HAS_NORMAL] = has_normal != 0
            self._words[NORMAL : NORMAL + 2] = array("I", struct.pack("<d", normal))

    def get_state(self):
        """The state as a uint8 tensor of 5056 elements, which PyTorch understands as well."""
        owner = array("B", self.state_bytes())
        storage = borrow_storage(owner.buffer_info()[0], STATE_NBYTES, owner)
        return make_tensor(storage, 0, (STATE_NBYTES,), (1,), uint8)

    def set_state(self, new_state) -> Generator:
        """Take over a state that `get_state` gave."""
        if getattr(new_state, "dtype", None) is not uint8:
            raise TypeError(f"set_state: expected a uint8 tensor, got {type(new_state).__name__}")
        self.load_state_bytes(bytes(new_state.reshape(-1).tolist()))
        return self

    def clone_state(self) -> Generator:
        """A second generator that goes on from the same state."""
        return _restored(self.state_bytes())

    def __reduce__(self):
        return _restored, (self.state_bytes(),)

    def __repr__(self) -> str:
        return f"<Generator on {self.device} with initial seed {self._seed}>"


def _restored(state: bytes) -> Generator:
    generator = Generator()
    generator.load_state_bytes(state)
    return generator


default_generator = Generator()
default_generator.seed()


def _renew_lock() -> None:
    # a thread that held it was not copied into the child process, and could never release it
    default_generator.lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)
