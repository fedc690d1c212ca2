"""Automatic differentiation: modes, `backward`, `grad`, `Function`; checks, products and whole derivatives.

`functional`, `graph`, `forward_ad` and the detection of anomalies are loaded when they are used.
"""

from __future__ import annotations

import importlib

from ..ops.explaining import explained
from .backward import backward, grad
from .function import Function, once_differentiable
from .gradcheck import gradcheck, gradgradcheck
from .modes import *  # noqa: F403

grad = explained(grad, "autograd.grad")
_PARTS = (
    "anomaly_mode",
    "checkpoint",
    "forward_ad",
    "forward_mode",
    "functional",
    "grad_mode",
    "graph",
    "variable",
)
_NAMES = {"Variable": "variable", "detect_anomaly": "anomaly_mode", "set_detect_anomaly": "anomaly_mode"}


def __getattr__(name: str):
    if name in _PARTS:
        return importlib.import_module(f".{name}", __name__)
    if name in _NAMES:
        return getattr(importlib.import_module(f".{_NAMES[name]}", __name__), name)
    from ..absent import missing

    raise missing(__name__, name)


def __dir__():
    return sorted({*globals(), *_PARTS, *_NAMES})
