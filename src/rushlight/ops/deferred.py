"""Functions and methods that rooms below declare: known by name from the start, loaded when one is first used."""

from __future__ import annotations

import importlib

from ..core import engine
from ..ir.graph import Value
from .declare import FUNCTIONS, METHODS

# module: (functions of rushlight, methods of tensors) that importing it declares, by `composite` or `op`
MODULES = {
    "distributions.sampling": ("_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad", ""),
    "fft.frames": ("istft stft", "istft stft"),
    "linalg.former": (
        "cholesky cholesky_inverse cholesky_solve det eig geqrf inverse lobpcg logdet lstsq lu lu_solve lu_unpack "
        "matrix_exp matrix_rank orgqr ormqr pca_lowrank pinverse qr slogdet solve svd svd_lowrank symeig "
        "triangular_solve",
        "cholesky cholesky_inverse cholesky_solve det eig geqrf inverse logdet lstsq lu lu_solve matrix_exp orgqr "
        "ormqr pinverse qr slogdet solve svd symeig triangular_solve",
    ),
    "quantized.fake": (
        "_fake_quantize_learnable_per_channel_affine _fake_quantize_learnable_per_tensor_affine "
        "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine",
        "",
    ),
    "quantized.functions": (
        "_choose_qparams_per_tensor _empty_affine_quantized _empty_per_channel_affine_quantized "
        "_make_per_channel_quantized_tensor _make_per_tensor_quantized_tensor dequantize empty_quantized int_repr "
        "q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point quantize_per_channel "
        "quantize_per_tensor quantize_per_tensor_dynamic",
        "dequantize int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point "
        "qscheme",
    ),
    "quantized.observing": ("fused_moving_avg_obs_fake_quant", ""),
    "quantized.windows": ("quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d", ""),
}
DEFERRED = {name: module for module, (functions, _) in MODULES.items() for name in functions.split()}


def load(name: str):
    """The function of this name, once its module has declared it; None if there is no such name."""
    if name in DEFERRED:
        importlib.import_module(f"..{DEFERRED[name]}", __package__)
    return FUNCTIONS.get(name)


class Deferred:
    """Stands for a method until it is looked up; the module's declaration then takes its place."""

    def __init__(self, module: str, name: str):
        self.module, self.name = module, name

    def __get__(self, instance, owner=None):
        importlib.import_module(f"..{self.module}", __package__)
        return METHODS[self.name].__get__(instance, owner)


for _module, (_, _methods) in MODULES.items():
    for _name in _methods.split():
        engine.attach_method(_name, Deferred(_module, _name))
        setattr(Value, _name, Deferred(_module, _name))
