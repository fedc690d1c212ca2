"""Sample applications of every primitive, which the tests run through meaning, derivatives and batching."""

from __future__ import annotations

import numpy as np

from rushlight.ir import build as B
from rushlight.ir.primitives import (
    byte_dot,
    contract,
    elementwise,
    fourier,
    index,
    reduce,
    scan,
    segment,
    singular,
    sort,
    source,
    spectra,
    structure,
    views,
    window,
)

from .matrix_samples import factorizations

rng = np.random.default_rng(0)


class Sample:
    """`apply(*values)` records the primitive; `arrays` are its operands, well inside its smooth domain."""

    def __init__(self, primitive, *arrays, label="", **attrs):
        self.primitive, self.arrays, self.attrs = primitive, arrays, attrs
        self.name = primitive.name + (f"-{label}" if label else "")

    def apply(self, *values):
        result = self.primitive(*values, **self.attrs)
        return list(result) if isinstance(result, tuple) else [result]

    def __repr__(self):
        return self.name


def real(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape)


def imaginary(*shape, low=-1.5, high=1.5):
    return real(*shape, low=low, high=high) + 1j * real(*shape, low=low, high=high)


def integers(*shape, low=-5, high=6, dtype="int64"):
    return rng.integers(low, high, shape).astype(dtype)


def apart(*shape):
    """Numbers at least 0.3 apart, so that no small step changes their order."""
    count = int(np.prod(shape))
    return (rng.permutation(count) * 0.3 - count * 0.15).reshape(shape)


def bools(*shape):
    return rng.integers(0, 2, shape).astype(bool)


E_ = elementwise
DOMAINS = {
    "log": (0.2, 3), "log2": (0.2, 3), "log10": (0.2, 3), "log1p": (-0.7, 3), "sqrt": (0.2, 3), "rsqrt": (0.2, 3),
    "reciprocal": (0.3, 2), "tan": (-1.2, 1.2), "asin": (-0.9, 0.9), "acos": (-0.9, 0.9), "acosh": (1.2, 3),
    "atanh": (-0.9, 0.9), "erfinv": (-0.9, 0.9), "lgamma": (0.3, 4), "digamma": (0.3, 4), "abs": (0.3, 2),
}  # fmt: skip
FUNCTIONS = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "erfcx", "erfinv", "lgamma",
    "digamma",
    "sigmoid", "abs", "neg",
)  # fmt: skip
ROUNDING = ("floor", "ceil", "trunc", "round", "sign", "isfinite", "isnan")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def maps():
    for name in FUNCTIONS:
        prim = getattr(E_, name)
        low, high = DOMAINS.get(name, (-2, 2))
        yield Sample(prim, real(3, 2, low=low, high=high))
        if name not in ("erf", "erfc", "erfcx", "erfinv", "lgamma", "digamma"):
            yield Sample(prim, imaginary(3, 2) + 0.1, label="complex")
    yield Sample(E_.lgamma, -real(4, low=0.2, high=0.8) - 1, label="negative")
    yield Sample(E_.digamma, -real(4, low=0.2, high=0.8) - 2, label="negative")
    for name in ROUNDING:
        yield Sample(getattr(E_, name), integers(3, 2) + 0.3)
    yield Sample(E_.sign, imaginary(3, 2) + 2, label="complex")
    for name in ("add", "sub", "mul", "div", "pow", "atan2", "maximum", "minimum", "copysign"):
        a, b = real(3, 2, low=0.3), real(3, 2, low=0.4)
        yield Sample(getattr(E_, name), a, b * (1 if name == "pow" else rng.choice([-1, 1], b.shape)))
    for name in ("add", "sub", "mul", "div", "pow"):
        yield Sample(getattr(E_, name), imaginary(3, 2) + 2, imaginary(3, 2) + 2, label="complex")
    for name in ("remainder", "fmod"):
        yield Sample(getattr(E_, name), real(4) * 4, real(4, low=1.1, high=2) * rng.choice([-1, 1], 4))
    for name in ("floor_divide", "trunc_divide"):
        yield Sample(getattr(E_, name), real(4) * 4 + 0.05, real(4, low=1.1, high=2))
        yield Sample(getattr(E_, name), integers(4), integers(4, low=1), label="int")
    yield Sample(E_.gcd, integers(6) * 6, integers(6) * 4)
    yield Sample(E_.nextafter, real(3), real(3))
    yield Sample(E_.zeta, real(4, low=1.5, high=4), real(4, low=0.3, high=3))
    yield Sample(E_.gamma_slope, real(6, low=0.5, high=4), real(6, low=0.1, high=6))
    yield Sample(E_.beta_slope, real(6, low=0.1, high=0.9), real(6, low=0.5, high=4), real(6, low=0.5, high=4))
    for name in ("gammainc", "gammaincc"):
        yield Sample(getattr(E_, name), real(4, low=0.5, high=4), real(4, low=0.5, high=4))
    for name in COMPARISONS:
        yield Sample(getattr(E_, name), integers(3, 4, high=-2), integers(3, 4, high=-2))
    for name in ("bit_and", "bit_or", "bit_xor"):
        yield Sample(getattr(E_, name), integers(5), integers(5))
        yield Sample(getattr(E_, name), bools(5), bools(5), label="bool")
    yield Sample(E_.bit_not, integers(5))
    yield Sample(E_.shift_left, integers(5), integers(5, low=0, high=9))
    yield Sample(E_.shift_right, integers(5), integers(5, low=0, high=9))
    yield Sample(E_.real, imaginary(3))
    yield Sample(E_.imag, imaginary(3))
    yield Sample(E_.conj, imaginary(3))
    yield Sample(E_.complex, real(3), real(3))
    yield Sample(E_.where, bools(3, 2), real(3, 2), real(3, 2))


def casts():
    from rushlight.ir import dtypes

    yield Sample(E_.cast, real(3), label="to-complex", dtype=dtypes.complex128)
    yield Sample(E_.cast, imaginary(3), label="to-real", dtype=dtypes.float64)
    yield Sample(E_.cast, real(3) * 3, label="to-int", dtype=dtypes.int32)
    yield Sample(source.constant, value=1.5, shape=(2, 3), dtype=dtypes.float64)
    yield Sample(source.iota, shape=(2, 3), dim=1, dtype=dtypes.int64)


def arrangements():
    x = real(3, 4, 5)
    yield Sample(views.reshape, x, shape=(2, 6, 5))
    yield Sample(views.permute, x, dims=(2, 0, 1))
    yield Sample(views.expand, real(3, 1, 5), shape=(2, 3, 4, 5))
    yield Sample(views.expand, real(), shape=(2, 3), label="number")
    yield Sample(views.slice, x, starts=(1, 0, 1), sizes=(2, 4, 2), steps=(1, 1, 3))
    yield Sample(views.slice, x, starts=(0, 3, 4), sizes=(2, 1, 1), steps=(2, 7, 2), label="single")
    yield Sample(views.slice, x, starts=(3, 0, 1), sizes=(0, 2, 2), steps=(1, 2, 2), label="empty")
    for offset in (0, 2, -1):
        yield Sample(views.diagonal, x, offset=offset, dim1=2, dim2=0, label=str(offset))
    yield Sample(views.unfold, x, dim=1, size=2, step=1)
    yield Sample(views.unfold, x, dim=2, size=2, step=3, label="gaps")
    yield Sample(views.view_as_real, imaginary(2, 3))
    yield Sample(views.view_as_complex, real(2, 3, 2))
    yield Sample(structure.pad, x, low=(1, 0, 2), high=(0, 0, 1), value=1.5)
    yield Sample(structure.concat, real(2, 3), real(2, 1), real(2, 2), dim=1)
    yield Sample(structure.flip, x, dims=(0, 2))


def reductions():
    for name in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min"):
        x = apart(3, 2, 4) + 0.01
        yield Sample(getattr(reduce, name), x, dims=(0, 2))
        yield Sample(getattr(reduce, name), x, dims=(1,), label="inner")
    zeros = real(4, 3)
    zeros[0, 0] = zeros[1, 1] = zeros[2, 1] = 0
    yield Sample(reduce.reduce_prod, zeros, dims=(0,), label="zeros")
    yield Sample(reduce.reduce_prod, imaginary(3, 2), dims=(0, 1), label="complex")
    yield Sample(reduce.reduce_any, bools(3, 4), dims=(1,))
    yield Sample(reduce.reduce_all, bools(3, 4), dims=(0,))
    yield Sample(reduce.argmax, apart(3, 4), dim=1)
    yield Sample(reduce.argmin, apart(3, 4), dim=0)
    yield Sample(scan.cumsum, real(3, 5), dim=1)
    yield Sample(scan.cumprod, real(5, 2), dim=0)
    yield Sample(scan.cumprod, zeros, dim=0, label="zeros")
    yield Sample(scan.cumprod, imaginary(5), dim=0, label="complex")
    yield Sample(scan.logcumsumexp, real(3, 6) * 3, dim=1)
    yield Sample(scan.cummax, apart(3, 5), dim=1)
    yield Sample(scan.cummin, apart(3, 5), dim=0)
    yield Sample(sort.sort, apart(3, 4), dim=1, descending=False)
    yield Sample(sort.sort, apart(3, 4), dim=0, descending=True, label="descending")
    yield Sample(sort.topk, apart(3, 4), k=2, dim=1, largest=True)
    yield Sample(sort.topk, apart(3, 4), k=2, dim=0, largest=False, label="smallest")
    boundaries = np.sort(apart(5))
    yield Sample(sort.searchsorted, boundaries, real(3, 4), right=False)
    yield Sample(sort.searchsorted, np.stack([boundaries, boundaries - 1]), real(2, 3), right=True, label="rows")


def contractions():
    yield Sample(contract.dot, real(3, 4), real(4, 2))
    yield Sample(contract.dot, real(2, 3, 4), real(2, 4, 2), label="batch")
    yield Sample(contract.dot, imaginary(3, 4), imaginary(4, 2), label="complex")
    panels = integers(2, 2, 16, 4, low=-128, high=128, dtype="int8")
    yield Sample(byte_dot.byte_dot, integers(3, 8, low=0, high=256, dtype="uint8"), panels)
    geometry = {
        "1d": ({"stride": (2,), "padding": (1,), "dilation": (1,), "groups": 1}, (2, 3, 8), (4, 3, 3)),
        "2d": ({"stride": (1, 2), "padding": (0, 2), "dilation": (2, 1), "groups": 2}, (2, 4, 5, 6), (2, 2, 2, 3)),
        "3d": (
            {"stride": (1, 1, 1), "padding": (1, 0, 0), "dilation": (1, 1, 2), "groups": 1},
            (1, 1, 3, 2, 5),
            (2, 1, 2, 2, 2),
        ),
    }
    for label, (attrs, x_shape, w_shape) in geometry.items():
        make = imaginary if label == "1d" else real
        parts = zip(x_shape[2:], w_shape[2:], attrs["stride"], attrs["padding"], attrs["dilation"])
        y_shape = (x_shape[0], w_shape[0], *((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in parts))
        yield Sample(contract.conv, make(*x_shape), make(*w_shape), label=label, **attrs)
        yield Sample(contract.conv_input_grad, make(*y_shape), make(*w_shape), label=label, shape=x_shape[2:], **attrs)
        yield Sample(contract.conv_weight_grad, make(*y_shape), make(*x_shape), label=label, shape=w_shape[2:], **attrs)


def indexing():
    yield Sample(index.gather, real(3, 4), integers(2, 5, low=0, high=4), dim=1)
    unique = np.stack([rng.permutation(4)[:3] for _ in range(2)])
    for mode in index.SCATTER_MODES:
        repeated = unique if mode == "set" else integers(2, 3, low=0, high=4)
        yield Sample(index.scatter, apart(3, 4), repeated, apart(2, 3) * 1.01, dim=1, mode=mode, label=mode)
    x, src = real(2, 3), real(2, 4)
    x[0, 0] = src[0, 0] = src[1, 0] = 0
    places = np.array([[0, 0, 1, 1], [2, 2, 2, 0]])
    yield Sample(index.scatter, x, places, src, dim=1, mode="mul", label="zeros")
    one, two = integers(2, 2, low=0, high=4), integers(2, 2, low=0, high=5)
    yield Sample(index.take, real(3, 4, 5), one, dim=1)
    yield Sample(index.take, real(3, 4, 5), one, two, dim=1, label="two")
    yield Sample(index.take, real(3, 4), np.array(2), dim=0, label="number")
    yield Sample(index.put, real(3, 4, 5), real(3, 2, 2, 5), one, dim=1, mode="add")
    yield Sample(index.put, real(3, 4, 5), real(3, 2, 2), one, two, dim=1, mode="add", label="two")
    yield Sample(index.put, real(4, 5), real(2, 5), np.array([3, 1]), dim=0, mode="set", label="set")
    ends = np.array([0, 2, 2, 5])
    for kind in segment.KINDS:
        yield Sample(segment.segment_reduce, apart(5, 3), ends[[0, 1, 3]], kind=kind, label=kind)
    yield Sample(segment.segment_reduce, imaginary(4, 2), ends, integers(5, low=0, high=4), kind="sum", label="index")


def transforms():
    for n in (5, 6):
        attrs = {"dim": 1, "scale": 0.5, "order": None}
        yield Sample(fourier.fft, imaginary(3, n), inverse=n % 2 == 0, label=str(n), **attrs)
        yield Sample(fourier.rfft, real(3, n), label=str(n), **attrs)
        yield Sample(fourier.irfft, imaginary(3, n // 2 + 1), n=n, label=str(n), **attrs)
    yield Sample(fourier.fft, imaginary(4, 2, 3), dim=0, inverse=False, scale=1.0, order=(1, 2, 0), label="order")


def windows():
    x = apart(2, 3, 6, 7)
    pool = {"kernel": (3, 2), "stride": (2, 2), "padding": (1, 0)}
    yield Sample(window.max_pool, x, dilation=(1, 2), shape=(3, 3), **pool)
    yield Sample(window.max_pool_grad, real(2, 3, 2), integers(2, 3, 2, low=0, high=12), shape=(4, 3), label="plane")
    for include in (True, False):
        averaging = {**pool, "count_include_pad": include, "divisor": None}
        yield Sample(window.avg_pool, x, shape=(4, 4), label=str(include), **averaging)
        yield Sample(window.avg_pool_grad, real(2, 4, 4), shape=(6, 7), label=str(include), **averaging)
    yield Sample(window.avg_pool, x, shape=(3, 3), label="divisor", **{**pool, "count_include_pad": True, "divisor": 5})
    yield Sample(window.adaptive_avg_pool, x, shape=(4, 3))
    yield Sample(window.adaptive_avg_pool_grad, real(2, 4, 3), shape=(6, 7))
    yield Sample(window.adaptive_max_pool, x, shape=(4, 3))


class Spectral(Sample):
    """A primitive in a function of its results that no choice of vectors' phases changes."""

    def __init__(self, primitive, function, *arrays, label=""):
        super().__init__(primitive, *arrays, label=label)
        self.apply = lambda a: list(function(a))


def weighted(vectors):
    """Columns times 1, 2, ..."""
    return vectors * B.cast(B.iota((vectors.shape[-1],)) + 1, vectors.dtype)


def hermitian(a):
    return (a + B.adjoint(a)) * 0.5


def of_eigh(a):
    values, vectors, _ = spectra.eigh(hermitian(a), lower=True, fails=None)
    return values, B.matmul(weighted(vectors), B.adjoint(vectors))


def of_eig(a):
    values, vectors, _ = spectra.eig(a, fails=None)
    return values, B.real(vectors * B.conj(vectors))


def of_svd(full: bool):
    def function(a):
        u, s, vh, _ = singular.svd(a, full=full, fails=None)
        k = s.shape[-1]
        kept = B.narrow(weighted(u), -1, 0, k), B.narrow(vh, -2, 0, k)
        return B.matmul(*kept), s

    return function


def spectral():
    for label, make in (("real", real), ("complex", imaginary)):
        yield Spectral(spectra.eigh, of_eigh, make(2, 3, 3), label=label)
        yield Spectral(
            spectra.eigvalsh,
            lambda a: spectra.eigvalsh(hermitian(a), lower=False, fails=None)[:1],
            make(3, 3),
            label=label,
        )
        yield Spectral(spectra.eig, of_eig, make(3, 3), label=label)
        yield Spectral(spectra.eigvals, lambda a: spectra.eigvals(a, fails=None)[:1], make(3, 3), label=label)
        yield Spectral(singular.svd, of_svd(True), make(3, 3), label=label)
        yield Spectral(singular.svd, of_svd(False), make(4, 3), label=label + "-tall")
        yield Spectral(singular.svd, of_svd(False), make(2, 2, 3), label=label + "-wide")
        yield Spectral(singular.svdvals, lambda a: singular.svdvals(a, fails=None)[:1], make(3, 4), label=label)
    yield Sample(spectra.claim, real(3, 4), np.ones(3, bool), fails="no")


SAMPLES = [
    *maps(), *casts(), *arrangements(), *reductions(), *contractions(), *indexing(), *windows(), *transforms(),
    *spectral(), *factorizations(Sample, real, imaginary),
]  # fmt: skip
