"""Dropout: random zeros in training, the identity in evaluation."""

from __future__ import annotations

from .function_module import FunctionModule


class _Dropout(FunctionModule):
    """ValueError for a probability outside [0, 1]."""

    options = {"p": 0.5, "inplace": False}
    passed = ("p", "training", "inplace")
    shown = ("p", "inplace")

    def check(self) -> None:
        if not 0.0 <= self.p <= 1.0:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")


class Dropout(_Dropout):
    """Each element is 0 with probability p, else divided by 1 - p (Hinton et al., 2012)."""

    function = "dropout"


class Dropout1d(_Dropout):
    """Whole channels of (N, C, L) or (C, L) are 0 with probability p, else divided by 1 - p."""

    function = "dropout1d"


class Dropout2d(_Dropout):
    """Whole channels of (N, C, H, W) or (C, H, W) are 0 with probability p, else divided by 1 - p."""

    function = "dropout2d"


class Dropout3d(_Dropout):
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) are 0 with probability p, else divided by 1 - p."""

    function = "dropout3d"


class AlphaDropout(_Dropout):
    """Dropout that keeps mean 0 and variance 1 after SELU (Klambauer et al., 2017)."""

    function = "alpha_dropout"


class FeatureAlphaDropout(_Dropout):
    """Alpha dropout of whole channels."""

    function = "feature_alpha_dropout"
