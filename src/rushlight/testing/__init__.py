"""For tests: `assert_close` compares tensors, `make_tensor` makes random ones, `FileCheck` looks through texts."""

from .comparison import assert_allclose, assert_close
from .creation import make_tensor
from .file_check import FileCheck

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]
