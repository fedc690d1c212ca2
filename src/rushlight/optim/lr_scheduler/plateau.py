"""A schedule that waits for a metric to stop improving."""

from __future__ import annotations

import math

from ...ops.notices import warn_user
from ..optimizer import Optimizer
from .base import EPOCH_IS_DEPRECATED, LRScheduler, one_per_group


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the rate by `factor` after more than `patience` steps without improvement, then rests for `cooldown`.

    An improvement is a metric below best·(1 - threshold), or best - threshold with threshold_mode="abs"; above
    correspondingly with mode="max". The rate never goes below `min_lr`; changes smaller than `eps` are not made.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr=0, eps: float = 1e-8,
    ):  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer, self.factor, self.patience, self.cooldown = optimizer, factor, patience, cooldown
        self.mode, self.threshold, self.threshold_mode, self.eps = mode, threshold, threshold_mode, eps
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs = one_per_group(optimizer, "min_lr", min_lr)
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.last_epoch = 0
        self._last_lr = self._current()
        self._reset()

    def _reset(self) -> None:
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    def step(self, metrics, epoch: int | None = None) -> None:
        """Takes in the metric (a number or a tensor with one element) and reduces the rate if it is time."""
        current = float(metrics)
        if epoch is not None:
            warn_user(EPOCH_IS_DEPRECATED)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._current()

    def _reduce_lr(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                group["lr"] = new

    @property
    def in_cooldown(self) -> bool:
        """Whether the schedule rests after a reduction."""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """Whether the metric `a` is an improvement."""
        sign = 1.0 if self.mode == "min" else -1.0
        if self.threshold_mode == "rel":
            return a < best * (1.0 - self.threshold) if sign > 0 else a > best * (self.threshold + 1.0)
        return a < best - self.threshold if sign > 0 else a > best + self.threshold
