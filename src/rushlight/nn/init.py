"""Initial values of parameters: every function fills a tensor in place and returns it.

Each draws from the generator what PyTorch draws, so that equal seeds give equal models.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

from .. import ops
from ..autograd import no_grad
from ..core import Tensor
from ..ir.dtypes import bool_
from ..ops.notices import warn_user

_GAINS = {
    **dict.fromkeys(("linear", "sigmoid", "conv1d", "conv2d", "conv3d"), 1.0),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), 1.0),
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,  # keeps the variance near 1 without the self-normalizing 1
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights must be scaled to keep the variance through an activation.

    `param` is the negative slope of "leaky_relu" (0.01).
    """
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator=None) -> Tensor:
    """Values uniform in [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator=None) -> Tensor:
    """Values from the normal distribution."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Every value `val`."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Every value 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Every value 0."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix, for a 2-d tensor."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.zero_()
        tensor.diagonal().fill_(1)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution weight (3-d to 5-d) that passes its input channels through, in each group."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = tensor.shape[0] // groups
    centre = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, tensor.shape[1])):
                tensor[(group * per_group + channel, channel, *centre)] = 1
    return tensor


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output has, and how many outputs an input: (fan_in, fan_out) of a weight."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


_calculate_fan_in_and_fan_out = fans


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator=None) -> Tensor:
    """Uniform with variance gain² · 2 / (fan_in + fan_out) (Glorot & Bengio, 2010)."""
    fan_in, fan_out = fans(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator=None) -> Tensor:
    """Normal with variance gain² · 2 / (fan_in + fan_out) (Glorot & Bengio, 2010)."""
    fan_in, fan_out = fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    """The standard deviation gain / sqrt(fan); None when there is nothing to fill."""
    if 0 in tensor.shape:
        warn_user("Initializing zero-element tensors is a no-op")
        return None
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan = fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator=None
) -> Tensor:
    """Uniform with variance gain² / fan (He et al., 2015); `a` is the slope of a leaky ReLU."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator=None
) -> Tensor:
    """Normal with variance gain² / fan (He et al., 2015); `a` is the slope of a leaky ReLU."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator=None
) -> Tensor:
    """Normal restricted to [a, b]: values outside are drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    inside = 0.5 * (math.erf((b - mean) / std / math.sqrt(2.0)) - math.erf((a - mean) / std / math.sqrt(2.0)))
    with no_grad():
        if inside > 0.3:
            return _redraw_outside(tensor, mean, std, a, b, generator)
        return _reject_uniform(tensor, mean, std, a, b, generator)


def _redraw_outside(tensor: Tensor, mean: float, std: float, a: float, b: float, generator) -> Tensor:
    """Draws normal values, all of them anew as long as one still needed lies outside [a, b]."""
    tensor.normal_(mean, std, generator=generator)
    while (outside := (tensor < a) | (tensor > b)).any():
        tensor.copy_(ops.where(outside, ops.empty_like(tensor).normal_(mean, std, generator=generator), tensor))
    return tensor


def _reject_uniform(tensor: Tensor, mean: float, std: float, a: float, b: float, generator) -> Tensor:
    """For an interval in the tail: uniform candidates, kept with a probability proportional to the density."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    pending = ops.ones_like(tensor, dtype=bool_)
    while pending.any():
        candidates = ops.empty_like(tensor).uniform_(a, b, generator=generator)
        tensor.copy_(ops.where(pending, candidates, tensor))
        log_density = -0.5 * ((candidates - mean) / std) ** 2 - peak
        draws = ops.empty_like(tensor).uniform_(generator=generator)
        pending = pending & (draws.log() > log_density)
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator=None) -> Tensor:
    """Rows (or columns, if there are fewer) orthonormal, times `gain` (Saxe et al., 2013)."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    with no_grad():
        flat = ops.empty(rows, columns, dtype=tensor.dtype, device=tensor.device).normal_(0, 1, generator=generator)
        q = _orthonormal_columns(flat.t() if rows < columns else flat)
        tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape))
        return tensor.mul_(gain)


def _orthonormal_columns(matrix: Tensor) -> Tensor:
    """Gram-Schmidt: the orthonormal factor of a tall matrix whose triangular factor has a positive diagonal.

    That sign makes the factor unique and, of a normal matrix, uniformly distributed.
    """
    q = matrix.double()
    for j in range(q.shape[1]):
        column = q[:, j]
        if j:
            for _ in range(2):  # once more against the rounding of the first pass: "twice is enough" (Kahan)
                column = column - q[:, :j] @ (q[:, :j].t() @ column)
        q[:, j] = column / column.norm()
    return q


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator=None) -> Tensor:
    """Normal, with the share `sparsity` of every column set to 0 (Martens, 2010); 2-d."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[ops.randperm(rows)[:zeros], column] = 0
    return tensor


def _deprecated(function: Callable) -> Callable:
    name = function.__name__

    def old(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    old.__name__ = name[:-1]
    old.__doc__ = f"The old name of `{name}`."
    return old


uniform, normal, constant, eye, dirac = map(_deprecated, (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal = _deprecated(xavier_uniform_), _deprecated(xavier_normal_)
kaiming_uniform, kaiming_normal = _deprecated(kaiming_uniform_), _deprecated(kaiming_normal_)
orthogonal, sparse = _deprecated(orthogonal_), _deprecated(sparse_)
