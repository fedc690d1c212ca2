"""Checks of texts."""

import pytest

from rushlight.testing import FileCheck

TEXT = "one two\nthree two\nfour\n~~~~\n"
PASS = {
    "in order": FileCheck().check("one").check("four"),
    "exact count": FileCheck().check_count("two", 2, exactly=True),
    "not at all": FileCheck().check_not("five"),
    "not between": FileCheck().check("three").check_not("one").check("four"),
    "only between": FileCheck().check("one").check_not("four").check("three").check("four"),
    "next line": FileCheck().check("one").check_next("three"),
    "same line": FileCheck().check("one").check_same("two"),
    "first of all": FileCheck().check_next("three"),
    "any order": FileCheck().check_dag("four").check_dag("one").check("~"),
    "pattern": FileCheck().check_regex("t.o").check_same("\n"),
    "highlighted": FileCheck().check_source_highlighted("four"),
    "repeated": FileCheck().check_count("two", 1).check("two"),
}
FAIL = {
    'to find "one"': FileCheck().check("four").check("one"),
    'not find "two" but found it on line 2': FileCheck().check_count("two", 1, exactly=True),
    'not find "three"': FileCheck().check("one").check_not("three").check("four"),
    'find "three" on the same line': FileCheck().check("one").check_same("three"),
    'find "four" on the next line': FileCheck().check("one").check_next("four"),
    'find "two" but': FileCheck().check_count("two", 3),
    'find "x.z"': FileCheck().check_regex("x.z"),
    'find "three" but': FileCheck().check_source_highlighted("three"),
    'find "six"': FileCheck().check_dag("four").check_dag("six"),
    'not find "one"': FileCheck().check_not("one").check_dag("four").check_dag("three"),
    "No checks": FileCheck(),
}


@pytest.mark.parametrize("name", PASS)
def test_passes(name):
    PASS[name].run(TEXT)


@pytest.mark.parametrize("message", FAIL)
def test_fails(message):
    with pytest.raises(RuntimeError, match=message.replace(".", r"\.")):
        FAIL[message].run(TEXT)


def test_checks_as_text():
    FileCheck().run("# CHECK: one\n  # CHECK-NOT: four\n# CHECK-COUNT-2-EXACTLY: two\n# CHECK-NEXT: four", TEXT)
    with pytest.raises(RuntimeError, match="CHECK-NOT: three"):
        FileCheck().run("# CHECK-NOT: three", TEXT)
    with pytest.raises(RuntimeError, match="no kind of check"):
        FileCheck().run("# CHECK-ABC: three", TEXT)
