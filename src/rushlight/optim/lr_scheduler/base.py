"""`LRScheduler`: sets the learning rates of an optimizer's groups, epoch by epoch."""

from __future__ import annotations

import types
import warnings

from ...core import Tensor
from ...ops.notices import warn_user
from ..optimizer import Optimizer

EPOCH_IS_DEPRECATED = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available."
)


class LRScheduler:
    """Base class of schedules.

    `step()` goes to the next epoch (or batch: whatever the unit is) and sets every group's "lr" to what `get_lr`
    says. The rate a group starts from is kept as its "initial_lr". `last_epoch` is -1 for a fresh start; to go on
    from elsewhere the groups must have an "initial_lr".
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                rate = group["lr"]
                group.setdefault("initial_lr", rate.clone() if isinstance(rate, Tensor) else rate)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0: load the optimizer's state first, or start with last_epoch=-1"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        """Sets the rates of the first epoch."""
        self._step_count, self._get_lr_called_within_step, self._is_initial = 0, False, True
        self.step()
        self._is_initial = False

    def step(self, epoch: int | None = None) -> None:
        """Goes on by one epoch, or to a given one."""
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first value of the learning "
                "rate schedule is skipped. Call `optimizer.step()` first.",
                stacklevel=2,
            )
        if epoch is not None:
            warn_user(EPOCH_IS_DEPRECATED)
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed_form = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
        rates = self._rates() if closed_form is None else closed_form()
        for group, rate in zip(self.optimizer.param_groups, rates):
            set_rate(group, rate)
        self._last_lr = self._current()

    def get_lr(self) -> list[float]:
        """The rate of every group for `last_epoch`, computed from the current ones; defined by each schedule."""
        raise NotImplementedError

    def _rates(self) -> list[float]:
        """What `get_lr` says within a step."""
        self._get_lr_called_within_step = True
        try:
            return self.get_lr()
        finally:
            self._get_lr_called_within_step = False

    def _within_step(self) -> None:
        """Warns if a user asks for rates that only a step can compute."""
        if not self._get_lr_called_within_step:
            warn_user("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")

    def get_last_lr(self) -> list[float]:
        """The rates that `step` set last."""
        return self._last_lr

    def _current(self) -> list:
        return [
            group["lr"].clone() if isinstance(group["lr"], Tensor) else group["lr"]
            for group in self.optimizer.param_groups
        ]

    def state_dict(self) -> dict:
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` returned."""
        self.__dict__.update(state_dict)


class CallableState:
    """Saving of schedules that hold functions: callable objects are saved by their attributes, functions not at all."""

    _callables: str  # name of the attribute, a list of callables

    def state_dict(self) -> dict:
        """The state; functions and lambdas are left out (None): give the same ones when loading."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", self._callables)}
        held = getattr(self, self._callables)
        state[self._callables] = [None if isinstance(f, types.FunctionType) else dict(f.__dict__) for f in held]
        return state

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` returned."""
        state = dict(state_dict)
        saved = state.pop(self._callables)
        self.__dict__.update(state)
        for held, attributes in zip(getattr(self, self._callables), saved):
            if attributes is not None:
                held.__dict__.update(attributes)


def set_rate(group: dict, rate: float) -> None:
    """Sets a group's rate; a tensor is filled, so that whoever holds it sees the change."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(float(rate))
    else:
        group["lr"] = rate


def one_per_group(optimizer: Optimizer, name: str, value) -> list:
    """One value for all groups, or one each."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups: expected {groups}, got {len(value)}"
        )
    return list(value)
