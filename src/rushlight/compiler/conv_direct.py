"""Convolution and its gradients by plain loops: any dtype, any strides, any geometry.

One kernel per dtype serves all shapes, since every size is a parameter.
"""

from __future__ import annotations

import functools
from contextlib import ExitStack

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_shape import ConvShape
from .elementwise import from_memory, memory_type, register_type, to_memory
from .gemm_element import rectify
from .kernel import Kernel
from .templates import Array
from .text import Function, Module, V


def direct_conv(context, shape: ConvShape, bias: Array | None, relu: bool) -> None:
    """y[n, o, p] = bias[o] + sum over c and taps of x[n, c, p * stride + tap * dilation - padding] * w[o, c, tap].

    `relu`, for real types, clamps the result at zero.
    """
    arrays = [shape.x, shape.w, shape.y] + ([bias] if bias else [])
    kernel = forward_kernel(shape.x.dtype, bias is not None, relu)
    launch(context, kernel, shape, arrays, shape.y, bias.strides[0] if bias else 0)


def direct_input_grad(context, shape: ConvShape) -> None:
    """x[n, c, i] = sum over o and taps of the y[n, o, p] * w[o, c, tap] whose window holds i at that tap."""
    launch(context, input_grad_kernel(shape.x.dtype), shape, [shape.y, shape.w, shape.x], shape.x)


def direct_weight_grad(context, shape: ConvShape) -> None:
    """w[o, c, tap] = sum over n and p of y[n, o, p] * x[n, c, p * stride + tap * dilation - padding]."""
    launch(context, weight_grad_kernel(shape.x.dtype), shape, [shape.y, shape.x, shape.w], shape.w)


def launch(context, kernel: Kernel, shape: ConvShape, arrays, result: Array, bias_step=0) -> None:
    """The range runs over the first two dimensions of the result."""
    sizes = [shape.groups, shape.channels, shape.features, shape.batch, *shape.input, *shape.kernel, *shape.output]
    strides = [*shape.x.strides, *shape.w.strides, *shape.y.strides]
    params = [*sizes, *strides, *shape.stride, *shape.padding, *shape.dilation, bias_step]
    context.launch(kernel, arrays, params, product(result.shape[:2]))


class Arithmetic:
    """Loads, sums of products and stores of one dtype; a number is a list of its real and imaginary parts."""

    def __init__(self, f: Function, dtype: DType):
        self.f, self.dtype = f, dtype.to_real()
        self.memory, self.type = memory_type(dtype), register_type(dtype, 1)
        self.parts = 2 if dtype.is_complex else 1

    def pointers(self, base: V, index: V) -> list[V]:
        first = self.f.at(base, self.memory, index if self.parts == 1 else self.f.mul(index, V("2", "i64")))
        return [self.f.at(first, self.memory, part) for part in range(self.parts)]

    def load(self, base: V, index: V) -> list[V]:
        loaded = (self.f.load(pointer, self.memory) for pointer in self.pointers(base, index))
        return [from_memory(self.f, value, self.dtype, 1) for value in loaded]

    def sums(self, start: list[V] | None = None) -> list[V]:
        """Variables for a sum, set here to `start` or to zero."""
        start = start or [self.f.const(0, self.type)] * self.parts
        return [self.f.variable(self.type, value) for value in start]

    def add_product(self, sums: list[V], a: list[V], b: list[V]) -> None:
        f = self.f
        terms = [f.mul(a[0], b[0])]
        if self.parts == 2:
            terms = [f.sub(terms[0], f.mul(a[1], b[1])), f.add(f.mul(a[0], b[1]), f.mul(a[1], b[0]))]
        for total, term in zip(sums, terms):
            f.store(f.add(f.load(total, self.type), term), total)

    def store(self, sums: list[V], base: V, index: V) -> None:
        for total, pointer in zip(sums, self.pointers(base, index)):
            self.f.store(to_memory(self.f, self.f.load(total, self.type), self.dtype, 1), pointer)


class Nest:
    """The parameters of a direct kernel as `launch` passes them, and the loops over coordinates."""

    def __init__(self, f: Function):
        self.f = f
        p = [f.param(i) for i in range(38)]
        self.groups, self.channels, self.features, self.batch = p[:4]
        self.input, self.kernel, self.output = p[4:7], p[7:10], p[10:13]
        self.x, self.w, self.y = p[13:18], p[18:23], p[23:28]
        self.stride, self.padding, self.dilation, self.bias_step = p[28:31], p[31:34], p[34:37], p[37]

    def index(self, strides: list[V], *coordinates: V) -> V:
        terms = [self.f.mul(a, b) for a, b in zip(coordinates, strides)]
        return functools.reduce(self.f.add, terms)

    def split(self, index: V, size: V) -> list[V]:
        """Quotient and remainder of an index of two merged dimensions."""
        return [self.f.binary(opcode, index, size) for opcode in ("udiv", "urem")]

    def loops(self, stack: ExitStack, ends: list[V]) -> list[V]:
        return [stack.enter_context(self.f.loop(0, end)) for end in ends]

    def inputs(self, stack: ExitStack, outputs: list[V], taps: list[V]) -> list[V]:
        """The input position that each output sees at each tap; goes on only where it is not padding."""
        f, positions = self.f, []
        for axis, (out, tap) in enumerate(zip(outputs, taps)):
            there = f.add(f.mul(out, self.stride[axis]), f.mul(tap, self.dilation[axis]))
            positions.append(f.sub(there, self.padding[axis]))
            # unsigned: a negative position is a huge one
            stack.enter_context(f.when(f.compare("ult", positions[axis], self.input[axis])))
        return positions

    def outputs(self, stack: ExitStack, positions: list[V], taps: list[V]) -> list[V]:
        """The outputs whose windows hold the positions at the taps; goes on only if there are any."""
        f, outputs = self.f, []
        for axis, (position, tap) in enumerate(zip(positions, taps)):
            there = f.sub(f.add(position, self.padding[axis]), f.mul(tap, self.dilation[axis]))
            stack.enter_context(f.when(f.compare("sge", there, V("0", "i64"))))
            out, rest = self.split(there, self.stride[axis])
            stack.enter_context(f.when(f.compare("eq", rest, V("0", "i64"))))
            stack.enter_context(f.when(f.compare("ult", out, self.output[axis])))
            outputs.append(out)
        return outputs


def begin(name: str, dtype: DType) -> tuple[Module, Function, Nest, Arithmetic]:
    module = Module()
    f = module.kernel(f"{name}_{dtype.name}")
    return module, f, Nest(f), Arithmetic(f, dtype)


@functools.cache
def forward_kernel(dtype: DType, bias: bool = False, relu: bool = False) -> Kernel:
    module, f, nest, arithmetic = begin("conv_direct", dtype)
    x, w, y, *rest = (f.buffer(i) for i in range(3 + bias))
    with f.loop(f.begin, f.end) as item, ExitStack() as stack:
        n, o = nest.split(item, f.mul(nest.groups, nest.features))
        first = f.mul(f.binary("udiv", o, nest.features), nest.channels)
        out = nest.loops(stack, nest.output)
        sums = arithmetic.sums(arithmetic.load(rest[0], f.mul(o, nest.bias_step)) if bias else None)
        with ExitStack() as inner:
            c, *taps = nest.loops(inner, [nest.channels, *nest.kernel])
            at = nest.inputs(inner, out, taps)
            a = arithmetic.load(x, nest.index(nest.x, n, f.add(first, c), *at))
            arithmetic.add_product(sums, a, arithmetic.load(w, nest.index(nest.w, o, c, *taps)))
        if relu:
            f.store(rectify(f, f.load(sums[0], arithmetic.type)), sums[0])
        arithmetic.store(sums, y, nest.index(nest.y, n, o, *out))
    return Kernel(f.name, str(module))


@functools.cache
def input_grad_kernel(dtype: DType) -> Kernel:
    module, f, nest, arithmetic = begin("conv_input_grad_direct", dtype)
    y, w, x = (f.buffer(i) for i in range(3))
    with f.loop(f.begin, f.end) as item, ExitStack() as stack:
        n, channel = nest.split(item, f.mul(nest.groups, nest.channels))
        group, c = nest.split(channel, nest.channels)
        at = nest.loops(stack, nest.input)
        sums = arithmetic.sums()
        with ExitStack() as inner:
            feature, *taps = nest.loops(inner, [nest.features, *nest.kernel])
            out = nest.outputs(inner, at, taps)
            o = f.add(f.mul(group, nest.features), feature)
            a = arithmetic.load(y, nest.index(nest.y, n, o, *out))
            arithmetic.add_product(sums, a, arithmetic.load(w, nest.index(nest.w, o, c, *taps)))
        arithmetic.store(sums, x, nest.index(nest.x, n, channel, *at))
    return Kernel(f.name, str(module))


@functools.cache
def weight_grad_kernel(dtype: DType) -> Kernel:
    module, f, nest, arithmetic = begin("conv_weight_grad_direct", dtype)
    y, x, w = (f.buffer(i) for i in range(3))
    with f.loop(f.begin, f.end) as item, ExitStack() as stack:
        o, c = nest.split(item, nest.channels)
        first = f.mul(f.binary("udiv", o, nest.features), nest.channels)
        taps = nest.loops(stack, nest.kernel)
        sums = arithmetic.sums()
        with ExitStack() as inner:
            n, *out = nest.loops(inner, [nest.batch, *nest.output])
            at = nest.inputs(inner, out, taps)
            a = arithmetic.load(y, nest.index(nest.y, n, o, *out))
            b = arithmetic.load(x, nest.index(nest.x, n, f.add(first, c), *at))
            arithmetic.add_product(sums, a, b)
        arithmetic.store(sums, w, nest.index(nest.w, o, c, *taps))
    return Kernel(f.name, str(module))
