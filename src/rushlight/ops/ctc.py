"""Connectionist temporal classification (Graves et al. 2006)."""

from __future__ import annotations

import math

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from .checks import scalar_type
from .declare import FUNCTIONS, composite, op
from .loss import REDUCTIONS, reduction_of

NEVER = -math.inf


# -- one step in time -------------------------------------------------------------------------------
def log_sum(*terms):
    """log of the sum of exponentials of terms that may be -infinity."""
    top = terms[0]
    for term in terms[1:]:
        top = B.maximum(top, term)
    safe = B.where(B.eq(top, NEVER), 0, top)
    total = None
    for term in terms:
        part = B.exp(term - safe)
        total = part if total is None else total + part
    return B.log(total) + safe


def came_from(alpha, skip):
    """The three states that lead to each: itself, the one before, and the one before that where `skip` allows."""
    return alpha, B.shift(alpha, 1, 1, NEVER), B.where(skip, B.shift(alpha, 1, 2, NEVER), NEVER)


@op(public=False)
def ctc_start(emission):
    """Log-probabilities of the states (N, L) at the first step: only the first two can be reached."""
    return B.where(B.lt(B.iota(emission.shape, 1), 2), emission, NEVER)


@op(public=False)
def ctc_step(alpha, emission, skip, running):
    """The states' log-probabilities one step on; samples that have ended stay as they are."""
    moved = log_sum(*came_from(alpha, skip)) + emission
    return B.where(B.unsqueeze(running, 1), moved, alpha)


@ctc_step.vjp
def _(cotangents, outputs, alpha, emission, skip, running):
    """Each predecessor takes its share of the probability; none of an impossible state."""
    (g,), total = cotangents, outputs[0] - emission
    runs = B.unsqueeze(running, 1)
    possible = B.logical_and(runs, B.gt(outputs[0], NEVER))
    g_moved = B.where(possible, g, 0)
    shares = [
        B.where(possible, B.exp(term - B.where(possible, total, 0)), 0) * g_moved for term in came_from(alpha, skip)
    ]
    length = alpha.shape[1]
    back = B.where(runs, 0, g) + shares[0]
    for by in (1, 2):
        if length > by:
            back = back + B.pad(B.narrow(shares[by], 1, by, length - by), (0, 0), (0, by))
    return back, g_moved


@op(public=False)
def ctc_end(alpha, lengths):
    """-log of the probability to be in one of the two last states of each sample."""
    last = B.unsqueeze(2 * lengths, 1)
    at_end = B.gather(alpha, 1, last)
    before = B.where(B.gt(last, 0), B.gather(alpha, 1, B.maximum(last - 1, 0)), NEVER)
    return B.squeeze(-log_sum(at_end, before), 1)


@ctc_end.vjp
def _(cotangents, outputs, alpha, lengths):
    g, total = B.unsqueeze(cotangents[0], 1), B.unsqueeze(-outputs[0], 1)
    last = B.unsqueeze(2 * lengths, 1)
    i = B.iota(alpha.shape, 1)
    ends = B.logical_or(B.eq(i, last), B.eq(i, last - 1))
    possible = B.logical_and(ends, B.gt(total, NEVER))
    return B.where(possible, -g * B.exp(alpha - B.where(B.gt(total, NEVER), total, 0)), 0)


@op(public=False)
def total_probability(log_probs, input_lengths):
    """Per sample, the sum of probabilities over its steps and classes."""
    steps = B.reshape(B.iota((log_probs.shape[0],)), (log_probs.shape[0], 1, 1))
    running = B.lt(steps, B.reshape(input_lengths, (1, input_lengths.shape[0], 1)))
    return B.sum(B.where(running, B.exp(log_probs), 0), (0, 2))


# -- arguments --------------------------------------------------------------------------------------
def lengths_of(lengths, count: int, most: int, name: str) -> list[int]:
    if isinstance(lengths, Tensor):
        if lengths.dtype.kind not in "iu":
            raise RuntimeError(f"ctc_loss: {name} must be integral")
        lengths = lengths.reshape(-1).tolist()
    lengths = [int(n) for n in lengths]
    if len(lengths) != count:
        raise RuntimeError(f"{name} must be of size batch_size ({count}), got {len(lengths)}")
    if name == "input_lengths" and any(n > most or n < 0 for n in lengths):
        raise RuntimeError(f"Expected input_lengths to have value at most {most}, but got value {max(lengths)}")
    return lengths


def padded_targets(targets, lengths: list[int], blank: int):
    """Targets (N, S) with blanks behind each sample's, from padded or from concatenated ones."""
    longest = max(lengths, default=0)
    if targets.ndim == 1:
        if sum(lengths) > targets.shape[0]:
            raise RuntimeError(f"Expected targets to have at least {sum(lengths)} elements, got {targets.shape[0]}")
        starts = [sum(lengths[:i]) for i in range(len(lengths))]
        rows = [targets[start : start + n] for start, n in zip(starts, lengths)]
        pad = FUNCTIONS["constant_pad_nd"]
        return FUNCTIONS["stack"]([pad(row, (0, longest - n), blank) for row, n in zip(rows, lengths)])
    if longest > targets.shape[1]:
        raise RuntimeError(
            f"Expected targets to have size at least {longest} at dimension 1, got {list(targets.shape)}"
        )
    return targets[:, :longest]


@op(public=False)
def with_blanks(targets, lengths, blank: int):
    """(N, S) -> (N, 2 S + 1): a blank before, between and behind; and where a blank may be left out."""
    n, s = targets.shape
    real = B.lt(B.iota((n, s), 1), B.unsqueeze(lengths, 1))
    targets = B.where(real, targets, blank)
    pairs = B.reshape(B.stack([B.full_like(targets, blank), targets], 2), (n, 2 * s))
    states = B.pad(pairs, (0, 0), (0, 1), blank)
    return states, B.ne(states, B.shift(states, 1, 2, blank))


@op(public=False)
def emissions(log_probs, states):
    """(T, N, C) and (N, L) -> (T, N, L): the log-probability of each state's class."""
    shape = (log_probs.shape[0], *states.shape)
    return B.gather(log_probs, 2, B.broadcast_to(B.unsqueeze(states, 0), shape))


@composite(public=False)
def losses(log_probs, targets, input_lengths, target_lengths, blank: int):
    """One loss per sample of (T, N, C) log-probabilities."""
    steps, count, classes = log_probs.shape
    inputs = lengths_of(input_lengths, count, steps, "input_lengths")
    labels = lengths_of(target_lengths, count, 0, "target_lengths")
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    make = FUNCTIONS["tensor"]
    input_ends, label_ends = make(inputs, dtype=dtypes.int64), make(labels, dtype=dtypes.int64)
    states, skip = with_blanks(padded_targets(targets, labels, blank).long(), label_ends, blank)
    emitted = emissions(log_probs, states)
    alpha = ctc_start(emitted[0])
    for t in range(1, max(inputs)):
        alpha = ctc_step(alpha, emitted[t], skip, input_ends > t)
    loss = ctc_end(alpha, label_ends)
    if min(inputs, default=1) == 0:
        # of no steps only no labels can come
        empty = make([0.0 if n == 0 else math.inf for n in labels], dtype=loss.dtype)
        loss = FUNCTIONS["where"](input_ends > 0, loss, empty)
    # PyTorch's gradient is that of the loss after log_softmax: without changing the value, each probability adds itself
    extra = total_probability(log_probs, input_ends)
    return loss + (extra - extra.detach())


@composite
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """-log of the probability of label sequences under per-step distributions, summed over all alignments.

    log_probs: (T, N, C) or (T, C), logarithms of probabilities; targets: (N, S), padded, or all labels one after the
    other; input_lengths and target_lengths: one per sample. "mean" divides by the targets' lengths first.
    `zero_infinity` drops samples that no alignment fits.
    """
    if isinstance(reduction, int):
        reduction = REDUCTIONS[reduction]
    reduction = reduction_of(None, None, reduction)
    if log_probs.dtype not in (dtypes.float32, dtypes.float64):
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{scalar_type(log_probs.dtype)}'")
    if targets.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"ctc_loss: targets must be int32 or int64, got {targets.dtype.name}")
    single = log_probs.ndim == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.reshape(1, -1)
        input_lengths, target_lengths = (
            n.reshape(1) if isinstance(n, Tensor) else [n] if isinstance(n, int) else n
            for n in (input_lengths, target_lengths)
        )
    loss = losses(log_probs, targets, input_lengths, target_lengths, blank)
    if zero_infinity:
        loss = without_infinities(loss)
    if reduction == "mean":
        lengths = lengths_of(target_lengths, loss.shape[0], 0, "target_lengths")
        return (loss / FUNCTIONS["tensor"]([max(n, 1) for n in lengths], dtype=loss.dtype)).mean()
    if reduction == "sum":
        return loss.sum()
    return loss.squeeze(0) if single else loss


@op(public=False)
def without_infinities(loss):
    return B.where(B.eq(loss, math.inf), 0, loss)
