"""Writes by index begin where the result lies, overwrite an input, or write one number: without temporaries."""

import numpy as np
from lower_harness import Case, random

from rushlight.ir import build as B

PLACES = np.array([3, 0, 3, 5])


def run(build, arrays, **keywords):
    case = Case(build, arrays, **keywords)
    case.check()
    return case


def elements(case):
    return [size if type(size) is int else size.hint for size in case.lowered.temps]


def test_a_sum_into_zeros_needs_no_zeros_beside_the_result():
    case = run(lambda g, i: B.put(B.zeros((6, 8)), g, i, mode="add"), [random((4, 8)), PLACES], symbolic=True)
    assert elements(case) == []


def test_what_is_also_read_elsewhere_stays():
    def build(x, g, i):
        start = x * 2
        return B.put(start, g, i, mode="add"), start + 1

    run(build, [random((6, 8)), random((4, 8)), PLACES], symbolic=True)


def test_an_input_is_overwritten_where_it_lies():
    case = run(lambda x, g, i: B.put(x, g, i), [random((6, 8)), random((4, 8)), PLACES], aliases=[0])
    assert elements(case) == []


def test_an_input_that_is_written_from_itself_is_not():
    case = run(lambda x, i: B.put(x, B.narrow(x, 0, 1, 4), i), [random((6, 8)), PLACES], aliases=[0])
    assert elements(case) != []


def test_one_number_is_one_element():
    case = run(lambda x, i: B.put(x, B.ones((4, 8)), i, mode="add"), [random((6, 8)), PLACES], symbolic=True)
    assert elements(case) == [4]
    case = run(lambda x, i: B.scatter(x, 0, i, 7.0), [random((6, 4)), np.stack([PLACES] * 2)], symbolic=True)
    assert elements(case) == [4]
