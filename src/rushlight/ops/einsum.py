"""Einstein sums: the equation's grammar, and contraction pair by pair.

Labels of dims are ints: 0 to 25 for A to Z, 26 to 51 for a to z; dims of an ellipsis are -1 (the last), -2, ...
"""

from __future__ import annotations

import functools
import math

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.graph import Value
from ..ir.sizes import hint, product
from .checks import scalar_type
from .declare import composite, op


# -- grammar ----------------------------------------------------------------------------------------
def parse_side(text: str, start: int, operand: str) -> list:
    """Labels of one operand, with `...` for an ellipsis."""
    labels: list = []
    place = 0
    while place < len(text):
        symbol = text[place]
        if symbol == ".":
            if text[place : place + 3] != "...":
                raise RuntimeError(f"einsum(): found '.' for {operand} that is not part of any ellipsis")
            if ... in labels:
                raise RuntimeError(f"einsum(): found '.' for {operand} for which an ellipsis was already found")
            labels.append(...)
            place += 3
            continue
        if symbol != " ":
            labels.append(label_of(symbol, start + place))
        place += 1
    return labels


def label_of(symbol: str, place: int) -> int:
    if "A" <= symbol <= "Z":
        return ord(symbol) - ord("A")
    if "a" <= symbol <= "z":
        return ord(symbol) - ord("a") + 26
    raise RuntimeError(
        f"einsum(): invalid subscript given at index {place} in the equation string, subscripts must be in [a-zA-Z]"
    )


def letter(label: int) -> str:
    return "..." if label < 0 else chr(label + ord("A")) if label < 26 else chr(label - 26 + ord("a"))


def parse_equation(equation: str):
    """(labels of each operand, labels of the output or None)."""
    left, arrow, right = equation.partition("->")
    sides, start = [], 0
    for number, text in enumerate(left.split(",")):
        sides.append(parse_side(text, start, f"operand {number}"))
        start += len(text) + 1
    return sides, parse_side(right, len(left) + 2, "the output") if arrow else None


def parse_sublists(args: tuple):
    """`einsum(a, [0, 1], b, [1, 2], [0, 2])`: (operands, labels of each, labels of the output or None)."""
    output = list(args[-1]) if len(args) % 2 else None
    pairs = args[: len(args) - len(args) % 2]
    operands, sides = list(pairs[::2]), [list(side) for side in pairs[1::2]]
    for side in (*sides, output or ()):
        for label in side:
            if label is not ... and not isinstance(label, int):
                raise TypeError(f"einsum(): expected ints or ... in the sublists, got {type(label).__name__}")
            if label is not ... and not 0 <= label < 52:
                raise ValueError(f"einsum(): subscript in subscript list is not within [0, 52): {label}")
    return operands, sides, output


def spelled_out(ranks: tuple, sides, output) -> tuple:
    """Labels with ellipses replaced by the dims they stand for; the output completed and checked. All are tuples."""
    if not ranks:
        raise RuntimeError("einsum(): must provide at least one operand")
    if len(sides) != len(ranks):
        word = "more" if len(ranks) > len(sides) else "fewer"
        raise RuntimeError(f"einsum(): {word} operands were provided than specified in the equation")
    sides = tuple(tuple(fill_ellipsis(side, ndim, number)) for number, (side, ndim) in enumerate(zip(sides, ranks)))
    dots = max((-min(side, default=0) for side in sides), default=0)
    dots = range(-max(dots, 0), 0)
    if output is None:
        every = [label for side in sides for label in side if label >= 0]
        return sides, (*dots, *sorted(label for label in set(every) if every.count(label) == 1))
    output = [part for label in output for part in (dots if label is ... else [label])]
    used = {label for side in sides for label in side}
    for label in output:
        if output.count(label) > 1:
            raise RuntimeError(f"einsum(): output subscript {letter(label)} appears more than once in the output")
        if label not in used:
            raise RuntimeError(
                f"einsum(): output subscript {letter(label)} does not appear in the equation for any input operand"
            )
    return sides, tuple(output)


@functools.lru_cache(1000)
def labels_of(equation: str, ranks: tuple) -> tuple:
    """The labels of operands of so many dims each, and of the output."""
    return spelled_out(ranks, *parse_equation(equation))


def fill_ellipsis(side: list, ndim: int, number: int) -> list:
    given = len(side) - (... in side)
    if ... not in side:
        if given != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({given}) does not match the number of dimensions "
                f"({ndim}) for operand {number} and no ellipsis was given"
            )
        return side
    if given > ndim:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({given}) is more than the number of dimensions "
            f"({ndim}) for operand {number}"
        )
    place = side.index(...)
    return [*side[:place], *range(given - ndim, 0), *side[place + 1 :]]


# -- contraction ------------------------------------------------------------------------------------
class Term:
    """A tensor with a label for each dim."""

    def __init__(self, value, labels):
        self.value, self.labels = value, list(labels)

    def sizes(self) -> dict:
        return dict(zip(self.labels, self.value.shape))

    def ordered(self, labels) -> Value:
        """The value with dims in the order of `labels`, which are all it has."""
        return B.permute(self.value, [self.labels.index(label) for label in labels])

    def summed(self, kept) -> Term:
        """Without the labels that are not in `kept`. Sums of integers are int64, as ever."""
        dims = tuple(d for d, label in enumerate(self.labels) if label not in kept)
        if not dims:
            return self
        value = B.sum(self.value, dims)
        if self.value.dtype.kind in "fc":
            value = B.cast(value, self.value.dtype)
        return Term(value, [label for label in self.labels if label in kept])

    def without_ones(self, labels) -> Term:
        """Without dims of size 1 among `labels`."""
        dims = [d for d, label in enumerate(self.labels) if label in labels]
        shape = [n for d, n in enumerate(self.value.shape) if d not in dims]
        return Term(B.reshape(self.value, shape), [label for label in self.labels if label not in labels])


def diagonalised(value, labels, number: int) -> Term:
    """A term whose repeated labels are one dim each: the diagonal."""
    labels = list(labels)
    for label in set(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            sizes = value.shape[first], value.shape[second]
            if sizes[0] != sizes[1]:
                raise RuntimeError(
                    f"einsum(): subscript {letter(label)} is repeated for operand {number} but the sizes don't match, "
                    f"{hint(sizes[1])} != {hint(sizes[0])}"
                )
            value = value.diagonal(0, first, second)
            labels = [*labels[:first], *labels[first + 1 : second], *labels[second + 1 :], label]
    return Term(value, labels)


def check_sizes(terms: list) -> None:
    seen: dict = {}
    for number, term in enumerate(terms):
        for label, size in term.sizes().items():
            known = seen.setdefault(label, size)
            if is_one(known):
                seen[label] = size
            elif not is_one(size) and size != known:
                raise RuntimeError(
                    f"einsum(): subscript {letter(label)} has size {hint(size)} for operand {number} which does not "
                    f"broadcast with previously seen size {hint(known)}"
                )


def is_one(size) -> bool:
    return type(size) is int and size == 1


def cost(a: Term, b: Term) -> int:
    """How many multiplications the product of two terms takes."""
    sizes = a.sizes()
    for label, size in b.sizes().items():
        sizes[label] = size if is_one(sizes.get(label, 1)) else sizes[label]
    return math.prod(hint(size) for size in sizes.values())


def multiplied(a: Term, b: Term, kept: set) -> Term:
    """The product of two terms, summed over what both have and `kept` does not."""
    a_sizes, b_sizes = a.sizes(), b.sizes()
    both = [label for label in a.labels if label in b_sizes]
    # a dim of size 1 repeats: the other operand alone decides it
    a = a.without_ones([label for label in both if is_one(a_sizes[label])])
    b = b.without_ones([label for label in both if is_one(b_sizes[label]) and label in a.labels])
    a, b = (x.summed(kept | set(y.labels)) for x, y in ((a, b), (b, a)))
    if a.value.dtype is not b.value.dtype:  # a sum of integers
        a, b = (Term(B.cast(x.value, dtypes.int64), x.labels) for x in (a, b))
    both = [label for label in a.labels if label in b.labels]
    batch, summed = [x for x in both if x in kept], [x for x in both if x not in kept]
    left, right = ([x for x in term.labels if x not in both] for term in (a, b))
    rows, columns = a.ordered([*batch, *left, *summed]), b.ordered([*batch, *summed, *right])
    batch_sizes, left_sizes = rows.shape[: len(batch)], rows.shape[len(batch) : len(batch) + len(left)]
    right_sizes = columns.shape[len(batch) + len(summed) :]
    shape = (*batch_sizes, *left_sizes, *right_sizes)
    if not summed:
        rows = B.reshape(rows, (*batch_sizes, *left_sizes, *(1,) * len(right)))
        value = rows * B.reshape(columns, (*batch_sizes, *(1,) * len(left), *right_sizes))
    else:
        inner = product(a.sizes()[label] for label in summed)
        value = B.dot(
            B.reshape(rows, (*batch_sizes, product(left_sizes), inner)),
            B.reshape(columns, (*batch_sizes, inner, product(right_sizes))),
        )
    return Term(B.reshape(value, shape), [*batch, *left, *right])


def contracted(operands: list, sides, output) -> Value:
    """Multiply the cheapest pair until one term is left, each time summing what nothing else needs."""
    terms = [diagonalised(x, labels, number) for number, (x, labels) in enumerate(zip(operands, sides))]
    check_sizes(terms)
    while len(terms) > 1:
        pairs = [(i, j) for i in range(len(terms)) for j in range(i + 1, len(terms))]
        i, j = min(pairs, key=lambda pair: cost(terms[pair[0]], terms[pair[1]]))
        b, a = terms.pop(j), terms.pop(i)
        needed = set(output).union(*(term.labels for term in terms))
        terms.insert(0, multiplied(a, b, needed))
    return terms[0].summed(set(output)).ordered(output)


def view_of(term: Term, output):
    """A single operand that only changes the order of its dims."""
    order = tuple(term.labels.index(label) for label in output)
    return term.value.permute(order) if order != tuple(range(len(order))) else term.value


@op(public=False)
def einstein_sum(operands: list, sides: tuple, output: tuple):
    """The sum of products of elements with equal labels over the labels that are not in the output."""
    for other in operands[1:]:
        if other.dtype is not operands[0].dtype:
            raise RuntimeError(
                f"einsum(): expected operands of one dtype, but got {scalar_type(operands[0].dtype)} and "
                f"{scalar_type(other.dtype)}"
            )
    return contracted(operands, sides, output)


@composite
def einsum(*args):
    """Sums of products, as an equation like "bij,bjk->bik" tells: labels that the output lacks are summed over.

    Also `einsum(a, [0, 1], b, [1, 2], [0, 2])`. `...` stands for any dims, which broadcast; a label repeated in one
    operand takes its diagonal; without "->" the output has the labels that appear once, in alphabetical order.

    >>> rushlight.einsum("ij,j->i", rushlight.ones(2, 3), rushlight.arange(3.0))
    tensor([3., 3.])
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or operands and sublists"
        )
    if isinstance(args[0], (Tensor, Value)):
        operands, sides, output = parse_sublists(args)
        sides, output = spelled_out(tuple([x.ndim for x in operands]), sides, output)
    else:
        operands = args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = operands[0]
        sides, output = labels_of(args[0], tuple([x.ndim for x in operands]))
    if len(operands) == 1 and set(sides[0]) == set(output):
        return view_of(diagonalised(operands[0], sides[0], 0), output)
    return einstein_sum(operands, sides, output)
