"""For tests: `assert_close` compares tensors, `make_tensor` makes random ones."""

from .comparison import assert_allclose, assert_close
from .creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
