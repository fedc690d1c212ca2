"""Copies of modules and parts of batches on several devices: there is one, so that all of these say so."""

from __future__ import annotations

from ...core.engine import require_device


def _refuse(name: str):
    try:
        require_device("cuda")
    except Exception as error:
        raise type(error)(
            f"{name}: there are no devices to share work among; call the module itself ({error})"
        ) from None


def scatter(inputs, target_gpus, dim: int = 0):
    """Raises: parts of a batch would go to several devices."""
    _refuse("scatter")


def scatter_kwargs(inputs, kwargs, target_gpus, dim: int = 0):
    """Raises: parts of a batch would go to several devices."""
    _refuse("scatter_kwargs")


def gather(outputs, target_device, dim: int = 0):
    """Raises: results would come from several devices. `cat` joins tensors."""
    _refuse("gather")


def replicate(network, devices, detach: bool = False):
    """Raises: a module would be copied to several devices. `copy.deepcopy` copies it here."""
    _refuse("replicate")


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """Raises: modules would run on several devices at once."""
    _refuse("parallel_apply")


def _on_devices(name: str):
    def refuse(*args, **kwargs):
        _refuse(name)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises: it needs several devices."
    return refuse


broadcast, broadcast_coalesced, reduce_add, reduce_add_coalesced = map(
    _on_devices, ("broadcast", "broadcast_coalesced", "reduce_add", "reduce_add_coalesced")
)
