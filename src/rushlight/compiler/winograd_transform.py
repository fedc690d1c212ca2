"""The formulas of Winograd's convolution F(2x2, 3x3): 2 x 2 results of 3 x 3 taps from 4 x 4 inputs by 16 products.

    result = At [(G weight Gt) * (Bt image B)] A

after S. Winograd, "Arithmetic Complexity of Computations" (1980), and A. Lavin and S. Gray, "Fast Algorithms for
Convolutional Neural Networks" (2016). Direct summation takes 36 products. All constants are 1 and 1/2, so
errors grow by a factor of about two only.
"""

from __future__ import annotations

from .text import Function, V

SIDE = 4  # of a transformed tile
STEP = 2  # results of a tile along an axis, and distance of neighbouring tiles
TAPS = 3
POSITIONS = SIDE * SIDE
SQUARE = TAPS * TAPS
WINDOWS = STEP * STEP  # of a tile


def image_transform(f: Function, tile: list[list[V]]) -> list[list[V]]:
    """Bt d B, for 4 x 4 values d."""

    def line(a: V, b: V, c: V, d: V) -> list[V]:
        return [f.sub(a, c), f.add(b, c), f.sub(c, b), f.sub(b, d)]

    return both_sides(line, tile)


def weight_transform(f: Function, taps: list[list[V]]) -> list[list[V]]:
    """G g Gt, for 3 x 3 taps g."""
    half = f.const(0.5, taps[0][0].type)

    def line(a: V, b: V, c: V) -> list[V]:
        ends = f.add(a, c)
        return [a, f.mul(f.add(ends, b), half), f.mul(f.sub(ends, b), half), c]

    return both_sides(line, taps)


def result_transform(f: Function, products: list[list[V]]) -> list[list[V]]:
    """At m A, for 4 x 4 products m."""

    def line(a: V, b: V, c: V, d: V) -> list[V]:
        return [f.add(a, f.add(b, c)), f.sub(f.sub(b, c), d)]

    return both_sides(line, products)


def gradient_transform(f: Function, gradient: list[list[V]]) -> list[list[V]]:
    """A g At up to signs, for 2 x 2 values g: what `result_transform` subtracts is taken as if it were added."""
    return both_sides(lambda a, b: [a, f.add(a, b), f.sub(a, b), b], gradient)


def weight_adjoint(f: Function, products: list[list[V]]) -> list[list[V]]:
    """Gt m G, for 4 x 4 sums m of products, with the signs that `gradient_transform` leaves."""
    half = f.const(0.5, products[0][0].type)

    def line(a: V, b: V, c: V, d: V) -> list[V]:
        ends = f.mul(f.add(b, c), half)
        return [f.add(a, ends), f.mul(f.sub(b, c), half), f.sub(ends, d)]

    return both_sides(line, products)


def both_sides(line, rows: list[list[V]]) -> list[list[V]]:
    """Apply `line` to every column, then to every row of what comes out."""
    columns = [line(*column) for column in zip(*rows)]
    return [line(*row) for row in zip(*columns)]
