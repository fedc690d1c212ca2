"""Activation functions as modules. Inputs of any shape; outputs of the same shape and dtype unless said."""

from __future__ import annotations

import warnings

from .. import ops
from ..core import Tensor
from . import functional as F
from . import init
from .function_module import REQUIRED, FunctionModule
from .module import Module
from .parameter import Parameter


class Threshold(FunctionModule):
    """x where x > threshold, `value` elsewhere."""

    function = "threshold"
    options = {"threshold": REQUIRED, "value": REQUIRED, "inplace": False}


class ReLU(FunctionModule):
    """max(0, x)."""

    function = "relu"
    options = {"inplace": False}

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class RReLU(FunctionModule):
    """x where x ≥ 0, a·x elsewhere, with a uniform in [lower, upper] in training and their mean in evaluation."""

    function = "rrelu"
    options = {"lower": 1.0 / 8, "upper": 1.0 / 3, "inplace": False}
    passed = ("lower", "upper", "training", "inplace")


class Hardtanh(FunctionModule):
    """x limited to [min_val, max_val]."""

    function = "hardtanh"
    options = {"min_val": -1.0, "max_val": 1.0, "inplace": False}

    def _bind(self, args: tuple, kwargs: dict) -> dict:
        for former, name in (("min_value", "min_val"), ("max_value", "max_val")):
            if kwargs.get(former) is not None:
                warnings.warn(
                    f"keyword argument `{former}` is deprecated and rename to `{name}`", FutureWarning, stacklevel=3
                )
                kwargs[name] = kwargs[former]
            kwargs.pop(former, None)
        return super()._bind(args, kwargs)

    def check(self) -> None:
        if self.max_val <= self.min_val:
            raise ValueError("max_val must be larger than min_val")


class ReLU6(FunctionModule):
    """min(max(0, x), 6)."""

    function = "relu6"
    options = {"inplace": False}


class Sigmoid(FunctionModule):
    """1 / (1 + exp(-x))."""

    function = "sigmoid"


class Hardsigmoid(FunctionModule):
    """x/6 + 1/2 limited to [0, 1]."""

    function = "hardsigmoid"
    options = {"inplace": False}
    shown = ()


class Tanh(FunctionModule):
    """The hyperbolic tangent."""

    function = "tanh"


class SiLU(FunctionModule):
    """x · sigmoid(x) (also known as swish)."""

    function = "silu"
    options = {"inplace": False}


class Mish(FunctionModule):
    """x · tanh(softplus(x)) (Misra, 2019)."""

    function = "mish"
    options = {"inplace": False}


class Hardswish(FunctionModule):
    """x · min(max(0, x + 3), 6) / 6 (Howard et al., 2019)."""

    function = "hardswish"
    options = {"inplace": False}
    shown = ()


class ELU(FunctionModule):
    """x where x > 0, alpha·(exp(x) - 1) elsewhere (Clevert et al., 2015)."""

    function = "elu"
    options = {"alpha": 1.0, "inplace": False}


class CELU(FunctionModule):
    """max(0, x) + min(0, alpha·(exp(x/alpha) - 1)) (Barron, 2017)."""

    function = "celu"
    options = {"alpha": 1.0, "inplace": False}


class SELU(FunctionModule):
    """scale·ELU(x, alpha) with the constants that keep mean 0 and variance 1 (Klambauer et al., 2017)."""

    function = "selu"
    options = {"inplace": False}


class GLU(FunctionModule):
    """a · sigmoid(b), where a and b are the halves of the input along `dim`: the output is half as large there."""

    function = "glu"
    options = {"dim": -1}


class GELU(FunctionModule):
    """x · Φ(x), Φ the normal distribution function; `approximate="tanh"` for the tanh formula."""

    function = "gelu"
    options = {"approximate": "none"}

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)


class Hardshrink(FunctionModule):
    """x where |x| > lambd, 0 elsewhere."""

    function = "hardshrink"
    options = {"lambd": 0.5}

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(Hardshrink):
    """x moved by lambd towards 0, not past it."""

    function = "softshrink"
    options = {"lambd": 0.5}


class LeakyReLU(FunctionModule):
    """x where x ≥ 0, negative_slope·x elsewhere."""

    function = "leaky_relu"
    options = {"negative_slope": 1e-2, "inplace": False}


class LogSigmoid(FunctionModule):
    """log(sigmoid(x))."""

    function = "logsigmoid"


class Softplus(FunctionModule):
    """log(1 + exp(beta·x)) / beta; x itself where beta·x > threshold."""

    function = "softplus"
    options = {"beta": 1.0, "threshold": 20.0}


class Softsign(FunctionModule):
    """x / (1 + |x|)."""

    function = "softsign"


class Tanhshrink(FunctionModule):
    """x - tanh(x)."""

    function = "tanhshrink"


class Softmin(FunctionModule):
    """exp(-x) / Σ exp(-x) along `dim`."""

    function = "softmin"
    options = {"dim": None}


class Softmax(FunctionModule):
    """exp(x) / Σ exp(x) along `dim`."""

    function = "softmax"
    options = {"dim": None}


class LogSoftmax(FunctionModule):
    """log(softmax(x)) along `dim`."""

    function = "log_softmax"
    options = {"dim": None}


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


class PReLU(Module):
    """x where x ≥ 0, a·x elsewhere, with a learned slope a for all channels (dim 1) or one each."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(ops.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Every slope `init`."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
