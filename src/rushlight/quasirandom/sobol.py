"""Sobol sequences, plain and scrambled.

Point n is the exclusive or of the direction numbers that the Gray code of n names. The code is linear over GF(2), so
the points of 256 low and of all high parts of the indices, combined in pairs, give all points.
"""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ops import FUNCTIONS as F
from ..ops import op
from ..ops.checks import check_kinds
from ..random_generator import Generator
from .directions import MAXBIT, MAXDIM, directions

LOW_BITS = 8
FEW = 1 << LOW_BITS + 1  # points to compute one by one


@op(public=False)
def gray_points(indices, state):
    """int64 [n] and [dim, 30] to [n, dim]: points of a sequence as 30-bit fractions."""
    gray = B.bit_xor(indices, B.shift_right(indices, 1))
    shape = (indices.shape[0], state.shape[0])
    total = B.zeros(shape, dtypes.int64)
    for j in range(MAXBIT):
        chosen = B.ne(B.bit_and(B.shift_right(gray, j), 1), 0)
        total = B.bit_xor(total, B.where(B.unsqueeze(chosen, 1), B.select(state, 1, j), 0))
    return total


@op(public=False)
def joined_points(high, low, shift):
    """int64 [H, dim] and [L, dim] to [H·L, dim]: the points of all indices from those of their parts."""
    points = B.bit_xor(B.bit_xor(B.unsqueeze(high, 1), low), shift)
    return B.flatten(points, 0, 1)


@op(public=False)
def as_fractions(points, dtype: Dtype):
    """30-bit fractions as floating point numbers."""
    return B.cast(points, dtype) * 0.5**MAXBIT


class SobolEngine:
    """Draws from a Sobol sequence in [0, 1)^dimension (Sobol, 1967; direction numbers of Joe and Kuo, 2008).

    Args:
        dimension: 1 to 21201
        scramble: multiply the direction numbers by random lower triangular matrices and shift the points by random
            digits (Owen, 1998)
        seed: of the scrambling; drawn from the operating system if None

    Raises:
        ValueError: for other dimensions, and for draws that would leave the first 2^30 points

    Example:
        >>> rushlight.quasirandom.SobolEngine(dimension=2).draw(3)
        tensor([[0.0000, 0.0000],
                [0.5000, 0.5000],
                [0.7500, 0.2500]])
    """

    MAXBIT = MAXBIT
    MAXDIM = MAXDIM

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]; got {dimension}"
            )
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = directions(dimension)
        self.shift = F["zeros"](dimension, dtype=dtypes.int64)
        self.num_generated = 0
        if scramble:
            self._scramble()

    def _scramble(self) -> None:
        generator = Generator()
        generator.seed() if self.seed is None else generator.manual_seed(self.seed)
        digits = F["randint"](2, (self.dimension, MAXBIT), generator=generator)
        self.shift = (digits << F["arange"](MAXBIT)).sum(1)
        matrices = F["randint"](2, (self.dimension, MAXBIT, MAXBIT), generator=generator)
        self.sobolstate = scrambled(self.sobolstate, matrices.tril().float())

    @property
    def quasi(self) -> Tensor:
        """int64 (dimension,): the last point drawn (the first one, before any draw) as 30-bit fractions."""
        return self._points(max(self.num_generated - 1, 0), 1)[0]

    def draw(self, n: int = 1, out: Tensor | None = None, dtype=None) -> Tensor:
        """The next `n` points: (n, dimension), of the default dtype unless another is given."""
        self._check_room(n)
        dtype = dtypes.default if dtype is None else dtype
        check_kinds("SobolEngine.draw", dtype, "f")
        result = as_fractions(self._points(self.num_generated, n), dtype)
        self.num_generated += n
        if out is None:
            return result
        return out.resize_as_(result).copy_(result)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype=None) -> Tensor:
        """The next 2^m points: (2^m, dimension). ValueError unless their number so far becomes a power of 2."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}="
                f"{total}. If you still want to do this, the function 'SobolEngine.draw' can be used."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> SobolEngine:
        """Back to the first point; returns the engine."""
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Skip `n` points, as if they had been drawn; returns the engine."""
        self._check_room(n)
        self.num_generated += n
        return self

    def _check_room(self, n: int) -> None:
        if n < 0 or self.num_generated + n > 1 << MAXBIT:
            raise ValueError(
                f"SobolEngine: the sequence has 2**{MAXBIT} points, of which {self.num_generated} are "
                f"drawn; cannot draw {n}"
            )

    def _points(self, first: int, n: int) -> Tensor:
        """int64 (n, dimension): points from the first on as 30-bit fractions."""
        if n <= FEW:
            return gray_points(F["arange"](first, first + n), self.sobolstate) ^ self.shift
        start, stop = first >> LOW_BITS, (first + n - 1 >> LOW_BITS) + 1
        high = gray_points(F["arange"](start, stop) << LOW_BITS, self.sobolstate)
        low = gray_points(F["arange"](1 << LOW_BITS), self.sobolstate)
        skipped = first - (start << LOW_BITS)
        return joined_points(high, low, self.shift)[skipped : skipped + n]

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(parts)})"


def scrambled(state: Tensor, matrices: Tensor) -> Tensor:
    """Direction numbers times a lower triangular matrix for each dimension, over GF(2), the highest bit first.

    state: int64 [dim, 30]; matrices: float [dim, 30, 30] of 0 and 1, whose diagonals count as 1.
    """
    weights = F["arange"](MAXBIT - 1, -1, -1)
    bits = ((state.unsqueeze(2) >> weights) & 1).float()  # (dim, which number, which bit)
    matrices.diagonal(0, 1, 2).fill_(1)
    products = F["matmul"](bits, matrices.transpose(1, 2)).long() & 1
    return (products << weights).sum(2)
