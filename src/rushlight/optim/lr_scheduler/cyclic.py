"""Schedules along a curve: cosines, cycles, and one cycle with momentum."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..optimizer import Optimizer
from .base import LRScheduler, one_per_group


class CosineAnnealingLR(LRScheduler):
    """eta_min + (initial rate - eta_min)·(1 + cos(π·epoch / T_max)) / 2 (Loshchilov & Hutter, 2017)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._within_step()
        rates = [group["lr"] for group in self.optimizer.param_groups]
        epoch, period, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return rates
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - period) % (2 * period) == 0:
            rise = 1 - math.cos(math.pi / period)
            return [rate + (base - low) * rise / 2 for rate, base in zip(rates, self.base_lrs)]
        # recursive, so that it can be combined with other schedules
        now, before = 1 + math.cos(math.pi * epoch / period), 1 + math.cos(math.pi * (epoch - 1) / period)
        return [now / before * (rate - low) + low for rate in rates]

    def _get_closed_form_lr(self) -> list[float]:
        return [_cosine(self.last_epoch, self.T_max, base, self.eta_min) for base in self.base_lrs]


def _cosine(position: float, period: float, high: float, low: float) -> float:
    """From high at position 0 to low at `period` along half a cosine."""
    return low + (high - low) * (1 + math.cos(math.pi * position / period)) / 2


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing that restarts after T_0 epochs, then T_0·T_mult, ... (SGDR; Loshchilov & Hutter, 2017)."""

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._within_step()
        return [_cosine(self.T_cur, self.T_i, base, self.eta_min) for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Goes on by one epoch, or to a given one, which may be fractional."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        for group, rate in zip(self.optimizer.param_groups, self._rates()):
            group["lr"] = rate
        self._last_lr = self._current()

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            cycle = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**cycle - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**cycle


class _WithMomentum(LRScheduler):
    """Schedules that move momentum against the rate: "momentum", or the first of "betas"."""

    def _check_momentum(self, optimizer: Optimizer) -> None:
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults

    def _set_momentum(self, group: dict, momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """Goes between base_lr and max_lr in cycles of step_size_up + step_size_down batches (Smith, 2017).

    `mode` "triangular" keeps the amplitude, "triangular2" halves it every cycle, "exp_range" scales it by
    gamma^batch; a `scale_fn` of the cycle or of the batch (`scale_mode`) takes the place of these. Momentum cycles
    inversely.
    """

    def __init__(
        self, optimizer: Optimizer, base_lr, max_lr, step_size_up: int = 2000, step_size_down: int | None = None,
        mode: str = "triangular", gamma: float = 1.0, scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle", cycle_momentum: bool = True, base_momentum=0.8, max_momentum=0.9,
        last_epoch: int = -1,
    ):  # fmt: skip
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        rates = one_per_group(optimizer, "base_lr", base_lr)
        if last_epoch == -1:
            for rate, group in zip(rates, optimizer.param_groups):
                group["lr"] = rate
        self.max_lrs = one_per_group(optimizer, "max_lr", max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = ("iterations" if mode == "exp_range" else "cycle") if scale_fn is None else scale_mode
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._check_momentum(optimizer)
            self.base_momentums = one_per_group(optimizer, "base_momentum", base_momentum)
            self.max_momentums = one_per_group(optimizer, "max_momentum", max_momentum)
            for low, high, group in zip(self.base_momentums, self.max_momentums, optimizer.param_groups):
                if last_epoch == -1:
                    self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = rates

    def scale_fn(self, x: float) -> float:
        """The amplitude's factor for a cycle (from 1) or a batch."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return {"triangular": 1.0, "triangular2": 1 / 2.0 ** (x - 1), "exp_range": self.gamma**x}[self.mode]

    def get_lr(self) -> list[float]:
        self._within_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups):
                self._set_momentum(group, high - (high - low) * height * scale)
        return [base + (high - base) * height * scale for base, high in zip(self.base_lrs, self.max_lrs)]


class OneCycleLR(_WithMomentum):
    """One cycle over the whole training, stepped every batch (Smith & Topin, 2017).

    From max_lr / div_factor up to max_lr in the first `pct_start` of the steps, then down to that start divided by
    `final_div_factor`; with `three_phase` back to the start first. `anneal_strategy` is "cos" or "linear". Momentum
    moves inversely. Give `total_steps`, or `epochs` and `steps_per_epoch`.
    """

    def __init__(
        self, optimizer: Optimizer, max_lr, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum=0.85, max_momentum=0.95, div_factor: float = 25.0,
        final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ):  # fmt: skip
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, one_per_group(optimizer, "max_lr", max_lr)):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._check_momentum(optimizer)
            highs = one_per_group(optimizer, "max_momentum", max_momentum)
            lows = one_per_group(optimizer, "base_momentum", base_momentum)
            for low, high, group in zip(lows, highs, optimizer.param_groups if last_epoch == -1 else []):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def _anneal(self, start: float, end: float, share: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> list[float]:
        self._within_step()
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is {self.total_steps}"
            )
        rates, start = [], 0.0
        for phase in self._schedule_phases:
            if self.last_epoch <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        share = (self.last_epoch - start) / (phase["end_step"] - start)
        for group in self.optimizer.param_groups:
            rates.append(self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                low, high = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._anneal(low, high, share))
        return rates


def _total_steps(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is not None:
        wanted = {"total_steps": total_steps}
    elif epochs is not None and steps_per_epoch is not None:
        wanted = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    else:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in wanted.items():
        if value <= 0 or not isinstance(value, int):
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(wanted.values())


def _phases(total_steps: int, pct_start: float, three_phase: bool) -> list[dict]:
    """Where each phase ends, and between which of a group's values it goes."""
    up = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
    down = ("max_lr", "initial_lr", "base_momentum", "max_momentum")
    rest = ("initial_lr", "min_lr", "max_momentum", "max_momentum")
    fall = ("max_lr", "min_lr", "base_momentum", "max_momentum")
    top, last = float(pct_start * total_steps) - 1, total_steps - 1
    ends = (
        [(top, up), (2 * pct_start * total_steps - 2, down), (last, rest)] if three_phase else [(top, up), (last, fall)]
    )
    names = ("start_lr", "end_lr", "start_momentum", "end_momentum")
    return [{"end_step": end, **dict(zip(names, values))} for end, values in ends]
