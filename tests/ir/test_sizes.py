"""Symbolic sizes: what they compute, decide and remember must hold for every size that satisfies the guards."""

import operator
import random

import pytest

from rushlight.ir.sizes import Scope, Sym, contiguous_strides, hint, product, source

BINARY = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod)
COMPARE = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


class Program:
    """Random arithmetic and comparisons, replayable on any integers."""

    def __init__(self, seed: int, count: int):
        rng = random.Random(seed)
        self.steps = []
        for i in range(rng.randint(4, 14)):
            choose = lambda i=i: rng.randrange(count + i) if rng.random() < 0.7 else -1 - rng.randint(0, 6)  # noqa: E731
            self.steps.append((rng.choice(BINARY), choose(), choose(), rng.choice(COMPARE), choose(), choose()))

    def run(self, sizes):
        """All values and all answers; a negative place stands for a literal between -3 and 3."""
        values, answers = list(sizes), []
        at = lambda i: values[i] if i >= 0 else -i - 4  # noqa: E731
        for op, a, b, compare, c, d in self.steps:
            try:
                values.append(op(at(a), at(b)))
            except ZeroDivisionError:
                values.append(2)
            answers.append(compare(at(c), at(d)))
        return values, answers


def holds(guards, sizes) -> bool:
    try:
        return all(eval(g, {}, sizes) for g in guards)
    except ZeroDivisionError:
        return False


@pytest.mark.parametrize("seed", range(200))
def test_every_size_that_satisfies_the_guards_behaves_alike(seed):
    rng = random.Random(seed)
    scope = Scope()
    hints = [rng.randint(2, 6) for _ in range(3)]
    symbols = [scope.symbol(h) for h in hints]
    program = Program(seed, 3)
    values, answers = program.run(symbols)
    assert program.run(hints) == ([hint(v) for v in values], answers)
    others = [[rng.randint(2, 7) for _ in range(3)] for _ in range(60)] + [hints]
    for numbers in others:
        names = dict(zip(("s0", "s1", "s2"), numbers))
        if holds(scope.guards, names):
            expected, expected_answers = program.run(numbers)
            assert answers == expected_answers
            assert [eval(source(v), {}, names) for v in values] == expected


def test_zero_and_one_are_never_symbolic():
    scope = Scope()
    assert scope.symbol(0) == 0 and type(scope.symbol(0)) is int
    assert scope.symbol(1) == 1 and type(scope.symbol(1)) is int
    assert not scope.guards


def test_normal_form_decides_without_a_guard():
    scope = Scope()
    a, b = scope.symbol(5), scope.symbol(7)
    before = dict(scope.guards)
    assert a * b == b * a
    assert (a + b) * 2 == 2 * a + 2 * b
    assert a * b // b == a
    assert a * b % a == 0
    assert (4 * a + 6) // 4 == a + 1
    assert (a - 1) // 2 + 1 == (a + 1) // 2
    assert a + 1 > a and a * b > 3 and a != 0 and a != 1 and not a < 2
    assert (a % 3) < 3 and (a // 2) >= 1
    assert scope.guards == before


def test_equality_is_learnt_also_inside_divisions_and_products():
    scope = Scope()
    a, b, c = scope.symbol(6), scope.symbol(6), scope.symbol(5)
    halves = a // 4, b // 4
    difference = a - b
    assert a * c == b * c
    guards = dict(scope.guards)
    assert difference == 0 and difference.source() == "0"
    assert halves[0] == halves[1]
    assert scope.guards == guards


def test_learnt_number_reaches_everything():
    scope = Scope()
    a = scope.symbol(6)
    third, twice = a // 4, 2 * a
    assert int(a) == 6
    guards = dict(scope.guards)
    assert "s0 == 6" in guards
    assert third == 1 and twice == 12 and twice.simplified() == 12 and a > 5
    assert scope.guards == guards


def test_learning_never_goes_in_circles():
    scope = Scope()
    a, b, c = (scope.symbol(n) for n in (4, 8, 12))
    assert b == 2 * a and c == a + b and b == c - a and a == c - b and c * 2 == b * 3
    assert (a + b + c).source() == "6*s0"
    assert not scope.substitution.keys() & {"s0"}


def test_self_referring_equality_is_not_learnt():
    scope = Scope()
    a = scope.symbol(4)
    assert a == a // 2 * 2
    assert (a + 1).source() == "(1 + s0)"


def test_hash_is_stable_and_agrees_with_equality():
    scope = Scope()
    a, b = scope.symbol(5), scope.symbol(5)
    table = {a: "first", b + 1: "second"}
    assert a == b
    assert table[b] == "first" and table[a + 1] == "second"
    assert hash(a) == hash(5) and table[5] == "first"


def test_quotient_by_a_number_that_might_be_zero_is_guarded():
    scope = Scope()
    n, stride = scope.symbol(5), scope.input_symbol("stride", 3)
    assert (n * stride) // stride == n
    assert "stride != 0" in scope.guards


def test_division_by_zero():
    scope = Scope()
    a = scope.symbol(5)
    for divide in (operator.floordiv, operator.mod):
        with pytest.raises(ZeroDivisionError):
            divide(a, 0)
        with pytest.raises(ZeroDivisionError):
            divide(3, a - a)


def test_floats_and_strangers():
    scope = Scope()
    a = scope.symbol(5)
    assert a / 2 == 2.5 and 10 / a == 2.0 and a * 0.5 == 2.5 and a + 0.5 == 5.5
    assert "s0 == 5" in scope.guards
    assert a != "five" and a is not None and a != None  # noqa: E711
    for stranger in ("x", None, []):
        with pytest.raises(TypeError):
            a + stranger
        with pytest.raises(TypeError):
            _ = a < stranger
    with pytest.raises(RuntimeError, match="different traces"):
        a + Scope().symbol(4)


def test_bools_are_numbers():
    scope = Scope()
    a = scope.symbol(5)
    assert (a + True).source() == "(1 + s0)" and a * False == 0


def test_negative_operands_floor_as_python_does():
    scope = Scope()
    a = scope.symbol(7)
    assert hint(-a // 2) == -4 and hint(-a % 4) == 1 and hint(a // -2) == -4 and hint(a % -4) == -1
    for size in (-a // 2, -a % 4, a // -2, a % -4, (-3 * a + 1) // 5):
        assert eval(source(size), {}, {"s0": 7}) == hint(size)


def test_helpers():
    scope = Scope()
    a, b = scope.symbol(5), scope.symbol(3)
    assert product([]) == 1 and product([2, 3]) == 6 and product([a, 1]) is a
    assert contiguous_strides((a, b, 4)) == (4 * b, 4, 1)
    assert contiguous_strides((2, 0, 3)) == (3, 3, 1)
    assert isinstance(a, Sym) and a.source() == "s0" and f"{(a, 2 * b)}" == "(5, 6)"


def test_names_are_unique():
    scope = Scope()
    scope.input_symbol("offset", 0)
    with pytest.raises(ValueError, match="offset"):
        scope.input_symbol("offset", 1)
