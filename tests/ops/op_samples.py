"""What the table of ops is written with: rows, and the makers of sample arguments.

Samples are NumPy arrays, so that the oracle and the op start from the same numbers; `Fixed` ones get no gradient.
"""

import zlib

import numpy as np

NUMPY_TYPES = {
    "f": "float32",
    "d": "float64",
    "h": "float32",
    "c": "complex64",
    "z": "complex128",
    "i": "int64",
    "b": "bool",
}


class Fixed(np.ndarray):
    """An array that is never differentiated: targets, statistics."""


class Maker:
    """Makes arrays of the dtype under test: `x(3, 4)`, always the same ones for the same row."""

    def __init__(self, name: str, letter: str):
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.letter, self.numpy = letter, NUMPY_TYPES[letter]

    def __call__(self, *shape, low=-2.0, high=2.0):
        """Random numbers in [low, high); integers and bools for those dtypes."""
        drawn = self.random.uniform(low, high, shape)
        if self.letter == "b":
            return np.array(drawn > (low + high) / 2)
        if self.letter == "i":
            return np.array(self.random.integers(int(low), max(int(high), int(low) + 1) + 1, shape))
        if self.letter in "cz":
            drawn = drawn + 1j * self.random.uniform(low, high, shape)
        made = np.array(drawn).astype(self.numpy)
        return rounded(made) if self.letter == "h" else made

    def fixed(self, *shape, **bounds):
        """Random numbers that get no gradient."""
        return self(*shape, **bounds).view(Fixed)

    def spaced(self, *shape, low=-2.0, high=2.0):
        """Numbers far from each other, in random order: no ties, no near ties."""
        made = self.random.permutation(np.linspace(low, high, int(np.prod(shape)))).reshape(shape)
        return rounded(made.astype(self.numpy)) if self.letter == "h" else made.astype(self.numpy)

    def index(self, *shape, high, low=0):
        """Indices in [low, high)."""
        return np.array(self.random.integers(low, high, shape))

    def distinct(self, *shape, high):
        """Indices in [0, high), different along the last dim."""
        rows = [self.random.permutation(high)[: shape[-1]] for _ in range(int(np.prod(shape[:-1])))]
        return np.array(rows, dtype="int64").reshape(shape)

    def mask(self, *shape):
        return np.array(self.random.integers(0, 2, shape), bool)

    def number(self, value=1.5):
        """A Python number of the dtype's kind."""
        return {"i": int(value + 0.5), "b": True}.get(self.letter, value)


def enlarged(size: int) -> int:
    """Vectors and tails of every width: 2, 3, 4, 5 become 13, 18, 23, 28."""
    return size if size <= 1 else 5 * size + 3


class LargeMaker(Maker):
    """Makes the same samples with every size larger, sizes that were equal still equal; indices stay in their range."""

    def __call__(self, *shape, **bounds):
        return super().__call__(*map(enlarged, shape), **bounds)

    def spaced(self, *shape, **bounds):
        return super().spaced(*map(enlarged, shape), **bounds)

    def mask(self, *shape):
        return super().mask(*map(enlarged, shape))

    def index(self, *shape, **bounds):
        return super().index(*map(enlarged, shape), **bounds)

    def distinct(self, *shape, high):
        return super().distinct(*map(enlarged, shape), high=enlarged(high))


def rounded(array):
    """Numbers that bfloat16 can hold."""
    bits = np.ascontiguousarray(array).view("uint32") & 0xFFFF0000
    return bits.view("float32").reshape(array.shape)


class Row:
    """One op: its name among `rushlight.ops.OPS`, its sample calls and what is promised of it.

    samples   samples(x) -> list of calls, each a tuple of arguments, the last a dict if some go by keyword
    dtypes    what it takes: letters f (float32, float64), h (bfloat16), c (complex), i (int64), b (bool)
    others    whether dtypes beyond those make sense at all
    grad      "" where finite differences don't apply, "1" for first order only
    layouts   whether it takes other layouts than contiguous ones
    larger    whether its samples make sense with every size larger (no sizes among static arguments)
    rtol      relative tolerance of float32 results
    """

    def __init__(self, name, samples, dtypes="fh", *, grad="2", rtol=1e-5, others=True, layouts=True, larger=True):
        self.name, self.samples, self.dtypes = name, samples, dtypes
        self.grad, self.rtol, self.others, self.layouts, self.larger = grad, rtol, others, layouts, larger

    def calls(self, letter: str, maker=Maker) -> list:
        maker = maker(self.name, letter)
        return [call if isinstance(call[-1], dict) else (*call, {}) for call in self.samples(maker)]


ALL, NUMBERS, REAL, FLOATS = "fhcib", "fhci", "fhi", "fh"


def rows(names, samples, dtypes=FLOATS, **promises):
    return [Row(name, samples, dtypes, **promises) for name in names.split()]


def unary(low=-2.0, high=2.0):
    """An op of one tensor, on numbers between bounds."""
    return lambda x: [
        (x(3, 4, low=low, high=high),),
        (x(low=low, high=high),),
        (x(0, 3),),
        (x(2, 3, 5, low=low, high=high),),
    ]


def binary(low=-2.0, high=2.0, number=1.5):
    """An op of two tensors that broadcast, or of a tensor and a number."""

    def samples(x):
        def draw(*shape):
            return x(*shape, low=low, high=high)

        return [
            (draw(3, 4), draw(3, 4)),
            (draw(2, 3, 4), draw(4)),
            (draw(3, 1), draw(1, 4)),
            (draw(2, 3), x.number(number)),
            (draw(), draw(2)),
            (x(0, 3), draw(3)),
        ]

    return samples


def tensors(low=-2.0, high=2.0):
    """An op of two tensors that broadcast."""
    return lambda x: [call for call in binary(low, high)(x) if isinstance(call[1], np.ndarray)]


def along_dim():
    """An op that runs along a dim."""
    return lambda x: [(x(3, 4), 1), (x(2, 3, 4), -2), (x(), 0), (x(0, 3), 0)]


def reduction(low=-2.0, high=2.0, several=True, empty=True):
    """An op that takes `dim` (several if so) and `keepdim`."""

    def samples(x):
        def draw(*shape):
            return x(*shape, low=low, high=high)

        found = [
            (draw(3, 4), {"dim": 1}),
            (draw(2, 3, 4), {"dim": -2, "keepdim": True}),
            (draw(5),),
            (draw(), {"dim": 0}),
        ]
        found += [(draw(2, 3, 4), {"dim": (0, 2)})] if several else []
        found += [(x(3, 0), {"dim": 1})] if empty else []
        return [*found, (x(0, 3), {"dim": 1})]

    return samples


def pooling(dims: int, **options):
    """A window over `dims` spatial dims."""
    shape = (7, 6, 5)[:dims]
    return lambda x: [
        (x.spaced(2, 3, *shape), 2),
        (
            x.spaced(3, *shape),
            (3,) * dims,
            {"stride": (2,) * dims, "padding": (1,) * dims, "ceil_mode": True, **options},
        ),
    ]
