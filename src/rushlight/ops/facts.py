"""Small facts about tensors, and switches that programs set but nothing here depends on."""

from __future__ import annotations

import os

from ..core import engine
from ..core.engine import Tensor
from .copying import fill
from .declare import FUNCTIONS, add_method, composite
from .results import dim_order as order_of

FUNCTIONS["fill"] = fill


# -- tensors ----------------------------------------------------------------------------------------
@composite(method=True, public=False)
def as_subclass(input, cls):
    """The tensor as an instance of a subclass of `Tensor`, over the same memory and in the same graph."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise RuntimeError(f"as_subclass: expected a subclass of Tensor, got {cls!r}")
    return engine.as_subclass(input, cls)


@composite(method=True, public=False)
def is_set_to(input, tensor) -> bool:
    """Whether two tensors show the same part of the same memory in the same way."""
    same = input._storage is tensor._storage and input.storage_offset() == tensor.storage_offset()
    return same and input.shape == tensor.shape and input.stride() == tensor.stride()


@composite(method=True, public=False)
def dim_order(input, ambiguity_check=False) -> tuple[int, ...]:
    """Dims from outermost to innermost in memory."""
    return order_of(input._layout)


@composite(method=True, public=False)
def const_data_ptr(input) -> int:
    """The address of element 0."""
    return input.data_ptr()


@composite(method=True, public=False)
def to_dense(input, dtype=None, *, masked_grad=None):
    """The tensor itself (in another dtype if one is given): all tensors are dense."""
    return input if dtype is None else input.to(dtype)


@composite(method=True, public=False)
def cuda(input, device=None, non_blocking=False, memory_format=None):
    """RuntimeError: there is no such device."""
    return engine.require_device("cuda" if device is None else device)


def _elsewhere(kind: str):
    def move(input, device=None, non_blocking=False, memory_format=None):
        return engine.require_device(kind if device is None else device)

    move.__name__, move.__doc__ = kind, "RuntimeError: there is no such device."
    return move


for _kind in ("xpu", "mtia", "ipu"):
    add_method(_kind, _elsewhere(_kind))


@composite(method=True, public=False)
def record_stream(input, stream):
    """RuntimeError: there are no streams on the CPU."""
    raise RuntimeError("record_stream: tensors on the CPU are not used on streams")


@composite(method=True, public=False)
def module_load(input, other, assign: bool = False):
    """What a module keeps when `load_state_dict` gives it `other` for a parameter or buffer: that itself, or this
    tensor with the numbers copied; detached.
    """
    if not isinstance(other, Tensor):
        raise TypeError(f"module_load(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    if assign:
        return other.detach()
    return input.copy_(other).detach()


def _no_cuda_interface(input):
    raise AttributeError(
        f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {input.type()} If CUDA data is required use "
        "tensor.cuda() to copy tensor to device memory."
    )


engine.attach_method("__cuda_array_interface__", property(_no_cuda_interface))
engine.attach_method("_grad", property(lambda input: input.grad))
engine.attach_method("_grad_fn", property(lambda input: input.grad_fn))
engine.attach_method("_has_symbolic_sizes_strides", property(lambda input: False))
engine.attach_method("_cdata", property(id))


@composite(method=True, public=False)
def pin_memory(input, device=None):
    """RuntimeError: memory is pinned for accelerators, and there is none."""
    raise RuntimeError("pin_memory: there is no accelerator to pin memory for")


@composite
def get_device(input) -> int:
    """-1: tensors are on the CPU."""
    return input.get_device()


@composite
def typename(obj, /) -> str:
    """The type of a tensor, such as "rushlight.FloatTensor"; the qualified class name of other objects."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    return kind.__qualname__ if kind.__module__ in (None, "builtins") else f"{kind.__module__}.{kind.__qualname__}"


@composite
def to_dlpack(tensor):
    """A DLPack capsule of the tensor's memory."""
    return tensor.__dlpack__()


@composite
def is_inference(input) -> bool:
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


@composite(method=True)
def is_distributed(input) -> bool:
    """False: no tensor is spread over several processes."""
    return False


@composite
def detach_(input):
    """Cut the tensor off from the graph, in place; returns it."""
    return input.detach_()


for _kind in ("ipu", "maia", "mtia", "nested", "vulkan", "xla"):
    engine.attach_method(f"is_{_kind}", property(lambda input: False))


# -- the build ----------------------------------------------------------------------------------
@composite
def compiled_with_cxx11_abi() -> bool:
    """True: there is no C++ here that could have another binary interface."""
    return True


@composite
def is_vulkan_available() -> bool:
    """False: tensors live on the CPU."""
    return False


# -- switches ---------------------------------------------------------------------------------------
_MODES = ("default", "warn", "error")
_state = {"deterministic": 0, "precision": "highest", "warn_always": False, "interop_threads": 0}


@composite
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Remembered, without effect: all results are deterministic."""
    if not isinstance(mode, (bool, int)):
        raise TypeError(f"use_deterministic_algorithms(): argument 'mode' must be bool, not {type(mode).__name__}")
    _state["deterministic"] = (1 if warn_only else 2) if mode else 0


@composite
def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was given."""
    return _state["deterministic"] > 0


@composite
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether only a warning was asked for."""
    return _state["deterministic"] == 1


@composite
def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """The same as a number 0 to 2, or "default", "warn" or "error"."""
    mode = _MODES.index(debug_mode) if debug_mode in _MODES else debug_mode
    if mode not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected one of `default`, `warn`, `error` or 0 to 2, got {mode}"
        )
    _state["deterministic"] = mode


@composite
def get_deterministic_debug_mode() -> int:
    """0, 1 or 2, as `set_deterministic_debug_mode` takes it."""
    return _state["deterministic"]


@composite
def set_warn_always(b: bool, /) -> None:
    """Remembered, without effect: Python's `warnings` filters say how often a warning is shown."""
    if not isinstance(b, bool):
        raise TypeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _state["warn_always"] = b


@composite
def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was given."""
    return _state["warn_always"]


@composite
def set_flush_denormal(mode: bool) -> bool:
    """False: numbers near zero are always computed in full."""
    return False


@composite
def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` was given, or the number of processors."""
    return _state["interop_threads"] or os.cpu_count() or 1


@composite
def set_num_interop_threads(num: int) -> None:
    """Remembered, without effect: operations run one after the other, each on `get_num_threads()` threads.

    Raises:
        RuntimeError: for numbers below 1, and for a second call
    """
    if not isinstance(num, int) or num < 1:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _state["interop_threads"]:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads "
            "called"
        )
    _state["interop_threads"] = num


@composite
def init_num_threads() -> None:
    """Does nothing: every thread uses the one team of `set_num_threads`."""


@composite
def set_float32_matmul_precision(precision: str) -> None:
    """Remembered, without effect: float32 products are always computed in float32."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"invalid float32 matmul precision: {precision!r}; expected highest, high or medium")
    _state["precision"] = precision


@composite
def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was given."""
    return _state["precision"]
