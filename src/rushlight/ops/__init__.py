"""The catalogue: every public tensor function, by family, each declared once."""

from . import arithmetic, copying, creation, dtypes, matmul, shape
from ..interop import arrays  # isort: skip - methods that arrays need
from .declare import FUNCTIONS, METHODS, OPS, composite, op

__all__ = ["FUNCTIONS", "METHODS", "OPS", "arithmetic", "composite", "copying", "creation", "dtypes", "op", "shape"]
