"""Gamma, beta and Dirichlet numbers whose gradients reach the parameters.

A draw x of a distribution function F(x; a) moves with a as if its quantile stayed: dx/da = -(dF/da) / p ("Implicit
reparameterization gradients", Figurnov, Mohamed and Mnih, 2018).
"""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ops import composite, op
from ..ops.creation import fresh
from ..ops.filling import check_generator, source
from ..ops.random import over_batch

# the least normal numbers: what a draw that vanishes becomes
TINY = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}


@op(public=False)
def gamma_gradient(input, output: Tensor):
    return B.gamma_slope(input, output)


@op(public=False)
def dirichlet_gradient(x: Tensor, alpha: Tensor, total: Tensor):
    return B.beta_slope(x, alpha, total - alpha)


@op(public=False)
def following_gamma(drawn: Tensor, concentration: Tensor):
    """The draws, as functions of their concentrations."""
    return drawn


@following_gamma.vjp
def _(cotangents, outputs, drawn, concentration):
    return None, cotangents[0] * B.gamma_slope(concentration, drawn)


@op(public=False)
def following_dirichlet(drawn: Tensor, concentration: Tensor):
    """The draws, as functions of their concentrations."""
    return drawn


@following_dirichlet.vjp
def _(cotangents, outputs, drawn, concentration):
    last, g = (concentration.ndim - 1,), cotangents[0]
    total = B.sum(concentration, last, True)
    # when one part moves, the others make room in proportion
    rest = B.expand(B.sum(g * drawn, last, True), drawn.shape)
    return None, B.beta_slope(drawn, concentration, B.expand(total, drawn.shape) - concentration) * (g - rest)


def draw_gamma(concentration: Tensor, generator) -> Tensor:
    """Gamma numbers of scale 1, for any layout of concentrations."""
    shapes = concentration.detach().contiguous()
    if not shapes.is_floating_point():
        raise NotImplementedError(f'"gamma" not implemented for {shapes.dtype.name}')
    made = fresh(tuple(shapes.shape), shapes.dtype)
    source().fill_gamma(generator, made.data_ptr(), made.numel(), made.dtype.name, shapes.data_ptr())
    return made


@composite
def _standard_gamma(input, generator=None):
    """Gamma numbers of scale 1, one for each concentration of the input; their gradients reach it.

    Example:
        >>> _ = rushlight.manual_seed(0)
        >>> bool((rushlight._standard_gamma(rushlight.full((3,), 2.0)) > 0).all())
        True
    """
    check_generator("_standard_gamma", generator)
    if engine.open_levels():
        made = over_batch(lambda x: draw_gamma(x, generator), input)
    else:
        made = draw_gamma(input, generator)
    return following_gamma(made, input) if input.requires_grad else made


@composite
def _standard_gamma_grad(input, output):
    """How fast a gamma number `output` moves with its concentration `input`."""
    return gamma_gradient(input, output)


def draw_dirichlet(concentration: Tensor, generator) -> Tensor:
    """Points of the simplex: gamma numbers over their sum, both in float64."""
    gammas = draw_gamma(concentration.to(dtypes.float64), generator)
    made = (gammas / gammas.sum(-1, True)).to(concentration.dtype)
    return made.clamp(TINY[made.dtype.name])


@composite
def _sample_dirichlet(input, generator=None):
    """Points of the simplex, drawn from Dirichlet distributions with concentrations in the last dim."""
    check_generator("_sample_dirichlet", generator)
    if engine.open_levels():
        made = over_batch(lambda x: draw_dirichlet(x, generator), input)
    else:
        made = draw_dirichlet(input, generator)
    return following_dirichlet(made, input) if input.requires_grad else made


@composite
def _dirichlet_grad(x, alpha, total):
    """How fast x moves with alpha, over 1 - x, for draws x of beta distributions (alpha, total - alpha)."""
    return dirichlet_gradient(x, alpha, total)
