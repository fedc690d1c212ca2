"""Finding where a gradient goes wrong: nodes remember the stack of the call that made them."""

from __future__ import annotations

import traceback
import warnings

from ..core import engine
from ..core.engine import Tensor


class set_detect_anomaly:
    """Switch the detection of anomalies, as a function call or for a block.

    With `mode`, an error in a backward pass is preceded by a warning that shows where the failing operation was
    called; with
    `check_nan`, a gradient with NaN is such an error. Everything becomes slower.
    """

    def __init__(self, mode: bool, check_nan: bool = True):
        self.was = engine.set_anomaly_mode(bool(mode), bool(mode) and bool(check_nan))

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        engine.set_anomaly_mode(*self.was)


class detect_anomaly:
    """A block in which anomalies are detected: see `set_detect_anomaly`.

    >>> with rushlight.autograd.detect_anomaly():
    ...     y = rushlight.zeros(1, requires_grad=True).sqrt()
    """

    def __init__(self, check_nan: bool = True):
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self):
        self.was = engine.set_anomaly_mode(True, self.check_nan)

    def __exit__(self, *exc):
        engine.set_anomaly_mode(*self.was)


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switch the detection of anomalies on or off for good."""
    engine.set_anomaly_mode(bool(mode), bool(mode) and bool(check_nan))


def is_anomaly_enabled() -> bool:
    """Whether nodes remember where they were made."""
    return engine.anomaly_mode()[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether gradients are searched for NaN."""
    return engine.anomaly_mode()[1]


def node_metadata() -> dict:
    """What a new node remembers: the stack, without the frames of this room."""
    return {"traceback_": traceback.format_stack()[:-1]}


def report_anomaly(node) -> None:
    """Warn with the stack of the call that made a node."""
    stack = (node.metadata or {}).get("traceback_")
    if stack:
        warnings.warn(
            f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(stack)}",
            stacklevel=2,
        )
    else:
        warnings.warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during "
            f"forward pass "
            "for more information.",
            stacklevel=2,
        )


def check_nan(node, gradients: list) -> None:
    """RuntimeError if a node produced NaN."""
    for i, gradient in enumerate(gradients):
        if isinstance(gradient, Tensor) and has_nan(gradient):
            report_anomaly(node)
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def has_nan(gradient: Tensor) -> bool:
    gradient = gradient.detach()
    return gradient.dtype.kind in "fc" and bool((gradient != gradient).any())


engine.bind("node_metadata", node_metadata)
engine.bind("report_anomaly", report_anomaly)
engine.bind("check_nan", check_nan)
