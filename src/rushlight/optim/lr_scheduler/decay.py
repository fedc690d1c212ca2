"""Schedules that multiply the rate: by steps, exponentially, linearly, or by any function."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable

from ..optimizer import Optimizer
from .base import CallableState, LRScheduler, one_per_group


class LambdaLR(CallableState, LRScheduler):
    """initial rate · lr_lambda(epoch); one function, or a list with one a group."""

    _callables = "lr_lambdas"

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable | list[Callable], last_epoch: int = -1):
        self.lr_lambdas = one_per_group(optimizer, "lr_lambda", lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._within_step()
        return [base * factor(self.last_epoch) for factor, base in zip(self.lr_lambdas, self.base_lrs)]


class _Factor(LRScheduler):
    """rate · factor of this epoch; `_product(epoch)` is that of all factors so far, where it is known."""

    def _factor(self, epoch: int) -> float:
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        self._within_step()
        factor = self._factor(self.last_epoch)
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self._product(self.last_epoch) for base in self.base_lrs]


class MultiplicativeLR(CallableState, LRScheduler):
    """rate · lr_lambda(epoch) from the second epoch on; one function, or a list with one a group."""

    _callables = "lr_lambdas"

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable | list[Callable], last_epoch: int = -1):
        self.lr_lambdas = one_per_group(optimizer, "lr_lambda", lr_lambda)
        for factor in self.lr_lambdas:
            if not callable(factor):
                raise TypeError(f"lr_lambda should be a function, but got {type(factor).__name__}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._within_step()
        groups = self.optimizer.param_groups
        if self._is_initial:
            return [group["lr"] for group in groups]
        return [group["lr"] * factor(self.last_epoch) for factor, group in zip(self.lr_lambdas, groups)]


class StepLR(_Factor):
    """Multiplies by gamma every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return 1.0 if epoch == 0 or epoch % self.step_size else self.gamma

    def _product(self, epoch: int) -> float:
        return self.gamma ** (epoch // self.step_size)


class MultiStepLR(_Factor):
    """Multiplies by gamma at each epoch in `milestones` (as often as it is listed)."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma ** self.milestones[epoch] if epoch in self.milestones else 1.0

    def _product(self, epoch: int) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), epoch)


class ExponentialLR(_Factor):
    """Multiplies by gamma every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return 1.0 if self._is_initial else self.gamma

    def _product(self, epoch: int) -> float:
        return self.gamma**epoch


class ConstantLR(_Factor):
    """initial rate · factor up to epoch `total_iters`, the initial rate from then on."""

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1):
        if not 0.0 <= factor <= 1.0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if epoch == 0:
            return self.factor
        return 1.0 / self.factor if epoch == self.total_iters else 1.0

    def _product(self, epoch: int) -> float:
        return self.factor if epoch < self.total_iters else 1.0


class LinearLR(_Factor):
    """initial rate · a factor that goes linearly from `start_factor` to `end_factor` in `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ):  # fmt: skip
        if not 0.0 < start_factor <= 1.0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0.0 <= end_factor <= 1.0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if epoch == 0:
            return self.start_factor
        if self._is_initial or epoch > self.total_iters:
            return 1.0
        change = self.end_factor - self.start_factor
        return 1.0 + change / (self.total_iters * self.start_factor + (epoch - 1) * change)

    def _product(self, epoch: int) -> float:
        change = self.end_factor - self.start_factor
        return self.start_factor + change * min(self.total_iters, epoch) / self.total_iters


class PolynomialLR(_Factor):
    """initial rate · (1 - epoch / total_iters)^power, 0 from then on."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if self._is_initial or epoch > self.total_iters:
            return 1.0
        return ((1.0 - epoch / self.total_iters) / (1.0 - (epoch - 1) / self.total_iters)) ** self.power

    def _product(self, epoch: int) -> float:
        return (1.0 - min(self.total_iters, epoch) / self.total_iters) ** self.power
