"""Averages of models along training: stochastic weight averaging, and exponential moving averages."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable

from .. import ops
from ..autograd import no_grad
from ..core import Tensor
from ..nn import Module
from ..nn.norm import _BatchNorm
from ..ops import optimizer as steps
from .lr_scheduler import LRScheduler
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _move(averages: list[Tensor], values: list[Tensor], share: float) -> None:
    """Moves averages towards values by a share, floating point ones in one op."""
    with no_grad():
        inexact = [average.is_floating_point() or average.is_complex() for average in averages]
        chosen = list(itertools.compress(averages, inexact))
        if chosen:
            values_of = [v.to(a.dtype) for a, v in zip(chosen, itertools.compress(values, inexact))]
            steps.average_step([a.detach() for a in chosen], values_of, share)
        for average, value, is_inexact in zip(averages, values, inexact):
            if not is_inexact:
                average.copy_(average * (1.0 - share) + value * share)


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """A `multi_avg_fn` that keeps exponential moving averages: average ← decay·average + (1 - decay)·value."""
    _check_decay(decay)

    def ema_update(ema_param_list: list[Tensor], current_param_list: list[Tensor], _) -> None:
        _move(ema_param_list, current_param_list, 1 - decay)

    return ema_update


def get_swa_multi_avg_fn() -> Callable:
    """A `multi_avg_fn` that keeps the mean of all models so far."""

    def swa_update(averaged_param_list: list[Tensor], current_param_list: list[Tensor], num_averaged) -> None:
        _move(averaged_param_list, current_param_list, 1.0 / (float(num_averaged) + 1.0))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """An `avg_fn` that gives decay·average + (1 - decay)·value."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable:
    """An `avg_fn` that gives the mean of all models so far."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model that holds averages of its parameters; `update_parameters(model)` takes a model in.

    The first one is copied. `multi_avg_fn(averages, values, n)` writes new averages into a list, `avg_fn(average,
    value, n)` returns one; without either it is the mean of all models (Izmailov et al., 2018). With `use_buffers`
    buffers are averaged too, otherwise they are copied. `n_averaged` counts.

    >>> from rushlight.optim.swa_utils import AveragedModel
    >>> model = nn.Linear(1, 1, bias=False)
    >>> averaged = AveragedModel(model)
    >>> for value in (1.0, 2.0, 6.0):
    ...     _ = nn.init.constant_(model.weight, value)
    ...     averaged.update_parameters(model)
    >>> averaged.module.weight.item()
    3.0
    """

    n_averaged: Tensor

    def __init__(
        self, model: Module, device=None, avg_fn: Callable | None = None, multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ):  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", ops.tensor(0))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        """What the averaged model computes."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Takes a model into the average."""
        averages, values = self._averaged_tensors(self.module), self._averaged_tensors(model)
        averages, values = [t.detach() for t in averages], [t.detach() for t in values]
        if self.n_averaged == 0:
            for average, value in zip(averages, values):
                average.copy_(value)
        elif self.avg_fn is None:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, values, self.n_averaged)
        else:
            for average, value in zip(averages, values):
                average.copy_(self.avg_fn(average, value.to(average.device), self.n_averaged))
        if not self.use_buffers:
            for own, buffer in zip(self.module.buffers(), model.buffers()):
                own.detach().copy_(buffer.detach())
        self.n_averaged += 1

    def _averaged_tensors(self, model: Module) -> list[Tensor]:
        return [*model.parameters(), *(model.buffers() if self.use_buffers else ())]


@no_grad()
def update_bn(loader: Iterable, model: Module, device=None) -> None:
    """Computes the running statistics of batch norms anew: one pass in training mode over the inputs of a loader.

    Of batches that are lists or tuples the first entry is the input. Does nothing for a model without such norms.
    """
    norms = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not norms:
        return
    momenta, was_training = [norm.momentum for norm in norms], model.training
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean over all batches
    model.train()
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(x if device is None else x.to(device))
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum
    model.train(was_training)


def _cosine(t: float) -> float:
    return (1 - math.cos(math.pi * t)) / 2


class SWALR(LRScheduler):
    """Takes the rate to `swa_lr` (one, or one a group) within `anneal_epochs`, along a cosine or a line; then constant.

    >>> from rushlight.optim.swa_utils import SWALR
    >>> optimizer = rushlight.optim.SGD([rushlight.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> for _ in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [0.75]
    [0.5]
    [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: float, anneal_epochs: int = 10, anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ):  # fmt: skip
        rates = swa_lr if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        if len(rates) != len(optimizer.param_groups):
            raise ValueError(
                f"swa_lr must have the same length as optimizer.param_groups. swa_lr has {len(rates)} values, "
                f"param_groups has {len(optimizer.param_groups)}."
            )
        for rate, group in zip(rates, optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """How far the rates are on their way at a step."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return _cosine(t) if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[float]:
        """Takes back the last step from the rates as they are, then makes this one."""
        self._within_step()
        step = self._step_count - 1
        step = max(1, step) if self.anneal_epochs == 0 else step
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            start = group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] * now + start * (1 - now))
        return rates
