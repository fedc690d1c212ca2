"""The catalogue: every public tensor function, by family, each declared once."""

# isort: skip_file - later families use earlier ones
from . import (
    dtypes,
    arithmetic,
    unary,
    copying,
    creation,
    shape,
    matmul,
    reduction,
    softmax,
    activation,
    normalization,
    loss,
)
from . import operators
from ..interop import arrays
from .declare import FUNCTIONS, METHODS, OPS, composite, op

__all__ = ["FUNCTIONS", "METHODS", "OPS", "composite", "op"]
