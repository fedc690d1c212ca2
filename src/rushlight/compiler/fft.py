"""`fft`, `rfft` and `irfft`: fast Fourier transforms by Stockham's method, over tiles of as many lines as lanes.

A transform takes one of three ways. Contiguous lines whose length has enough factors of two are transformed one by
one, with neighbours of a line as lanes. Other lines are transformed side by side: neighbours in memory as they lie,
any others transposed on the way. Few long lines are seen as matrices: columns are transformed, multiplied by roots
and transposed, then columns again, each step by all threads.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir.dtypes import DType, dtype_named
from ..ir.sizes import Sym, hint
from .fft_driver import Side, Stage, launch
from .fft_lanes import load_lines, load_scattered, store_lines, store_scattered
from .fft_pass import FIRST, first_pass, radix_pass, twist_pass, width
from .fft_plan import halves, radices
from .fft_real import halves_of_line, halves_of_tile
from .fft_table import table
from .index_layout import Nest, is_number
from .templates import Array, Context, template

LONG = 1 << 15  # numbers of a line from which it is worth two launches if there are few lines
CACHED = 1 << 20  # bytes of a tile that a processor keeps near
PIECE = 64  # numbers that are copied at a time


@template("fft")
def lower_fft(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    attrs = node.attrs
    transform(context, operands[0], results[0], attrs["dim"], attrs["inverse"], attrs["scale"])


@template("rfft")
def lower_rfft(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    Real(context, operands[0], results[0], node.attrs["dim"], False, node.attrs["scale"]).lower()


@template("irfft")
def lower_irfft(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    Real(context, operands[0], results[0], node.attrs["dim"], True, node.attrs["scale"]).lower()


def transform(context: Context, x: Array, y: Array, dim: int, inverse: bool, scale: float) -> None:
    """A complex transform of one dim."""
    Complex(context, x, y, dim, inverse, scale).lower()


class Transform:
    """Lines of x along `dim` become lines of y; `length` counts the complex numbers that passes work on."""

    def __init__(self, context: Context, x: Array, y: Array, dim: int, inverse: bool, scale: float):
        self.context, self.x, self.y, self.dim, self.inverse, self.scale = context, x, y, dim, inverse, scale
        self.real: DType = x.dtype.to_real()
        self.lanes = width(self.real)
        self.others = [d for d in range(len(x.shape)) if d != dim]
        self.steps = x.strides[dim], y.strides[dim]

    @property
    def lines(self) -> int:
        """How many there are, for decisions that only speed depends on."""
        count = 1
        for d in self.others:
            count *= hint(self.x.shape[d])
        return count

    @property
    def is_dense(self) -> bool:
        """Whether lines are contiguous on both sides."""
        return all(is_number(step, 1) for step in self.steps)

    def is_line_length(self) -> bool:
        """Whether whole vectors of neighbours make up each part of a line's first pass."""
        return self.length % (FIRST * self.lanes) == 0

    @property
    def line_bytes(self) -> int:
        """What a line takes in both halves of scratch memory."""
        return 4 * self.length * self.real.itemsize

    # -- stages --------------------------------------------------------------------------------
    def radix_stages(self, rest: int, span: int, source_form: str, target_form: str, starts=True, ends=True) -> list:
        """Passes that transform lengths of `rest`; `starts`, `ends`: they are the transform's first, and last, ones."""
        stages, factors = [], radices(rest)
        for i, radix in enumerate(factors):
            first, last = i == 0, i == len(factors) - 1
            rest //= radix
            forms = source_form if first else "split", target_form if last else "split"
            swaps = self.inverse and starts and first, self.inverse and ends and last
            kernel = radix_pass(self.real, radix, forms, swaps, rest > 1, self.scale != 1 and ends and last)
            roots = table(self.real.name, radix * rest, (rest, radix - 1, 1), step=1) if rest > 1 else 0
            stages.append(Stage(kernel, roots, rest, span))
            span *= radix
        return stages

    def halves_table(self, lanes: int):
        """The factors v of `fft_real`: of scalars for tiles, of vectors for lines."""
        h, back = self.length, self.inverse
        numbers = {"start": h * 2, "amplitude": 1.0 if back else 0.5, "conjugate": back}
        if lanes == 1:
            return table(self.real.name, 8 * h, (h // 2 + 1, 1, 1), step=4, **numbers)
        return table(self.real.name, 8 * h, (h // 2 // lanes + 1, 1, lanes), step=4 * lanes, across=4, **numbers)

    # -- line by line ---------------------------------------------------------------------------
    def line_stages(self, target_form: str = "memory") -> list[Stage]:
        blocks = self.length // FIRST // self.lanes
        roots = table(self.real.name, self.length, (blocks, FIRST - 1, self.lanes), step=self.lanes, across=1, factor=1)
        first = Stage(first_pass(self.real, self.inverse), roots, self.length // FIRST)
        rest = self.radix_stages(self.length // FIRST, FIRST // self.lanes, "split", target_form, starts=False)
        return [first, *rest]

    def launch_lines(self, stages: list[Stage]) -> None:
        size = self.real.itemsize
        nest, row = self.nest(self.others), 2 * self.lanes * size
        tile = -(-(self.length + 1) * 2 * size // 64) * 64, row, self.length
        source, target = (Side(a, row, a.dtype.itemsize, True) for a in (self.x, self.y))
        launch(self.context, "rows", stages, nest, source, target, tile, self.scale, 1)

    def nest(self, dims: list[int], last: int | None = None) -> Nest:
        """The other dims in the target's order, but `last`, or one whose neighbours adjoin in the source, last."""
        x, y = self.x, self.y
        dims = sorted(dims, key=lambda d: -hint(y.strides[d]))
        dims.sort(key=lambda d: d == last if last is not None else is_number(x.strides[d], 1) and hint(x.shape[d]) > 1)
        return Nest([x.shape[d] for d in dims], [y.strides[d] for d in dims], [x.strides[d] for d in dims])

    # -- side by side ---------------------------------------------------------------------------
    def launch_tiles(self, make_stages, nest: Nest, counts: tuple[int, int], kind: str = "") -> None:
        """Lines as lanes; `make_stages(source form, target form)`, `counts`: complex numbers of a line on each side.

        `kind`: "blocks" for tiles with lines of the nest's last dim alone, which has enough of them; "lanes" for any.
        """
        lanes, arrays = self.lanes, (self.x, self.y)
        inner = nest.dims[-1]
        columns = [is_number(inner[1][side], 1) for side in (1, 0)]
        if kind == "lanes" or (any(columns) and not inner[0] >= lanes):
            columns = [False, False]
        sides, forms = [], []
        for array, step, alone in zip(arrays, self.steps, columns):
            pairs = not array.dtype.is_complex
            step = step * array.dtype.itemsize * (2 if pairs else 1)
            sides.append(Side(array, step, array.dtype.itemsize, alone))
            forms.append(("pairs" if pairs else "memory") if alone else "split")
        stages = make_stages(*forms)
        ways = ((load_lines, load_scattered), (store_lines, store_scattered))
        moves = [self.move(i, *ways[i], counts[i]) for i in range(2) if not columns[i]]
        stages = [*moves[: not columns[0]], *stages, *moves[not columns[0] :]]
        row = 2 * lanes * self.real.itemsize
        rows = -(-(self.length + 1) // lanes) * lanes
        kind = kind or ("blocks" if any(columns) else "lanes")
        launch(self.context, kind, stages, nest, *sides, (rows * row, row, self.length), self.scale, lanes)

    def move(self, side: int, lines, scattered, count: int) -> Stage:
        """The stage between a tile and lines that are not neighbours."""
        array, step = (self.x, self.y)[side], self.steps[side]
        if is_number(step, 1):
            return Stage(lines(self.real), 0, count)
        part = self.real.itemsize if array.dtype.is_complex else step * array.dtype.itemsize
        return Stage(scattered(self.real), 0, count, part)


class Complex(Transform):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.length = int(self.x.shape[self.dim])

    def lower(self) -> None:
        if self.is_better_in_two():
            self.lower_in_two()
        elif self.is_dense and self.is_line_length():
            self.launch_lines(self.line_stages())
        else:
            self.launch_tiles(
                lambda *forms: self.radix_stages(self.length, 1, *forms), self.nest(self.others), (self.length,) * 2
            )

    def is_better_in_two(self) -> bool:
        """Whether a line is best seen as a matrix: it is long and there are few, or lanes would be empty."""
        lanes, n, lines = self.lanes, self.length, self.lines
        if halves(n)[1] < lanes:
            return False
        if self.is_dense and self.is_line_length():
            return n >= LONG and (lines < threads() or self.line_bytes > CACHED)
        return lines * 2 <= lanes or self.line_bytes * lanes > 4 * CACHED

    def lower_in_two(self) -> None:
        """n = rows * columns: transform columns, multiply, transpose; then transform what were the rows."""
        x, y, lanes, name = self.x, self.y, self.lanes, self.real.name
        rows, columns = halves(self.length)
        outer = [x.shape[d] for d in self.others]
        middle = self.context.temp((*outer, columns, rows), x.dtype)
        last = len(outer)

        def viewed(array: Array, shape: tuple, steps: tuple) -> Array:
            return replace(array, shape=(*outer, *shape), strides=(*(array.strides[d] for d in self.others), *steps))

        read, step = self.steps
        first = Complex(
            self.context, viewed(x, (columns, rows), (read, read * columns)), middle, last + 1, self.inverse, 1.0
        )
        blocks = -(-columns // lanes)
        roots = table(name, self.length, (blocks, rows, 1), step=lanes, last=columns - lanes, factor=0)
        across = table(name, self.length, (1, rows, lanes), across=1, factor=0)

        def twisted(source_form: str, target_form: str) -> list[Stage]:
            stages = first.radix_stages(rows, 1, source_form, "split", ends=False)
            return [*stages, Stage(twist_pass(first.real), roots, rows, across)]

        first.launch_tiles(twisted, first.nest(first.others, last), (rows, rows), "blocks")
        source = replace(middle, shape=(*outer, rows, columns), strides=(*middle.strides[:-2], 1, rows))
        second = Complex(
            self.context, source, viewed(y, (rows, columns), (step, step * rows)), last + 1, self.inverse, self.scale
        )
        second.launch_tiles(
            lambda *forms: second.radix_stages(columns, 1, *forms, starts=False),
            second.nest(second.others),
            (columns,) * 2,
        )


class Real(Transform):
    """`rfft`, or with `inverse` `irfft`, of an even length n: a complex transform of h = n / 2 numbers."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.length = int((self.y if self.inverse else self.x).shape[self.dim]) // 2

    def lower(self) -> None:
        h, lines = self.length, self.is_dense and self.is_line_length()
        if h >= LONG and (not lines or self.lines < threads() or self.line_bytes > CACHED):
            self.lower_long()
        elif lines:
            self.launch_lines(self.with_halves(self.line_stages()))
        else:
            self.launch_tiles(self.tile_stages, self.nest(self.others), (h + 1, h) if self.inverse else (h, h + 1))

    def with_halves(self, stages: list[Stage]) -> list[Stage]:
        joined = Stage(halves_of_line(self.real, self.inverse), self.halves_table(self.lanes), self.length)
        return [joined, *stages] if self.inverse else [*stages, joined]

    def tile_stages(self, source_form: str, target_form: str) -> list[Stage]:
        roots, back = self.halves_table(1), self.inverse
        forms = (source_form, "split") if back else ("split", target_form)
        joined = Stage(halves_of_tile(self.real, back, forms), roots, self.length)
        if back:
            return [joined, *self.radix_stages(self.length, 1, "split", target_form)]
        return [*self.radix_stages(self.length, 1, source_form, "split"), joined]

    # -- long lines -----------------------------------------------------------------------------
    def lower_long(self) -> None:
        """The complex transform, and the step between it and the halves, have launches of their own."""
        h = self.length
        middle = self.dense(h + 1)
        body = resized(middle, self.dim, h)
        if self.inverse:
            self.launch_halves(self.gathered(self.x, h + 1), middle)
            pairs = self.as_complex(self.y)
            target = self.dense(h) if pairs is None else pairs
            transform(self.context, body, target, self.dim, True, self.scale)
            if pairs is None:
                self.copy(target, self.y, h)
        else:
            pairs = self.as_complex(self.x)
            source = self.gathered(self.x, h) if pairs is None else pairs
            transform(self.context, source, body, self.dim, False, self.scale)
            target = self.y if is_number(self.steps[1], 1) else self.dense(h + 1)
            self.launch_halves(middle, target)
            if target is not self.y:
                self.copy(target, self.y, h + 1)

    def launch_halves(self, source: Array, target: Array) -> None:
        halves = Transform(self.context, source, target, self.dim, self.inverse, 1.0)
        halves.length = self.length
        halves.launch_lines([self.with_halves([])[0]])

    def dense(self, count: int) -> Array:
        """A temporary with `count` complex numbers in each line, contiguous."""
        outer = [self.x.shape[d] for d in self.others]
        array = self.context.temp((*outer, count), complex_of(self.real))
        shape, strides = list(outer), list(array.strides[:-1])
        shape.insert(self.dim, count), strides.insert(self.dim, 1)
        return replace(array, shape=tuple(shape), strides=tuple(strides))

    def gathered(self, array: Array, count: int) -> Array:
        """The array, or a copy of it, with contiguous lines of complex numbers."""
        if array.dtype.is_complex and is_number(array.strides[self.dim], 1):
            return array
        made = self.dense(count)
        self.copy(array, made, count)
        return made

    def copy(self, source: Array, target: Array, count: int) -> None:
        """Complex numbers from lines to lines, in pieces that go through a tile; real ones are pairs."""
        piece = next(size for size in range(PIECE, 0, -1) if count % size == 0)

        def cut(array: Array) -> Array:
            step = array.strides[self.dim]
            wide = step * (1 if array.dtype.is_complex else 2)
            shape = (*(source.shape[d] for d in self.others), count // piece, piece)
            strides = (*(array.strides[d] for d in self.others), wide * piece, step)
            return replace(array, shape=shape, strides=strides)

        moved = Transform(self.context, cut(source), cut(target), len(self.others) + 1, False, 1.0)
        moved.length = piece
        moved.launch_tiles(lambda *forms: [], moved.nest(moved.others), (piece, piece), "lanes")

    def as_complex(self, array: Array) -> Array | None:
        """Real numbers as complex ones, if lines are contiguous and begin at even places."""
        strides = [array.strides[d] for d in self.others]
        if not is_number(array.strides[self.dim], 1):
            return None
        if any(hint(s) % 2 or (type(s) is Sym and s % 2 != 0) for s in (*strides, array.offset)):
            return None
        steps = tuple(1 if d == self.dim else s // 2 for d, s in enumerate(array.strides))
        array = replace(array, strides=steps, dtype=complex_of(self.real), offset=array.offset // 2)
        return resized(array, self.dim, self.length)


def resized(array: Array, dim: int, count: int) -> Array:
    """The array with another size of one dim."""
    return replace(array, shape=tuple(count if d == dim else n for d, n in enumerate(array.shape)))


def complex_of(real: DType) -> DType:
    return dtype_named({4: "complex64", 8: "complex128"}[real.itemsize])


def threads() -> int:
    from ..core.engine import get_num_threads

    return get_num_threads()
