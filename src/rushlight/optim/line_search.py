"""Line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..core import Tensor

SUFFICIENT, CURVATURE = 1e-4, 0.9  # the constants of the two conditions


class Point:
    """A step length with the loss, gradient and slope there."""

    def __init__(self, length: float, loss: float, grad: Tensor, slope: float):
        self.length, self.loss, self.grad, self.slope = length, loss, grad, slope


def strong_wolfe(
    evaluate: Callable, length: float, direction: Tensor, loss: float, grad: Tensor, slope: float,
    tolerance: float = 1e-9, most: int = 25,
) -> tuple[float, Tensor, float, int]:  # fmt: skip
    """A step length at which the loss has fallen enough and its slope has flattened (Nocedal & Wright, algorithm 3.5).

    `evaluate(length)` gives (loss, gradient) there; `loss`, `grad` and `slope` are those at 0. Returns loss, gradient,
    length and the number of evaluations.
    """
    search = _Search(evaluate, direction, Point(0.0, loss, grad, slope), tolerance, most)
    low, high = search.bracket(length)
    if high is not None:
        low = search.zoom(low, high)
    return low.loss, low.grad, low.length, search.evaluations


class _Search:
    def __init__(self, evaluate: Callable, direction: Tensor, origin: Point, tolerance: float, most: int):
        self.evaluate, self.direction, self.origin = evaluate, direction, origin
        self.tolerance, self.most = tolerance, most
        self.scale = float(direction.abs().max())
        self.evaluations = self.rounds = 0

    def at(self, length: float) -> Point:
        loss, grad = self.evaluate(length)
        self.evaluations += 1
        return Point(length, loss, grad, float(grad.dot(self.direction)))

    def too_high(self, point: Point) -> bool:
        return point.loss > self.origin.loss + SUFFICIENT * point.length * self.origin.slope

    def flat(self, point: Point) -> bool:
        return abs(point.slope) <= -CURVATURE * self.origin.slope

    def bracket(self, length: float) -> tuple[Point, Point | None]:
        """Two points between which an acceptable length lies; or an acceptable one and None."""
        previous, point = self.origin, self.at(length)
        while self.rounds < self.most:
            if self.too_high(point) or (self.rounds > 0 and point.loss >= previous.loss):
                return previous, point
            if self.flat(point):
                return point, None
            if point.slope >= 0:
                return previous, point
            least = point.length + 0.01 * (point.length - previous.length)
            following = _cubic_minimum(previous, point, least, point.length * 10)
            previous, point = point, self.at(following)
            self.rounds += 1
        return self.origin, point

    def zoom(self, one: Point, other: Point) -> Point:
        """Shrinks the bracket until a point satisfies both conditions, or it is too small to matter."""
        low, high = (one, other) if one.loss <= other.loss else (other, one)
        stalled = False
        while self.rounds < self.most and abs(high.length - low.length) * self.scale >= self.tolerance:
            length = _cubic_minimum(low, high)
            length, stalled = self.kept_inside(length, low, high, stalled)
            point = self.at(length)
            self.rounds += 1
            if self.too_high(point) or point.loss >= low.loss:
                high = point
                low, high = (low, high) if low.loss <= high.loss else (high, low)
            else:
                if self.flat(point):
                    return point
                if point.slope * (high.length - low.length) >= 0:
                    high = low
                low = point
        return low

    def kept_inside(self, length: float, low: Point, high: Point, stalled: bool) -> tuple[float, bool]:
        """A length too near the bracket's end is tolerated once, then moved a tenth inwards."""
        first, last = sorted((low.length, high.length))
        margin = 0.1 * (last - first)
        if min(last - length, length - first) >= margin:
            return length, False
        if not stalled and first < length < last:
            return length, True
        return (last - margin if abs(length - last) < abs(length - first) else first + margin), False


def _cubic_minimum(a: Point, b: Point, least: float | None = None, most: float | None = None) -> float:
    """Where the cubic through two points with their slopes is smallest, within bounds (the points, if not given)."""
    if least is None:
        least, most = sorted((a.length, b.length))
    first, second = (a, b) if a.length <= b.length else (b, a)
    if first.length == second.length:
        return (least + most) / 2
    d1 = first.slope + second.slope - 3 * (first.loss - second.loss) / (first.length - second.length)
    square = d1 * d1 - first.slope * second.slope
    if square < 0 or math.isnan(square):
        return (least + most) / 2
    d2 = math.sqrt(square)
    share = (second.slope + d2 - d1) / (second.slope - first.slope + 2 * d2)
    return min(max(second.length - (second.length - first.length) * share, least), most)
