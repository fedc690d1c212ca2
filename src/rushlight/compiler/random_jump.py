"""Moving a Mersenne Twister far ahead, so that several threads can make parts of one stream.

Words of the recurrence obey x[k + e] = sum of c_j x[k + j] over GF(2), where c are the coefficients of t^e modulo the
characteristic polynomial. Polynomials are Python integers, bit j for t^j; the kernel adds up the words.

Source: H. Haramoto, M. Matsumoto, T. Nishimura, F. Panneton, P. L'Ecuyer, "Efficient jump ahead for F2-linear random
number generators", INFORMS Journal on Computing 20 (2008); the characteristic polynomial is in the paper on MT19937.
"""

from __future__ import annotations

import functools

from .kernel import Kernel
from .math_expression import Expr
from .random_state import POSITION, SIZE, STATE_BYTES
from .random_stream import MATRIX, MIDDLE, block_variable, copy_block, integer, twist, word_lanes
from .text import Function, Module, V, vector

DEGREE = 19937
STREAM_BLOCKS = 34  # enough words for one window of SIZE at each coefficient, behind the block given
LOWER_BITS = 31  # of x[k+1] enter the recurrence, beside the upper bit of x[k]


def _multiply(a: int, b: int) -> int:
    """The product of two polynomials; b has few terms."""
    result = 0
    for j in _terms(b):
        result ^= a << j
    return result


def _terms(p: int) -> list[int]:
    return [j for j in range(p.bit_length()) if p >> j & 1]


@functools.cache
def _tail() -> list[int]:
    """t^DEGREE modulo the characteristic polynomial, as the exponents of its terms."""
    upper, lower = 1 << SIZE | 1 << MIDDLE, 1 << (SIZE - 1) | 1 << (MIDDLE - 1)
    powers = [1]
    for _ in range(LOWER_BITS):
        powers.append(_multiply(powers[-1], lower))
    total = _multiply(powers[LOWER_BITS], upper)
    for i in range(LOWER_BITS):
        if MATRIX >> i & 1:
            total ^= _multiply(powers[LOWER_BITS - 1 - i], upper)
    total ^= MATRIX >> LOWER_BITS & 1
    return _terms(total ^ 1 << DEGREE)


def _reduce(p: int) -> int:
    """p modulo the characteristic polynomial: fold what is above its degree, which has few terms, back in."""
    while p >> DEGREE:
        high = p >> DEGREE
        p &= (1 << DEGREE) - 1
        for j in _tail():
            p ^= high << j
    return p


_jumps = [1]


def polynomial(m: int) -> int:
    """t^(SIZE (2^m - 1)): what moves a block that has just been advanced once on to 2^m blocks from where it was."""
    while len(_jumps) <= m:
        square = int("0".join(format(_jumps[-1], "b")), 2)  # squaring only spreads the bits
        _jumps.append(_reduce(square << SIZE))
    return _jumps[m]


def polynomial_bytes(m: int) -> bytes:
    """The polynomial as SIZE words in memory."""
    return polynomial(m).to_bytes(4 * SIZE, "little")


@functools.cache
def jump() -> Kernel:
    """State `count + j` becomes state j moved ahead, for each j of the range.

    Buffers: states, polynomial; params: count. The position in the block stays the same.
    """
    f = Module().kernel("random_jump")
    states, coefficients, count = f.buffer(0), f.buffer(1), Expr(f, f.param(0))
    stream = block_variable(f, 4 * SIZE * STREAM_BLOCKS)
    with f.loop(f.begin, f.end) as j:
        source = f.offset(states, (Expr(f, j) * STATE_BYTES).v)
        target = f.offset(states, ((Expr(f, j) + count) * STATE_BYTES).v)
        copy_block(f, source, stream)
        # every bit of the words behind the first block obeys the recurrence, which those of a seed need not
        twist(f, stream, integer(f, STREAM_BLOCKS - 1))
        lanes = word_lanes()
        with f.loop(0, SIZE, 13 * lanes) as part:
            window = f.at(stream, "i32", (Expr(f, part) + SIZE).v)
            _combine(f, window, coefficients, f.at(target, "i32", part), lanes)
        position = f.load(f.at(source, "i32", POSITION), "i32")
        f.store(position, f.at(target, "i32", POSITION))
    return Kernel("random_jump", str(f.module))


def _combine(f: Function, window: V, coefficients: V, target: V, lanes: int) -> None:
    """Add up 13 vectors of the window, moved by j words for every coefficient j that is 1."""
    type = vector("i32", lanes)
    sums = [f.variable(type, f.const(0, type)) for _ in range(13)]
    left = f.variable("i64")
    with f.loop(0, SIZE // 2) as word:
        f.store(f.load(f.at(coefficients, "i64", word), "i64"), left)
        base = f.at(window, "i64", (Expr(f, word) * 32).v)
        with f.repeat(lambda: Expr(f, f.load(left, "i64")).ne(0).v):
            bits = Expr(f, f.load(left, "i64"))
            lowest = f.call("llvm.cttz.i64", "i64", bits.v, V("true", "i1"))
            here = f.at(base, "i32", lowest)
            for i, slot in enumerate(sums):
                words = f.load(f.at(here, "i32", i * lanes), type, 4)
                f.store((Expr(f, f.load(slot, type)) ^ Expr(f, words)).v, slot)
            f.store((bits & (bits - 1)).v, left)
    for i, slot in enumerate(sums):
        f.store(f.load(slot, type), f.at(target, "i32", i * lanes), 4)
