"""Modules cut into functions that are compiled once, and linked again."""

import ctypes

import pytest

from rushlight.compiler import cache, executable_memory, machine_code
from rushlight.compiler.parts import parts_of
from rushlight.compiler.text import Module, V

FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


def module(last: int) -> str:
    """f(x) = (x * 3 if x is odd, else x * x) + a table's entry, in functions that call each other; g alone depends on
    `last`."""
    m = Module()
    triple = m.function("triple", [("i64", "x")], "i64", linkage="internal")
    triple.line(f"ret {triple.mul(triple.args[0], V('3', 'i64'))}")
    square = m.function("square", [("i64", "x")], "i64", linkage="internal")
    square.line(f"ret {square.mul(square.args[0], square.args[0])}")
    choose = m.function("choose", [("i64", "x")], "i64", linkage="internal")
    functions = m.table("ptr", ["@square", "@triple"])
    bit = choose.binary("and", choose.args[0], V("1", "i64"))
    chosen = choose.load(choose.at(functions, "ptr", bit), "ptr")
    choose.line(f"ret {choose.value(f'call i64 {chosen.text}({choose.args[0]})', 'i64')}")
    f = m.function("f", [("i64", "x")], "i64")
    entry = f.load(f.at(m.table("i64", ["10", "20", str(last)]), "i64", f.args[0]), "i64")
    f.line(f"ret {f.add(f.call('choose', 'i64', f.args[0]), entry)}")
    return str(m)


@pytest.fixture
def emitted(tmp_path, monkeypatch):
    """The texts that LLVM sees, with all caches empty."""
    texts, emit = [], machine_code.emit
    monkeypatch.setenv("RUSHLIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(machine_code, "emit", lambda text: texts.append(text) or emit(text))
    forget(monkeypatch)
    return texts


def forget(monkeypatch):
    monkeypatch.setattr(cache, "_modules", {})
    monkeypatch.setattr(cache, "_objects", {})


def values(address: int) -> list[int]:
    return [FUNCTION(address)(n) for n in range(3)]


def test_a_part_holds_one_function_and_what_it_names():
    triple, square, choose, f = parts_of(module(30))
    assert "@table" not in triple + square and "@f" not in triple + square + choose
    assert "declare i64 @square(i64)" in choose and "declare i64 @triple(i64)" in choose and "@table1" not in choose
    assert "declare i64 @choose(i64)" in f and "@square" not in f
    assert [part.count("define") for part in (triple, square, choose, f)] == [1] * 4


def test_parts_are_compiled_once_and_linked(emitted):
    one, two = (cache.load("f", module(last)) for last in (30, 31))
    assert values(one) == [0 + 10, 3 + 20, 4 + 30] and values(two) == [0 + 10, 3 + 20, 4 + 31]
    assert len(emitted) == 5  # four functions, and the one that differs


def test_parts_are_found_on_disk(emitted, monkeypatch):
    cache.load("f", module(30))
    forget(monkeypatch)
    assert values(cache.load("f", module(32)))[2] == 36
    assert len(emitted) == 5


def test_many_modules_share_their_parts(emitted):
    addresses = cache.load_all([("f", module(last)) for last in (30, 31, 32)])
    assert [values(a)[2] for a in addresses] == [34, 35, 36]
    assert len(emitted) == 6


def test_llvm_links_the_whole_where_we_cannot(emitted, monkeypatch):
    monkeypatch.setattr(executable_memory, "available", lambda: False)
    assert values(cache.load("f", module(30))) == [10, 23, 34]
    assert emitted == [module(30)]


@pytest.mark.parametrize(
    "line",
    ["%pair = type { i64, i64 }", "@n = internal global i64 0", "define internal i64 @h(i64 %x) { ret i64 %x }"],
)
def test_other_forms_stay_whole(line):
    assert parts_of(f"{line}\n{module(30)}") == []


def test_a_convolution_with_and_without_bias_differ_in_one_part():
    from rushlight.compiler.conv_columns import Columns, columns_kernel
    from rushlight.compiler.conv_lines import Lines
    from rushlight.ir.dtypes import float32

    kernels = [columns_kernel(Columns(float32, Lines(float32, 1, 8), "pixels", bias)) for bias in (False, True)]
    plain, biased = (set(parts_of(kernel.text)) for kernel in kernels)
    assert len(plain) > 4 and len(plain & biased) == len(plain) - 1
