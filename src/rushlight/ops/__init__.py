"""The catalogue: every public tensor function, by family, each declared once."""

# ruff: noqa: I001 - the order matters: later families use earlier ones
# fmt: off
from . import dtypes, arithmetic, comparison, unary, copying, creation, shape, matmul, reduction, vector_norm
from . import activation, softmax_family, special, normalization, loss, likelihood, margin_loss, ctc, convolution
from . import pooling
from . import unpooling, spatial, resampling, grids, attention
from . import compaction, indexing, masking, scattering, replacing, segments, embeddings, joining, arranging, diagonals
from . import index_errors
from . import closeness, scans, sorting, statistics, binning, sets
from . import from_data, tensor_types, ranges, windows, filling, random, noise, complex
from . import einsum, linear_forms, distances, facts
from . import gradient, coordinates, histogramdd, native, native_losses, copies, symbolic, hashing, dim_names
from . import deferred, operators, printing
# fmt: on
from ..interop import array_namespace, arrays, buffers, dlpack, pickling, storage
from . import overriding, sparsity
from .declare import FUNCTIONS, METHODS, OPS, add_method, composite, op
from .explaining import explain_all

explain_all(FUNCTIONS)
explain_all(METHODS, add_method)
explain_all(activation.FUNCTIONAL)
overriding.offer_overrides()


def __getattr__(name: str):
    """Any function of the catalogue, as `nn.functional` has it; `quantized`: functions on quantized tensors."""
    if name == "quantized":
        from ..quantized.library import LIBRARY

        return LIBRARY
    found = activation.FUNCTIONAL.get(name) or deferred.load(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


__all__ = ["FUNCTIONS", "METHODS", "OPS", "composite", "op"]
