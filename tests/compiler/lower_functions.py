"""Functions of Values that the lowering tests share: what real ops and models are made of."""

from rushlight.ir import build as B
from rushlight.ir.dtypes import float32


def softmax(x, dim=-1):
    dim %= x.ndim
    e = B.exp(x - B.max(x, (dim,), keepdim=True))
    return e / B.sum(e, (dim,), keepdim=True)


def log_sum_exp(x):
    top = B.max(x, (-1,), keepdim=True)
    return top + B.log(B.sum(B.exp(x - top), (-1,), keepdim=True))


def layer_norm(x, weight, bias):
    """(result, mean, 1 / deviation)"""
    mean = B.mean(x, (-1,), keepdim=True)
    centred = x - mean
    scale = B.rsqrt(B.mean(centred * centred, (-1,), keepdim=True) + 1e-5)
    return centred * scale * weight + bias, mean, scale


def layer_norm_backward(g, x, mean, scale, weight):
    normal = (x - mean) * scale
    gw = g * weight
    gx = (gw - B.mean(gw, (-1,), keepdim=True) - normal * B.mean(gw * normal, (-1,), keepdim=True)) * scale
    return gx, B.sum(g * normal, (0,)), B.sum(g, (0,))


def softmax_backward(g, y):
    return y * (g - B.sum(g * y, (-1,), keepdim=True))


def batch_norm(x, weight, bias):
    mean = B.mean(x, (0, 2, 3), keepdim=True)
    centred = x - mean
    variance = B.mean(centred * centred, (0, 2, 3), keepdim=True)
    shape = (1, x.shape[1], 1, 1)
    return centred * B.rsqrt(variance + 1e-5) * B.reshape(weight, shape) + B.reshape(bias, shape)


def group_norm(x, weight, bias, groups=4):
    n, c, h, w = x.shape
    y = B.reshape(x, (n, groups, (c // groups) * h * w))
    centred = y - B.mean(y, (2,), keepdim=True)
    y = centred * B.rsqrt(B.mean(centred * centred, (2,), keepdim=True) + 1e-5)
    shape = (1, c, 1, 1)
    return B.reshape(y, (n, c, h, w)) * B.reshape(weight, shape) + B.reshape(bias, shape)


def gelu(x):
    return x * 0.5 * (B.erf(x * 0.7071067811865476) + 1.0)


def cross_entropy(x, target):
    hit = B.eq(B.iota(x.shape, 1), B.unsqueeze(target, 1))
    picked = B.sum(B.where(hit, x - log_sum_exp(x), 0.0), (1,))
    return B.neg(B.mean(picked))


def variance_mean(x):
    mean = B.mean(x, (1,), keepdim=True)
    return B.mean(B.square(x - mean), (1,)), B.reshape(mean, x.shape[:1])


def adam(p, m, v, g, rate):
    m = m * 0.9 + g * 0.1
    v = v * 0.99 + g * g * 0.01
    return p - rate * (m / (B.sqrt(v) + 1e-8)), m, v


def rotate_halves(x):
    half = x.shape[-1] // 2
    a, b = B.narrow(x, x.ndim - 1, 0, half), B.narrow(x, x.ndim - 1, half, half)
    return B.concat([a * 0.3 - b, a + b], x.ndim - 1)


def shuffle_channels(x):
    n, c, h, w = x.shape
    return B.reshape(B.permute(B.reshape(x, (n, 2, c // 2, h, w)), (0, 2, 1, 3, 4)), (n, c, h, w))


def shuffle_pixels(x):
    n, c, h, w = x.shape
    y = B.permute(B.reshape(x, (n, c // 4, 2, 2, h, w)), (0, 1, 4, 2, 5, 3))
    return B.reshape(y, (n, c // 4, h * 2, w * 2)) * 2.0


def ramp(x):
    return x + B.cast(B.iota(x.shape, 1), float32)
