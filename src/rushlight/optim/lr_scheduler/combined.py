"""Schedules made of schedules."""

from __future__ import annotations

from bisect import bisect_right

from ..optimizer import Optimizer
from .base import LRScheduler
from .plateau import ReduceLROnPlateau


class _Combined(LRScheduler):
    """State of several schedules of one optimizer."""

    def _take(self, schedulers: list, optimizer: Optimizer | None) -> None:
        name = type(self).__name__
        schedulers = list(schedulers)
        if not schedulers:
            raise ValueError(f"{name} expects at least one scheduler, but got no scheduler.")
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(f"{name} does not support `ReduceLROnPlateau`, whose step needs metrics (index {i})")
            if scheduler.optimizer is not self.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but index {i} does not"
                )
        self._schedulers = schedulers

    def state_dict(self) -> dict:
        """The state, with those of the parts."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` returned."""
        state = dict(state_dict)
        parts = state.pop("_schedulers")
        self.__dict__.update(state)
        for scheduler, part in zip(self._schedulers, parts):
            scheduler.load_state_dict(part)


class SequentialLR(_Combined):
    """One schedule after another; the next begins at each of `milestones`."""

    def __init__(self, optimizer: Optimizer, schedulers: list, milestones: list[int], last_epoch: int = -1):
        self._take(schedulers, optimizer)
        if len(milestones) != len(self._schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(self._schedulers)} and the number of milestones "
                f"to be equal to {len(milestones)}"
            )
        self._milestones, self.last_epoch = milestones, last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        self._undo()
        first = self._schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def _undo(self) -> None:
        """Takes back the first step that every part has made already."""
        for scheduler in self._schedulers:
            if isinstance(scheduler, SequentialLR):
                scheduler._undo()
            elif hasattr(scheduler, "last_epoch"):
                scheduler.last_epoch -= 1

    def step(self) -> None:
        """Goes on by one epoch."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Combined):
    """All schedules at once: each step makes a step of every part."""

    def __init__(self, schedulers: list, optimizer: Optimizer | None = None):
        self._take(schedulers, optimizer)
        self._last_lr = self._current()

    def step(self) -> None:
        """Goes on by one epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._current()
