"""`torch._six`, which bridged Python 2 and 3: the names that older programs import from there."""

from __future__ import annotations

import builtins
import collections.abc as container_abcs
import queue
from math import inf, nan

__all__ = [
    "PY3",
    "PY37",
    "FileNotFoundError",
    "container_abcs",
    "inf",
    "int_classes",
    "nan",
    "queue",
    "string_classes",
    "with_metaclass",
]  # fmt: skip

PY3 = PY37 = True
FileNotFoundError = builtins.FileNotFoundError
int_classes = int
string_classes = (str, bytes)


def with_metaclass(meta: type, *bases: type) -> type:
    """A base class that gives its subclasses a metaclass."""

    class Prepared(type):
        def __new__(cls, name, _, namespace):
            return meta(name, bases, namespace)

        @classmethod
        def __prepare__(cls, name, _):
            return meta.__prepare__(name, bases)

    return type.__new__(Prepared, "with_metaclass", (), {})
