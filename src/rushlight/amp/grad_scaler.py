"""`GradScaler`: losses are scaled up, so that small gradients survive in a half type, and gradients down again."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum

from .. import ops
from ..autograd import no_grad
from ..core import Tensor
from ..ir.dtypes import float16, float32
from ..ops import optimizer as steps

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What has been done to an optimizer's gradients since the last `update`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _fresh() -> dict:
    return {"stage": OptState.READY, "found_inf": None}


class GradScaler:
    """Scales losses, and skips the steps whose gradients overflow; the scale falls then, and grows after good ones.

    The scale starts at `init_scale`; a step with infinities or NaN multiplies it by `backoff_factor`, and
    `growth_interval` steps without multiply it by `growth_factor`. With `enabled=False`, or on a device that is not
    there, `scale`, `unscale_` and `update` do nothing and `step` is the optimizer's.

    >>> layer = nn.Linear(2, 1)
    >>> optimizer = rushlight.optim.SGD(layer.parameters(), lr=0.1)
    >>> scaler = rushlight.amp.GradScaler("cpu", init_scale=1024.0)
    >>> scaler.scale(layer(rushlight.ones(1, 2)).sum()).backward()
    >>> scaler.unscale_(optimizer)
    >>> layer.weight.grad
    tensor([[1., 1.]])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> scaler.get_scale()
    1024.0
    """

    def __init__(
        self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ):  # fmt: skip
        self._device, self._enabled = device, bool(enabled)
        if self._enabled and device != "cpu":
            warnings.warn(
                f"torch.{device}.amp.GradScaler is enabled, but {device.upper()} is not available.  Disabling.",
                stacklevel=2,
            )
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._scale = init_scale, None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._per_optimizer_states: defaultdict = defaultdict(_fresh)

    # ---- one iteration ------------------------------------------------------------------------------------------

    def scale(self, outputs: Tensor | Iterable[Tensor]):
        """A tensor, or a list, tuple or iterable of tensors, times the scale; ValueError for anything else."""
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = ops.full((), float(self._init_scale), dtype=float32)
        return self._scaled(outputs)

    def _scaled(self, outputs):
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        parts = map(self._scaled, outputs)
        return type(outputs)(parts) if isinstance(outputs, (list, tuple)) else parts

    def unscale_(self, optimizer) -> None:
        """Divides the gradients of an optimizer by the scale, once between updates: to clip them, for example.

        RuntimeError for a second time, or after `step`; ValueError for float16 gradients.
        """
        if not self._enabled:
            return
        self._check_scale("unscale_")
        own = self._per_optimizer_states[id(optimizer)]
        if own["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if own["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = self._scale.double().reciprocal().float()
        own["found_inf"] = self._unscale_grads(optimizer, inverse)
        own["stage"] = OptState.UNSCALED

    def _unscale_grads(self, optimizer, inverse: Tensor) -> Tensor | None:
        """Divides all gradients; 1.0 if one was not finite, else 0.0, or None if there are none."""
        grads = []
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                if grad.dtype is float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                if grad.is_sparse:
                    grad = parameter.grad = grad.coalesce().clone()
                grads.append(grad._values() if grad.is_sparse else grad)
        if not grads:
            return None
        found = ops.full((), 0.0, dtype=float32)
        with no_grad():
            steps.unscale_step([grad.detach() for grad in grads], found, inverse)
        return found

    def step(self, optimizer, *args, **kwargs):
        """Divides the gradients by the scale, if that is still to do, and makes the step unless one is not finite.

        Returns what the optimizer's step returns, or None for one that was left out. No closures.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale("step")
        own = self._per_optimizer_states[id(optimizer)]
        if own["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if own["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if own["found_inf"] is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if own["found_inf"].item() else optimizer.step(*args, **kwargs)
        own["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Changes the scale as the steps since the last update went, or sets it; ends the iteration."""
        if not self._enabled:
            return
        self._check_scale("update")
        if new_scale is not None:
            self._set_scale(new_scale)
        else:
            found = [s["found_inf"] for s in self._per_optimizer_states.values() if s["found_inf"] is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(any(part.item() for part in found))
        self._per_optimizer_states = defaultdict(_fresh)

    def _adapt(self, overflowed: bool) -> None:
        if overflowed:
            self._scale.mul_(self._backoff_factor)
            self._growth_tracker = 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = self._scale * self._growth_factor
            if grown.isfinite():
                self._scale.copy_(grown)
            self._growth_tracker = 0

    def _set_scale(self, new_scale) -> None:
        if isinstance(new_scale, Tensor):
            if new_scale.numel() != 1 or new_scale.requires_grad or new_scale.dtype is not float32:
                raise AssertionError(
                    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
                    "requires_grad=False."
                )
            new_scale = new_scale.item()
        self._scale.fill_(float(new_scale))

    def _check_scale(self, name: str) -> None:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
                "outputs) earlier in the iteration."
            )

    # ---- settings -----------------------------------------------------------------------------------------------

    def get_scale(self) -> float:
        """The scale; 1.0 if disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by after `growth_interval` good steps."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets what the scale is multiplied by after `growth_interval` good steps."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after a step that overflowed."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets what the scale is multiplied by after a step that overflowed."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many good steps in a row make the scale grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets how many good steps in a row make the scale grow."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether anything is scaled."""
        return self._enabled

    # ---- saving -------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict:
        """Scale, factors and counts as plain numbers; empty if disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` returned; RuntimeError if that was a disabled one's."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval, self._growth_tracker = state_dict["growth_interval"], state_dict["_growth_tracker"]

    def __getstate__(self) -> dict:
        state = dict(self.__dict__)
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
                    "scaler.update()."
                )
            state.update(_init_scale=self.get_scale(), _scale=None)
        return state
