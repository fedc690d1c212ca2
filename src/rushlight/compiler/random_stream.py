"""The Mersenne Twister as a stream inside a kernel: MT19937, advanced and tempered a vector at a time.

A kernel copies the generator's block of 624 words to the front of a ring on its stack and lets the recurrence write
the blocks that follow behind it. Items then read their words at any offset of the ring, and are tempered in registers.

Source: M. Matsumoto and T. Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random
number generator", ACM TOMACS 8 (1998).
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from .kernel import Kernel
from .math_expression import Expr, fma, has_fma, iterate, where
from .random_state import HAS_NORMAL, POSITION, SIZE
from .target import host
from .text import Function, Module, V, vector

MIDDLE = 397  # m of the recurrence, whose n is SIZE
MATRIX = 0x9908B0DF  # last row of its matrix
BLOCKS = 8  # made at a time: the ring stays in the first-level cache
SLACK = 64  # words a last, partial step may read behind the ring

Step = Callable[[Function, V, V, V], None]


def integer(f: Function, number: int) -> Expr:
    return Expr(f, V(str(number), "i64"))


def word_lanes() -> int:
    return host().lanes(4)


def block_variable(f: Function, bytes: int) -> V:
    """Uninitialised memory on the stack, aligned to a cache line."""
    name = "%" + f.name_of("block")
    f.entry.append(f"  {name} = alloca [{bytes} x i8], align 64")
    return V(name, "ptr")


def copy_block(f: Function, source: V, target: V) -> None:
    """Copy SIZE words."""
    lanes = word_lanes()
    with f.loop(0, SIZE, lanes) as i:
        words = f.load(f.at(source, "i32", i), vector("i32", lanes), 4)
        f.store(words, f.at(target, "i32", i), 4)


def twist(f: Function, ring: V, blocks: Expr) -> None:
    """Write the `blocks` blocks that follow the first one of the ring.

    x[k+624] = x[k+397] ^ (upper bit of x[k], lower bits of x[k+1]) A: no word needs one that is less than 227 back,
    so a whole vector is made at once.
    """
    lanes, unroll = word_lanes(), 3
    type, aligned = vector("i32", lanes), 4 * lanes
    with f.loop(0, (blocks * SIZE).v, unroll * lanes) as start:
        for i in range(0, unroll * lanes, lanes):
            here = f.at(ring, "i32", (Expr(f, start) + i).v)
            following = Expr(f, f.load(f.at(here, "i32", 1), type, 4))
            mixed = (Expr(f, f.load(here, type, aligned)) & 0x80000000) | (following & 0x7FFFFFFF)
            made = Expr(f, f.load(f.at(here, "i32", MIDDLE), type, 4)) ^ (mixed >> 1)
            made = made ^ ((0 - (following & 1)) & MATRIX)
            f.store(made.v, f.at(here, "i32", SIZE), aligned)


def temper(y: Expr) -> Expr:
    """A word of the recurrence made uniform."""
    y = y ^ (y >> 11)
    y = y ^ ((y << 7) & 0x9D2C5680)
    y = y ^ ((y << 15) & 0xEFC60000)
    return y ^ (y >> 18)


def words32(f: Function, ring: V, offset: V, count: int) -> Expr:
    """`count` tempered words from the ring."""
    return temper(Expr(f, f.load(f.at(ring, "i32", offset), vector("i32", count), 4)))


def words64(f: Function, ring: V, offset: V, count: int) -> Expr:
    """`count` numbers of 64 bits, each from two words, the first of which is the upper half."""
    pairs = words32(f, ring, offset, 2 * count)
    swapped = Expr(f, f.cast("bitcast", pairs.v, vector("i64", count)))
    return Expr(f, f.intrinsic("llvm.fshl", swapped.v, swapped.v, f.const(32, swapped.type)))


def consume(f: Function, state: V, count: V, words: int, lanes: int, step: Step, *, skip: V | None = None, after=None):
    """Make `count` items of `words` words each and advance the state.

    `step(ring, offset, item, local)` makes `lanes` items whose words begin at word `offset` of the ring; `item` counts
    from 0 to `count`, `local` within the tile. The last step of all may make fewer than `lanes` items that count.
    `skip` words are passed over first. `after(item, items)` runs at the end of a tile of items that begins at `item`.
    """
    ring = block_variable(f, 4 * ((BLOCKS + 1) * SIZE + SLACK))
    copy_block(f, state, ring)
    position_slot = f.at(state, "i32", POSITION)
    position = Expr(f, f.load(position_slot, "i32")).cast("zext", "i64").intrinsic("llvm.umin", SIZE)
    if skip is not None:
        position = position + Expr(f, skip)
    total = Expr(f, count)

    def tile(offset: Expr, done: Expr) -> tuple[Expr, Expr]:
        need = (total - done) * words
        blocks = (_divide(offset + need + (SIZE - 1), SIZE) - 1).intrinsic("llvm.smin", BLOCKS)
        twist(f, ring, blocks)
        available = (blocks + 1) * SIZE - offset
        items = where(need <= available, total - done, _divide(available, words * lanes) * lanes)
        with f.loop(0, items.v, lanes) as local:
            here = Expr(f, local)
            step(ring, (offset + here * words).v, (done + here).v, local)
        if after is not None:
            after(done.v, items.v)
        return _rewind(f, ring, offset + items * words), done + items

    start = (position, integer(f, 0))
    offset, _ = iterate(start, lambda offset, done: done < total, tile)
    copy_block(f, ring, state)
    f.store(offset.cast("trunc", "i32").v, position_slot)


def _divide(a: Expr, b: int) -> Expr:
    return Expr(a.f, a.f.binary("udiv", a.v, a.lift(b)))


def _rewind(f: Function, ring: V, offset: Expr) -> Expr:
    """Move the block that holds the last used word to the front of the ring; returns the offset in it."""
    begin = _divide(offset - 1, SIZE) * SIZE
    with f.when((begin > 0).v):
        copy_block(f, f.at(ring, "i32", begin.v), ring)
    return offset - begin


def fused(a: Expr, b, c) -> Expr:
    """a*b + c in one rounding: for float32 on every processor, for double where there is an instruction for it."""
    if has_fma() or a.kind != "float":
        return fma(a, b, c)
    # the product is exact in double; rounding the sum twice differs from once in one case of 2^29
    x, y, z = (Expr(a.f, a.lift(operand)).cast("fpext", "double") for operand in (a, b, c))
    return x.exact("fmul", y).exact("fadd", z).cast("fptrunc", "float")


def copy_elements(f: Function, source: V, target: V, count: V, type: str) -> None:
    """Copy `count` scalars one by one: for remainders."""
    with f.loop(0, count) as i:
        f.store(f.load(f.at(source, type, i), type), f.at(target, type, i))


@functools.cache
def seeding() -> Kernel:
    """Fill a state from a seed, of which the lower 32 bits count. Buffers: state; params: seed."""
    f = Module().kernel("random_seed")
    state = f.buffer(0)
    last = f.variable("i32", f.cast("trunc", f.param(0), "i32"))
    f.store(f.load(last, "i32"), state)
    with f.loop(1, SIZE) as i:
        word = Expr(f, f.load(last, "i32"))
        word = (word ^ (word >> 30)) * 1812433253 + Expr(f, f.cast("trunc", i, "i32"))
        f.store(word.v, last)
        f.store(word.v, f.at(state, "i32", i))
    f.store(f.const(SIZE + 1, "i32"), f.at(state, "i32", POSITION))
    f.store(f.const(0, "i32"), f.at(state, "i32", HAS_NORMAL))
    return Kernel("random_seed", str(f.module))
