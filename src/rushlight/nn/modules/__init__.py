"""`rushlight.nn.modules`: the layers under the import paths that PyTorch has for them."""

from __future__ import annotations

from ... import nn as _nn
from ...aliases import install
from ..conv import _Conv, _TransposedConvolution
from ..dropout import _Dropout
from ..loss import _Loss
from ..norm import _RunningNorm
from ..state import IncompatibleKeys
from . import utils

# base classes that programs test for, by PyTorch's names
_ALSO = {
    "batchnorm": {"_NormBase": _RunningNorm},
    "conv": {"_ConvNd": _Conv, "_ConvTransposeNd": _TransposedConvolution},
    "dropout": {"_DropoutNd": _Dropout},
    "instancenorm": {"_NormBase": _RunningNorm},
    "loss": {"_WeightedLoss": _Loss},
    "module": {"_IncompatibleKeys": IncompatibleKeys},
}
_TABLE = {
    "activation": "nn.activation nn.attention",
    "adaptive": "nn.adaptive",
    "batchnorm": "nn.norm nn.lazy",
    "channelshuffle": "nn.shape",
    "container": "nn.containers nn.parameter_containers",
    "conv": "nn.conv nn.lazy",
    "distance": "nn.loss",
    "dropout": "nn.dropout",
    "flatten": "nn.shape",
    "fold": "nn.shape",
    "instancenorm": "nn.norm nn.lazy",
    "lazy": "nn.lazy",
    "linear": "nn.linear nn.lazy",
    "linear_cross_entropy": "nn.linear_cross_entropy",
    "linear_cross_entropy_options": "nn.linear_cross_entropy",
    "loss": "nn.loss nn.linear_cross_entropy",
    "module": "nn.module nn.hooks",
    "normalization": "nn.norm",
    "padding": "nn.padding",
    "pixelshuffle": "nn.shape",
    "pooling": "nn.pooling",
    "rnn": "nn.recurrent nn.recurrent_cell",
    "sparse": "nn.embedding",
    "transformer": "nn.transformer",
    "upsampling": "nn.shape",
}
install(__name__, _TABLE, _ALSO)


def __getattr__(name: str):
    if name[0] != "_" and hasattr(_nn, name) and isinstance(getattr(_nn, name), type):
        return getattr(_nn, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *(name for name, value in vars(_nn).items() if isinstance(value, type))})
