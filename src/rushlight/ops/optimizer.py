"""The updates of optimizers: each is one op over all parameters of a group, hence one list of launches.

All work in place: `params` and the lists of state named in `mutates` are overwritten. Learning rates and the like
are run-time numbers; a None among them leaves out the term. Complex parameters are updated as pairs of reals.
"""

from __future__ import annotations

import functools
import math

from ..ir import build as B
from ..ir import dtypes
from .declare import Number, op


def over_parameters(update, *lists) -> tuple[list, ...]:
    """`update` applied to the first entries of all lists, to the second ones, ...; one list for each of its results."""
    results = [_as_reals(update, entries) for entries in zip(*lists)]
    return tuple(list(column) for column in zip(*results))


def _as_reals(update, entries) -> tuple:
    if not entries[0].dtype.is_complex:
        return update(*entries)
    return tuple(B.view_as_complex(result) for result in update(*map(B.view_as_real, entries)))


def direction(grad, param, weight_decay, maximize: bool):
    """The gradient to follow downhill, with the penalty's gradient."""
    grad = -grad if maximize else grad
    return grad if weight_decay is None else grad + weight_decay * param


def lerp(start, end, weight):
    """start moved towards end by a share."""
    return start + weight * (end - start)


@op(public=False, mutates=("params", "momentum_buffers"))
def sgd_step(
    params: list, grads: list, momentum_buffers: list, lr: float, weight_decay: Number = None, momentum: Number = None,
    undamped: float = 1.0, nesterov: bool = False, maximize: bool = False, first: bool = False,
):  # fmt: skip
    """Gradient descent; `undamped` is 1 - dampening, `first` starts the momentum with the gradient itself."""

    def plain(param, grad):
        return (param - lr * direction(grad, param, weight_decay, maximize),)

    def with_momentum(param, grad, buffer):
        grad = direction(grad, param, weight_decay, maximize)
        buffer = grad if first else momentum * buffer + undamped * grad
        return param - lr * (grad + momentum * buffer if nesterov else buffer), buffer

    if momentum is None:
        return (*over_parameters(plain, params, grads), [])
    return over_parameters(with_momentum, params, grads, momentum_buffers)


@op(public=False, mutates=("params", "exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs"))
def adam_step(
    params: list, grads: list, exp_avgs: list, exp_avg_sqs: list, max_exp_avg_sqs: list, step_size: float,
    new_share: float, beta2: float, new_share_sq: float, root_correction: float, eps: float,
    weight_decay: Number = None, shrink: Number = None, maximize: bool = False,
):  # fmt: skip
    """Adam; see `optim.Adam`.

    `step_size` is lr / (1 - beta1ᵗ), `root_correction` sqrt(1 - beta2ᵗ), `new_share` 1 - beta1, and `new_share_sq`
    1 - beta2, `shrink` the factor of decoupled weight decay. `max_exp_avg_sqs` is empty but for AMSGrad.
    """

    def update(param, grad, exp_avg, exp_avg_sq, *largest):
        grad = direction(grad, param, weight_decay, maximize)
        param = param if shrink is None else param * shrink
        exp_avg = lerp(exp_avg, grad, new_share)
        exp_avg_sq = beta2 * exp_avg_sq + new_share_sq * (grad * grad)
        largest = tuple(B.maximum(old, exp_avg_sq) for old in largest)
        scale = B.sqrt(largest[0] if largest else exp_avg_sq) / root_correction + eps
        return param - step_size * exp_avg / scale, exp_avg, exp_avg_sq, *largest

    if max_exp_avg_sqs:
        return over_parameters(update, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
    return (*over_parameters(update, params, grads, exp_avgs, exp_avg_sqs), [])


@op(public=False, mutates=("params", "exp_avgs", "exp_infs"))
def adamax_step(
    params: list, grads: list, exp_avgs: list, exp_infs: list, step_size: float, new_share: float, beta2: float,
    eps: float, weight_decay: Number = None, maximize: bool = False,
):  # fmt: skip
    """Adamax; `step_size` is lr / (1 - beta1ᵗ), `new_share` 1 - beta1."""

    def update(param, grad, exp_avg, exp_inf):
        grad = direction(grad, param, weight_decay, maximize)
        exp_avg = lerp(exp_avg, grad, new_share)
        exp_inf = B.maximum(exp_inf * beta2, B.abs(grad) + eps)
        return param - step_size * exp_avg / exp_inf, exp_avg, exp_inf

    return over_parameters(update, params, grads, exp_avgs, exp_infs)


@op(public=False, mutates=("params", "exp_avgs", "exp_avg_sqs"))
def nadam_step(
    params: list, grads: list, exp_avgs: list, exp_avg_sqs: list, grad_size: float, average_size: float,
    new_share: float, beta2: float, new_share_sq: float, correction: float, eps: float, weight_decay: Number = None,
    shrink: Number = None, maximize: bool = False,
):  # fmt: skip
    """NAdam: Adam that looks ahead; the gradient enters by `grad_size`, its average by `average_size`."""

    def update(param, grad, exp_avg, exp_avg_sq):
        grad = direction(grad, param, weight_decay, maximize)
        param = param if shrink is None else param * shrink
        exp_avg = lerp(exp_avg, grad, new_share)
        exp_avg_sq = beta2 * exp_avg_sq + new_share_sq * (grad * grad)
        scale = B.sqrt(exp_avg_sq / correction) + eps
        return param - grad_size * grad / scale - average_size * exp_avg / scale, exp_avg, exp_avg_sq

    return over_parameters(update, params, grads, exp_avgs, exp_avg_sqs)


@op(public=False, mutates=("params", "exp_avgs", "exp_avg_sqs"))
def radam_step(
    params: list, grads: list, exp_avgs: list, exp_avg_sqs: list, step_size: float, new_share: float, beta2: float,
    new_share_sq: float, eps: float, rectified: Number = None, weight_decay: Number = None, shrink: Number = None,
    maximize: bool = False,
):  # fmt: skip
    """RAdam: `rectified` is sqrt(1 - beta2ᵗ) times the rectification, None as long as the variance is intractable."""

    def update(param, grad, exp_avg, exp_avg_sq):
        grad = direction(grad, param, weight_decay, maximize)
        param = param if shrink is None else param * shrink
        exp_avg = lerp(exp_avg, grad, new_share)
        exp_avg_sq = beta2 * exp_avg_sq + new_share_sq * (grad * grad)
        move = step_size * exp_avg
        move = move if rectified is None else move * rectified / (B.sqrt(exp_avg_sq) + eps)
        return param - move, exp_avg, exp_avg_sq

    return over_parameters(update, params, grads, exp_avgs, exp_avg_sqs)


@op(public=False, mutates=("params", "square_avgs", "grad_avgs", "momentum_buffers"))
def rmsprop_step(
    params: list, grads: list, square_avgs: list, grad_avgs: list, momentum_buffers: list, lr: float, alpha: float,
    new_share: float, eps: float, weight_decay: Number = None, momentum: Number = None, maximize: bool = False,
):  # fmt: skip
    """RMSprop; `grad_avgs` is empty unless centered, `momentum_buffers` without momentum; `new_share` is 1 - alpha."""

    def update(param, grad, square_avg, *others):
        others = list(others)
        grad = direction(grad, param, weight_decay, maximize)
        square_avg = alpha * square_avg + new_share * (grad * grad)
        variance, states = square_avg, [square_avg]
        if grad_avgs:
            grad_avg = lerp(others.pop(0), grad, new_share)
            variance = square_avg - grad_avg * grad_avg
            states.append(grad_avg)
        move = grad / (B.sqrt(variance) + eps)
        if momentum is not None:
            move = momentum * others.pop(0) + move
            states.append(move)
        return param - lr * move, *states

    lists = [entries for entries in (grad_avgs, momentum_buffers) if entries]
    new_params, new_square_avgs, *rest = over_parameters(update, params, grads, square_avgs, *lists)
    return new_params, new_square_avgs, rest.pop(0) if grad_avgs else [], rest.pop(0) if rest else []


@op(public=False, mutates=("params", "sums"))
def adagrad_step(
    params: list, grads: list, sums: list, lr: float, eps: float, weight_decay: Number = None, maximize: bool = False
):
    """Adagrad; `lr` is that of this step."""

    def update(param, grad, total):
        grad = direction(grad, param, weight_decay, maximize)
        total = total + grad * grad
        return param - lr * grad / (B.sqrt(total) + eps), total

    return over_parameters(update, params, grads, sums)


@op(public=False, mutates=("params", "square_avgs", "acc_deltas"))
def adadelta_step(
    params: list, grads: list, square_avgs: list, acc_deltas: list, lr: float, rho: float, new_share: float, eps: float,
    weight_decay: Number = None, maximize: bool = False,
):  # fmt: skip
    """Adadelta; `new_share` is 1 - rho."""

    def update(param, grad, square_avg, acc_delta):
        grad = direction(grad, param, weight_decay, maximize)
        square_avg = rho * square_avg + new_share * (grad * grad)
        delta = B.sqrt(acc_delta + eps) / B.sqrt(square_avg + eps) * grad
        return param - lr * delta, square_avg, rho * acc_delta + new_share * (delta * delta)

    return over_parameters(update, params, grads, square_avgs, acc_deltas)


@op(public=False, mutates=("params", "prevs", "step_sizes"))
def rprop_step(
    params: list, grads: list, prevs: list, step_sizes: list, shrink: float, grow: float, smallest: float,
    largest: float, maximize: bool = False,
):  # fmt: skip
    """Rprop: steps grow while the gradient keeps its sign, and shrink (with no move) when it changes."""

    def update(param, grad, prev, step_size):
        grad = -grad if maximize else grad
        agreement = grad * prev
        turned = B.lt(agreement, 0)
        factor = B.where(B.gt(agreement, 0), grow, B.where(turned, shrink, 1.0))
        step_size = B.clamp(step_size * factor, smallest, largest)
        grad = B.where(turned, 0.0, grad)
        return param - B.sign(grad) * step_size, grad, step_size

    return over_parameters(update, params, grads, prevs, step_sizes)


@op(public=False, mutates=("params", "averages"))
def asgd_step(
    params: list, grads: list, averages: list, eta: float, decay: float, mu: float, weight_decay: Number = None,
    maximize: bool = False, restart: bool = False,
):  # fmt: skip
    """Averaged gradient descent; `decay` is 1 - lambd·eta, `restart` sets the averages to the parameters (mu = 1)."""

    def update(param, grad, average):
        grad = direction(grad, param, weight_decay, maximize)
        param = param * decay - eta * grad
        return param, param if restart else lerp(average, param, mu)

    return over_parameters(update, params, grads, averages)


def _root_of(size):
    """The square root of a size, as a number."""
    return B.sqrt(B.full((), size, dtypes.float64))


def _rms(x):
    """The root of the mean square."""
    return B.sqrt(B.sum(x * x)) / _root_of(math.prod(x.shape))


@op(public=False, mutates=("params", "row_vars", "col_vars"))
def adafactor_step(
    params: list, grads: list, row_vars: list, col_vars: list, new_share: float, relative_size: float, least: float,
    eps: float, clipping: float, shrink: Number = None, maximize: bool = False,
):  # fmt: skip
    """Adafactor; `row_vars` hold whole variances, and `col_vars` is empty, for parameters of at most one dim.

    `new_share` is tᵗᵃᵘ, `relative_size` min(lr, 1/√t), `least` eps[1], `eps` eps[0], `shrink` 1 - lr·weight_decay.
    """

    def update(param, grad, row_var, *col_vars):
        grad = -grad if maximize else grad
        size = B.maximum(_rms(param), least) * relative_size
        param = param if shrink is None else param * shrink
        square = grad * grad
        if not col_vars:
            row_var = variance = lerp(row_var, square, new_share)
        else:
            row_var = lerp(row_var, B.mean(square, (-1,), True), new_share)
            col_vars = (lerp(col_vars[0], B.mean(square, (-2,), True), new_share),)
            variance = row_var * col_vars[0] / B.clamp(B.mean(row_var, (-2,), True), eps)
        move = B.rsqrt(B.clamp(variance, eps * eps)) * grad
        return param - size / B.maximum(_rms(move) / clipping, 1.0) * move, row_var, *col_vars

    if col_vars:
        return over_parameters(update, params, grads, row_vars, col_vars)
    return (*over_parameters(update, params, grads, row_vars), [])


def _orthogonalized(x, a, b, c, eps, steps: int):
    """Newton-Schulz iterations towards the nearest orthogonal matrix, each intermediate rounded to bfloat16."""

    def rounded(value):
        return B.cast(B.cast(value, dtypes.bfloat16), dtypes.float32)

    x = rounded(x)
    tall = bool(x.shape[0] > x.shape[1])
    x = B.transpose(x, 0, 1) if tall else x
    x = rounded(x / B.clamp(rounded(B.sqrt(B.sum(x * x))), eps))
    for _ in range(steps):
        gram = rounded(B.dot(x, B.transpose(x, 0, 1)))
        x = rounded(a * x + B.dot(rounded(b * gram + c * B.dot(gram, gram)), x))
    return B.transpose(x, 0, 1) if tall else x


@op(public=False, mutates=("params", "momentum_buffers"))
def muon_step(
    params: list, grads: list, momentum_buffers: list, lr: float, shrink: float, momentum: float, new_share: float,
    a: float, b: float, c: float, eps: float, steps: int = 5, nesterov: bool = True, match_adamw: bool = False,
):  # fmt: skip
    """Muon: momentum made orthogonal by the polynomial a·x + b·x³ + c·x⁵; `shrink` is 1 - lr·weight_decay."""

    def update(param, grad, buffer):
        buffer = lerp(buffer, grad, new_share)
        move = _orthogonalized(lerp(grad, buffer, momentum) if nesterov else buffer, a, b, c, eps, steps)
        rows, columns = (B.full((), size, dtypes.float64) for size in param.shape)
        scale = 0.2 * B.sqrt(B.maximum(rows, columns)) if match_adamw else B.sqrt(B.maximum(rows / columns, 1.0))
        return param * shrink - lr * scale * B.cast(move, param.dtype), buffer

    return over_parameters(update, params, grads, momentum_buffers)


@op(public=False, mutates=("averages",))
def average_step(averages: list, values: list, new_share: float):
    """Moves averages towards values by a share: one step of a running mean of models."""

    def update(average, value):
        return (lerp(average, value, new_share),)

    return over_parameters(update, averages, values)[0]


@op(public=False, mutates=("grads", "found_inf"))
def unscale_step(grads: list, found_inf, inverse_scale):
    """Multiplies gradients by `inverse_scale`, and sets `found_inf` to 1 if one holds an infinity or NaN."""
    finite = [B.all(B.isfinite(B.view_as_real(g) if g.dtype.is_complex else g)) for g in grads]
    found = functools.reduce(B.logical_and, finite)
    return [g * B.cast(inverse_scale, g.dtype) for g in grads], B.where(found, found_inf, B.ones_like(found_inf))
