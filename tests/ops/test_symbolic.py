"""Arithmetic for sizes."""

import pytest

import rushlight as rl


def test_numbers():
    assert rl.sym_int(3.7) == 3 and rl.sym_int(-3.7) == -3
    assert type(rl.sym_float(3)) is float and rl.sym_not(0) is True
    assert type(rl.sym_max(3, 4)) is int and type(rl.sym_max(3, 2.0)) is float and rl.sym_min(3, 2.0) == 2
    assert rl.sym_sum(1, 2, 3) == rl.sym_sum([1, 2, 3]) == 6 and rl.sym_sqrt(4) == 2
    assert rl.sym_ite(False, 1, 2) == 2


def test_errors():
    for call in (lambda: rl.sym_max("a", 1), lambda: rl.sym_min(1, 1j), lambda: rl.sym_ite(True, 1, 2.0)):
        with pytest.raises(TypeError):
            call()
