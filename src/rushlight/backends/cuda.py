"""`rushlight.backends.cuda`: not there. The settings are kept and change nothing."""

from __future__ import annotations

import types

matmul = types.SimpleNamespace(allow_tf32=False, fp32_precision="none")


def is_built() -> bool:
    """Whether this build could use such a device: False."""
    return False
