"""Quantizing, faking it, and products of bytes."""

from __future__ import annotations

import warnings

from .registry import M, normal, workload

warnings.filterwarnings("ignore", "torch.quantize_per_tensor")  # PyTorch deprecates its own


def quantized(T, *shape, scale: float, zero_point: int, dtype: str):
    return T.quantize_per_tensor(normal(T, *shape), scale, zero_point, getattr(T, dtype))


@workload("quantize_per_tensor to quint8, 1M", 0.7, 1, bytes=5 * M)
def quantize(T):
    x = normal(T, 1024, 1024)
    return lambda: T.quantize_per_tensor(x, 0.02, 100, T.quint8)


@workload("dequantize quint8, 1M", 0.7, 1.2, bytes=5 * M)
def dequantize(T):
    x = quantized(T, 1024, 1024, scale=0.02, zero_point=100, dtype="quint8")
    return lambda: x.dequantize()


@workload("quantize_per_channel to qint8, 1M", 2, 10, bytes=5 * M)
def quantize_channels(T):
    x, scales, zeros = normal(T, 1024, 1024), T.full((1024,), 0.02), T.zeros(1024, dtype=T.int64)
    return lambda: T.quantize_per_channel(x, scales, zeros, 0, T.qint8)


@workload("fake_quantize_per_tensor, 1M, forward and backward", 2, 10, bytes=16 * M)
def fake_quantize(T):
    x = normal(T, 1024, 1024, grad=True)

    def step():
        x.grad = None
        T.fake_quantize_per_tensor_affine(x, 0.02, 100, 0, 255).sum().backward()

    return step


def linear(rows: int):
    @workload(f"ops.quantized.linear {rows}x1024x1024", 0.7, 1, flops=2 * rows * M)
    def make(T):
        x = quantized(T, rows, 1024, scale=0.03, zero_point=100, dtype="quint8")
        weight = quantized(T, 1024, 1024, scale=0.02, zero_point=0, dtype="qint8")
        packed = T.ops.quantized.linear_prepack(weight, None)
        return lambda: T.ops.quantized.linear(x, packed, 1.0, 100)


linear(1)
linear(256)


@workload("ops.quantized.conv2d 64 channels 3x3, 28x28", 0.7, 1, flops=2 * 64 * 64 * 9 * 28 * 28)
def convolution(T):
    x = quantized(T, 1, 64, 28, 28, scale=0.03, zero_point=100, dtype="quint8")
    weight = quantized(T, 64, 64, 3, 3, scale=0.02, zero_point=0, dtype="qint8")
    packed = T.ops.quantized.conv2d_prepack(weight, None, [1, 1], [1, 1], [1, 1], 1)
    return lambda: T.ops.quantized.conv2d(x, packed, 1.0, 100)
