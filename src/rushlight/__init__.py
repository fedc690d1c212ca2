"""rushlight: PyTorch's system, small. `import rushlight as torch` runs programs written for PyTorch.

Rooms that a program does not use are not loaded: `nn`, `optim`, `utils`, ... arrive on first access, NumPy when an
array is made, LLVM when a kernel is compiled for the first time on a machine.
"""

from __future__ import annotations

import importlib
import sys

from . import ops
from .autograd import enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled
from .core import Device as device
from .core import Size, Tensor
from .core.engine import empty_cache, get_num_threads, memory_stats, set_num_threads
from .ir.dtype_names import NAMED
from .ir.dtypes import DType as dtype
from .ir.dtypes import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .ir.dtypes import bool_ as bool
from .ops.memory_format import MemoryFormat as memory_format
from .ops.memory_format import TensorLayout as layout
from .ops.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)

float = float32
double = float64
half = float16
short = int16
int = int32
long = int64
cfloat = complex64
cdouble = complex128
globals().update(NAMED)
chalf = NAMED["complex32"]
pi, e, inf, nan = 3.141592653589793, 2.718281828459045, 1e309, 1e309 * 0.0
newaxis = None

globals().update(ops.FUNCTIONS)

has_cuda = has_cudnn = has_mkl = has_mkldnn = has_openmp = False  # kernels are generated: no such library is in use
has_lapack = has_spectral = True  # `linalg` and `fft` are there
legacy_contiguous_format = contiguous_format

_ROOMS = {
    "_C": "_C",
    "__config__": "__config__",
    "_six": "_six",
    "_tensor": "_tensor",
    "_utils": "_utils",
    "accelerator": "accelerator",
    "amp": "amp",
    "array_api": "array_api",
    "autograd": "autograd",
    "backends": "backends",
    "cpu": "cpu",
    "cuda": "cuda",
    "data": "data",
    "distributions": "distributions",
    "fft": "fft",
    "func": "func",
    "functional": "functional",
    "interop": "interop",
    "linalg": "linalg",
    "masked": "masked",
    "multiprocessing": "multiprocessing",
    "nn": "nn",
    "optim": "optim",
    "overrides": "overrides",
    "quasirandom": "quasirandom",
    "random": "random",
    "return_types": "return_types",
    "serialization": "serialization",
    "signal": "signal",
    "sparse": "sparse",
    "special": "special",
    "storage": "storage",
    "testing": "testing",
    "torch_version": "torch_version",
    "types": "types",
    "utils": "utils",
    "version": "version",
}
_NAMES = {
    "Generator": "random",
    "__version__": "torch_version",
    "autocast": "amp.autocast_mode",
    "autocast_decrement_nesting": "amp.state",
    "autocast_increment_nesting": "amp.state",
    "clear_autocast_cache": "amp.state",
    "compile": "compiling",
    "default_generator": "random",
    "finfo": "ops.dtypes",
    "fork_rng": "random",
    "get_autocast_cpu_dtype": "amp.state",
    "get_autocast_dtype": "amp.state",
    "get_autocast_gpu_dtype": "amp.state",
    "get_autocast_ipu_dtype": "amp.state",
    "get_autocast_xla_dtype": "amp.state",
    "get_rng_state": "random",
    "gru": "nn.recurrent_functions",
    "gru_cell": "nn.recurrent_functions",
    "iinfo": "ops.dtypes",
    "initial_seed": "random",
    "is_anomaly_check_nan_enabled": "autograd.anomaly_mode",
    "is_anomaly_enabled": "autograd.anomaly_mode",
    "is_autocast_cache_enabled": "amp.state",
    "is_autocast_cpu_enabled": "amp.state",
    "is_autocast_enabled": "amp.state",
    "is_autocast_ipu_enabled": "amp.state",
    "is_autocast_xla_enabled": "amp.state",
    "load": "serialization",
    "lstm": "nn.recurrent_functions",
    "lstm_cell": "nn.recurrent_functions",
    "manual_seed": "random",
    "per_channel_affine": "quantized.schemes",
    "per_channel_affine_float_qparams": "quantized.schemes",
    "per_channel_symmetric": "quantized.schemes",
    "per_tensor_affine": "quantized.schemes",
    "per_tensor_symmetric": "quantized.schemes",
    "qscheme": "quantized.schemes",
    "rnn_relu": "nn.recurrent_functions",
    "rnn_relu_cell": "nn.recurrent_functions",
    "rnn_tanh": "nn.recurrent_functions",
    "rnn_tanh_cell": "nn.recurrent_functions",
    "save": "serialization",
    "seed": "random",
    "set_anomaly_enabled": "autograd.anomaly_mode",
    "set_autocast_cache_enabled": "amp.state",
    "set_autocast_cpu_dtype": "amp.state",
    "set_autocast_cpu_enabled": "amp.state",
    "set_autocast_dtype": "amp.state",
    "set_autocast_enabled": "amp.state",
    "set_autocast_gpu_dtype": "amp.state",
    "set_autocast_ipu_dtype": "amp.state",
    "set_autocast_ipu_enabled": "amp.state",
    "set_autocast_xla_dtype": "amp.state",
    "set_autocast_xla_enabled": "amp.state",
    "set_rng_state": "random",
    "sparse_bsc_tensor": "sparse",
    "sparse_bsr_tensor": "sparse",
    "sparse_compressed_tensor": "sparse",
    "sparse_coo_tensor": "sparse",
    "sparse_csc_tensor": "sparse",
    "sparse_csr_tensor": "sparse",
    "vmap": "func",
}


def __getattr__(name: str):
    if name in _ROOMS:
        return importlib.import_module(f".{_ROOMS[name]}", __name__)
    if name in _NAMES:
        found = getattr(importlib.import_module(f".{_NAMES[name]}", __name__), name)
        globals()[name] = found
        return found
    if name in ops.deferred.DEFERRED:
        found = globals()[name] = ops.deferred.load(name)
        return found
    from .absent import missing

    raise missing(__name__, name)


def __dir__():
    return sorted({*globals(), *_ROOMS, *_NAMES, *ops.deferred.DEFERRED})


class _LastFinder:
    """Asked for modules of this package that no file holds: says why they are missing."""

    @staticmethod
    def find_spec(name: str, path=None, target=None):
        if name.startswith(f"{__name__}."):
            from .absent import refuse_import

            refuse_import(name, sys._getframe(1))


sys.meta_path.append(_LastFinder)
