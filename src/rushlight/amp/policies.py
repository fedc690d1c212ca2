"""Which functions autocast prepares on the CPU, and how: their tensors become a half type, float32, or the widest.

While a thread computes under autocast, calls of these functions come here first; at all other times nothing here runs.
"""

from __future__ import annotations

from ..core import Tensor, engine
from ..core.engine import is_grad_enabled
from ..ir.dtypes import bfloat16, float16, float32
from ..ops import activation
from ..ops.copying import converted
from ..ops.declare import ARRIVED, FUNCTIONS, METHODS, OPS, REDIRECTED, called_with_values, twin_of
from ..ops.explaining import OF_ROOMS
from .state import state

LOWER = """
    conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d bmm mm baddbmm addmm addbmm linear
    inner linalg.vecdot matmul prelu scaled_dot_product_attention tensordot
""".split()  # noqa: SIM905
FLOAT32 = """
    adaptive_avg_pool3d adaptive_max_pool3d adaptive_max_pool3d_with_indices avg_pool3d binary_cross_entropy
    binary_cross_entropy_with_logits cdist cosine_embedding_loss cross_entropy ctc_loss
    fractional_max_pool2d fractional_max_pool3d fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices
    grid_sample grid_sampler grid_sampler_2d grid_sampler_3d hinge_embedding_loss huber_loss kl_div l1_loss
    margin_ranking_loss max_pool3d max_pool3d_with_indices max_unpool2d max_unpool3d mse_loss multi_margin_loss
    multilabel_margin_loss nanquantile nll_loss poisson_nll_loss polar prod quantile smooth_l1_loss soft_margin_loss
    stft trace triplet_margin_loss view_as_complex
    fft.fft fft.fft2 fft.fftn fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ihfft fft.irfft fft.irfft2 fft.irfftn fft.rfft
    fft.rfft2 fft.rfftn
    cholesky_inverse cholesky_older cholesky_solve geqrf linalg_cholesky linalg_householder_product linalg_inv
    linalg_solve lu_solve ormqr_of pinverse qr svd triangular_solve
    linalg.cholesky_ex linalg.cond linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv_ex linalg.lstsq
    linalg.matrix_rank linalg.qr linalg.svd linalg.svdvals linalg.tensorinv linalg.tensorsolve
""".split()  # noqa: SIM905
PROMOTE = ["stack", "cat", "index_copy"]
MIRRORED = {("reflect", 1), ("reflect", 2), ("replicate", 1), ("replicate", 2), ("replicate", 3)}
FLOATING = {float32, bfloat16, float16}  # what is cast: float64 stays


def is_eligible(value) -> bool:
    """Whether autocast may cast a value."""
    return isinstance(value, Tensor) and value.dtype in FLOATING


def cast(value, dtype):
    """A value with all its eligible tensors in a type."""
    if isinstance(value, Tensor):
        return cast_tensor(value, dtype) if value.dtype in FLOATING and value.dtype is not dtype else value
    if isinstance(value, (list, tuple)) and any(isinstance(part, Tensor) for part in value):
        return type(value)([cast(part, dtype) for part in value])
    return value


def cast_tensor(tensor: Tensor, dtype) -> Tensor:
    """A tensor in another type; a parameter's is kept, so that a block casts it once."""
    keeps = state.cache_enabled and tensor.dtype is float32 and dtype is not float32
    if not (keeps and tensor.requires_grad and tensor.is_leaf and not tensor._is_view()):
        return converted(tensor, dtype)
    key = (id(tensor), dtype, is_grad_enabled())
    found = state.cache.get(key)
    if found is None or found[1] != tensor._version:
        found = state.cache[key] = (
            tensor,
            tensor._version,
            converted(tensor, dtype),
        )  # the tensor lives on, and so does its id
    return found[2]


def to_lower(args, kwargs):
    """The type that autocast is set to."""
    return state.dtypes["cpu"]


def to_float32(args, kwargs):
    """float32, in which sums and losses keep their meaning."""
    return float32


def to_widest(args, kwargs):
    """The widest type among the tensors."""
    values = [*args, *kwargs.values()]
    parts = [part for value in values for part in (value if isinstance(value, (list, tuple)) else (value,))]
    found = {part.dtype for part in parts if is_eligible(part)}
    others = any(isinstance(p, Tensor) and p.is_floating_point() and p.dtype not in FLOATING for p in parts)
    if others or len(found) < 2:
        return None  # of one type, or float64 is among them: the usual promotion does
    return float32


def to_lower_if_contracted(args, kwargs):
    """The type that autocast is set to, for an `einsum` that sums over a label of two operands: a matrix product."""
    equation, *operands = args
    if isinstance(equation, str):
        terms, arrow, result = equation.replace(" ", "").partition("->")
        terms = terms.split(",")
        if not arrow:
            result = [label for label in "".join(terms) if sum(term.count(label) for term in terms) == 1]
    else:
        terms = operands[::2]
        result = operands[-1] if len(operands) % 2 == 0 else ()
    labels = [label for term in terms for label in set(term)]
    contracted = any(labels.count(label) > 1 and label not in result for label in labels)
    return to_lower(args, kwargs) if contracted else None


def to_float32_if_mirrored(args, kwargs):
    """float32 for the paddings by what is there, in the dims that PyTorch has a function of its own for."""
    widths = args[1] if len(args) > 1 else kwargs.get("pad", ())
    mode = args[2] if len(args) > 2 else kwargs.get("mode", "constant")
    dims = len(widths) // 2 if isinstance(widths, (list, tuple)) else 0
    return float32 if (mode, dims) in MIRRORED else None


def prepared(function, rule):
    """`function` with its tensors cast where this thread computes under autocast."""

    def run(*args, **kwargs):
        if (
            state.inside
            or not state.enabled["cpu"]
            or kwargs.get("out") is not None
            or called_with_values(args)
            or called_with_values(kwargs.values())
        ):
            return function(*args, **kwargs)
        state.inside = True
        try:
            dtype = rule(args, kwargs)
            if dtype is not None:
                args = [cast(value, dtype) for value in args]
                kwargs = {name: cast(value, dtype) for name, value in kwargs.items()}
            return function(*args, **kwargs)
        finally:
            state.inside = False

    return run


RULES = (
    dict.fromkeys(LOWER, to_lower)
    | dict.fromkeys(FLOAT32, to_float32)
    | dict.fromkeys(PROMOTE, to_widest)
    | {"einsum": to_lower_if_contracted, "pad": to_float32_if_mirrored}
)
_prepared: dict = {}  # a function -> what runs in its place
_within = False


def adopt(name: str, function) -> None:
    """Prepares a function of a name that has a rule."""
    if name not in RULES or function in _prepared:
        return
    own = twin_of(function) if isinstance(function, engine.Op) else function.__wrapped__
    _prepared[function] = prepared(own, RULES[name])
    if _within:
        turn(function)


def turn(function) -> None:
    """Lets calls of a function come here first, or stops that."""
    if isinstance(function, engine.Op):
        if _within:
            REDIRECTED[function] = _prepared[function]
        else:
            REDIRECTED.pop(function, None)
        function.redirect(_within)
    else:
        function.redirect(_prepared[function] if _within else None)


def redirect(within: bool) -> None:
    """Lets calls of all functions with a rule come here first, or stops that."""
    global _within
    _within = within
    if adopt not in ARRIVED:  # what is loaded later comes by itself
        ARRIVED.append(adopt)
        for name in RULES:
            for table in (FUNCTIONS, activation.FUNCTIONAL, OPS, METHODS, OF_ROOMS):
                if name in table:
                    adopt(name, table[name])
    for function in list(_prepared):
        turn(function)
