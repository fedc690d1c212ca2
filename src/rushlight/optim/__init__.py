"""Optimizers and learning rate schedules."""

from __future__ import annotations

from ..aliases import install
from . import lr_scheduler
from .adafactor import Adafactor
from .adam import Adam, Adamax, AdamW, NAdam, RAdam
from .adaptive import Adadelta, Adagrad, RMSprop, Rprop
from .lbfgs import LBFGS
from .muon import Muon
from .optimizer import Optimizer
from .sgd import ASGD, SGD
from .sparse_adam import SparseAdam
from .swapping import swap_in_optimizer_params_and_state

_PLACES = {  # modules of one optimizer each, as PyTorch has them
    "_adafactor": "optim.adafactor",
    "_muon": "optim.muon",
    "adadelta": "optim.adaptive",
    "adagrad": "optim.adaptive",
    "adamax": "optim.adam",
    "adamw": "optim.adam",
    "asgd": "optim.sgd",
    "nadam": "optim.adam",
    "radam": "optim.adam",
    "rmsprop": "optim.adaptive",
    "rprop": "optim.adaptive",
}
install(__name__, _PLACES)


def __getattr__(name: str):
    if name == "swa_utils":  # it loads `nn`, which optimizers do not need
        from importlib import import_module

        return import_module(".swa_utils", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "swa_utils"})


__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
]
