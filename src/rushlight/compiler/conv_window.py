"""Which position of an image each output pixel sees at each tap, in Python and in a kernel.

Per axis, position = pixel * stride + tap * dilation + start. This describes a convolution (the image is x, the pixels
are y's, start = -padding) as well as the gradient with respect to its input (the image is gy, the pixels are x's).
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass

from .conv_shape import SPATIAL
from .templates import Array
from .text import Function, V

AXES = range(SPATIAL)
ZERO, ONE = V("0", "i64"), V("1", "i64")
WINDOW = [f"{part}{axis}" for part in ("pixels", "taps", "sizes", "stride", "dilation", "start") for axis in AXES]
WINDOW += ["image_n", "image_c", "image_0", "image_1", "image_2"]


def i64(number: int) -> V:
    return V(str(number), "i64")


@dataclass(slots=True)
class Window:
    """An image [N, C, *sizes], the shape of the output's pixels, the shape of the taps, and the formula's numbers."""

    image: Array
    pixels: tuple
    taps: tuple
    stride: tuple
    dilation: tuple
    start: tuple

    def params(self) -> dict:
        """Values for the names in `WINDOW`; strides in elements."""
        parts = {"pixels": self.pixels, "taps": self.taps, "sizes": self.image.shape[2:], "stride": self.stride}
        parts |= {"dilation": self.dilation, "start": self.start}
        named = {f"{part}{axis}": numbers[axis] for part, numbers in parts.items() for axis in AXES}
        return named | strides("image", self.image)


def strides(name: str, array: Array) -> dict:
    """The strides of an array [N, C, D, H, W] as named parameters, in elements."""
    return dict(zip((f"{name}_{dim}" for dim in "nc012"), array.strides))


def named_params(f: Function, names: list[str], pointer: V) -> dict[str, V]:
    """All parameters by name, loaded here; the code generator drops those that are not used."""
    return {name: f.load(f.at(pointer, "i64", i), "i64", 8) for i, name in enumerate(names)}


def axes(p: dict, part: str) -> list[V]:
    return [p[f"{part}{axis}"] for axis in AXES]


def divide(f: Function, a: V, b: V) -> tuple[V, V]:
    """Quotient and remainder of non-negative numbers."""
    quotient = f.binary("udiv", a, b)
    return quotient, f.sub(a, f.mul(quotient, b))


def quotient_up(f: Function, a: V, b: V) -> V:
    """a / b rounded up, for a >= 0."""
    return f.binary("udiv", f.add(a, f.sub(b, ONE)), b)


@contextmanager
def runs(f: Function, shape: list[V], first: V, last: V):
    """Cut pixels [first, last) of images into runs within a row; yields image, place (three numbers) and length."""
    pixel = f.variable("i64", first)
    with f.repeat(lambda: f.compare("slt", f.load(pixel, "i64"), last)):
        now = f.load(pixel, "i64")
        rest, column = divide(f, now, shape[2])
        rest, row = divide(f, rest, shape[1])
        image, depth = divide(f, rest, shape[0])
        length = f.minimum(f.sub(shape[2], column), f.sub(last, now))
        yield now, image, [depth, row, column], length
        f.store(f.add(now, length), pixel)


def dot(f: Function, p: dict, name: str, image: V, place: list[V]) -> V:
    """The element offset of an image's pixel in the array called `name`."""
    total = f.mul(image, p[f"{name}_n"])
    for axis, number in enumerate(place):
        total = f.add(total, f.mul(number, p[f"{name}_{axis}"]))
    return total
