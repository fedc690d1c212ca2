"""The array API standard, 2023.12: all its names, and their meanings where they differ from the torch namespace."""

import inspect

import numpy as np
import pytest

import rushlight as rl
from rushlight import array_api as xp

NAMES = """
    e inf nan newaxis pi
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
    arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
    zeros_like
    astype can_cast finfo iinfo isdtype result_type
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
    bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater
    greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and
    logical_not logical_or logical_xor maximum minimum multiply negative not_equal positive pow real remainder round
    sign signbit sin sinh square sqrt subtract tan tanh trunc
    take matmul matrix_transpose tensordot vecdot
    broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack tile
    unstack
    argmax argmin nonzero searchsorted where
    unique_all unique_counts unique_inverse unique_values
    argsort sort
    cumulative_sum max mean min prod std sum var
    all any __array_api_version__ __array_namespace_info__
""".split()  # noqa: SIM905
METHODS = """
    __abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__ __dlpack_device__ __eq__ __float__
    __floordiv__ __ge__ __getitem__ __gt__ __index__ __int__ __invert__ __le__ __lshift__ __lt__ __matmul__ __mod__
    __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __rshift__ __setitem__ __sub__ __truediv__ __xor__ to_device
    __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __ipow__ __imod__ __iand__ __ior__ __ixor__ __ilshift__
    __irshift__ __radd__ __rsub__ __rmul__ __rtruediv__ __rfloordiv__ __rpow__ __rmod__ __rand__ __ror__ __rxor__
    __rlshift__ __rrshift__ __rmatmul__ dtype device mT ndim shape size T
""".split()  # noqa: SIM905


@pytest.mark.parametrize("name", NAMES)
def test_namespace_has(name):
    assert hasattr(xp, name) and name in xp.__all__


def test_namespace_has_nothing_else():
    assert set(xp.__all__) - set(NAMES) == {"linalg", "fft"}
    extensions = {
        xp.linalg: "cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank "
        "matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm",
        xp.fft: "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift",
    }
    for extension, names in extensions.items():
        assert set(extension.__all__) == set(names.split()) and all(hasattr(extension, n) for n in names.split())


@pytest.mark.parametrize("name", METHODS)
def test_tensors_have(name):
    assert hasattr(rl.Tensor, name)


def test_namespace_of_a_tensor():
    x = rl.ones(2)
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match="1999"):
        x.__array_namespace__(api_version="1999")
    assert x.to_device(x.device) is x and x.to_device("cpu") is x
    with pytest.raises(ValueError, match="stream"):
        x.to_device("cpu", stream=1)


# -- against NumPy, whose main namespace follows the same standard --------------------------------------
RANDOM = np.random.default_rng(0)
FLOAT, INT, BOOL = RANDOM.standard_normal((3, 4, 2)), RANDOM.integers(-3, 4, (3, 4, 2)), RANDOM.random((3, 4, 2)) > 0.5
COMPLEX = FLOAT + 1j * RANDOM.standard_normal((3, 4, 2))
NATURAL = RANDOM.integers(0, 9, (3, 4, 2)).astype(np.uint8)
REPEATED = np.array([[3.0, 1, 3], [2, 1, np.nan]])

CASES = {
    "arange down": lambda m, a: m.arange(5, 1, -2),
    "arange empty": lambda m, a: m.arange(5, 1),
    "arange reals": lambda m, a: m.arange(1, 2, 0.25, dtype=m.float64),
    "argmax keepdims": lambda m, a: m.argmax(a(FLOAT), keepdims=True),
    "argmin": lambda m, a: m.argmin(a(FLOAT), axis=1),
    "argsort": lambda m, a: m.argsort(a(FLOAT), axis=0),
    "argsort of equals": lambda m, a: m.argsort(a(INT), axis=1, stable=True),
    "all of uint8": lambda m, a: m.all(a(NATURAL), axis=(0, 2), keepdims=True),
    "any": lambda m, a: m.any(a(BOOL), axis=1),
    "any of no axes": lambda m, a: m.any(a(INT), axis=()),
    "astype": lambda m, a: m.astype(a(FLOAT), m.int32),
    "bitwise_invert": lambda m, a: m.bitwise_invert(a(BOOL)),
    "broadcast_arrays": lambda m, a: list(m.broadcast_arrays(a(FLOAT), a(FLOAT[0]))),
    "broadcast_to": lambda m, a: m.broadcast_to(a(FLOAT[:1]), (3, 4, 2)),
    "clip": lambda m, a: m.clip(a(INT), -1, 2),
    "clip by arrays": lambda m, a: m.clip(a(FLOAT), a(FLOAT[0]), None),
    "concat": lambda m, a: m.concat([a(FLOAT), a(FLOAT)], axis=1),
    "concat flat": lambda m, a: m.concat([a(FLOAT), a(FLOAT[0])], axis=None),
    "conj": lambda m, a: m.conj(a(COMPLEX)),
    "cumulative_sum": lambda m, a: m.cumulative_sum(a(INT[0, 0])),
    "cumulative_sum from 0": lambda m, a: m.cumulative_sum(a(FLOAT), axis=-1, include_initial=True),
    "equal": lambda m, a: m.equal(a(INT), a(INT[0])),
    "expand_dims": lambda m, a: m.expand_dims(a(FLOAT), axis=-1),
    "eye": lambda m, a: m.eye(3, 4, k=1, dtype=m.float64),
    "eye outside": lambda m, a: m.eye(2, 2, k=-5, dtype=m.float64),
    "flip": lambda m, a: m.flip(a(FLOAT)),
    "flip one": lambda m, a: m.flip(a(FLOAT), axis=1),
    "full": lambda m, a: m.full(3, 4),
    "linspace": lambda m, a: m.linspace(1, 3, 5, endpoint=False, dtype=m.float64),
    "linspace complex": lambda m, a: m.linspace(1 + 1j, 3, 5, dtype=m.complex128),
    "max": lambda m, a: m.max(a(FLOAT), axis=(0, 2)),
    "max of no axes": lambda m, a: m.max(a(FLOAT), axis=()),
    "mean": lambda m, a: m.mean(a(FLOAT), keepdims=True),
    "meshgrid": lambda m, a: list(m.meshgrid(a(INT[0, 0]), a(INT[0, :, 0]))),
    "meshgrid ij": lambda m, a: list(m.meshgrid(a(INT[0, 0]), a(INT[0, :, 0]), indexing="ij")),
    "min": lambda m, a: m.min(a(INT), axis=-1, keepdims=True),
    "moveaxis": lambda m, a: m.moveaxis(a(FLOAT), (0, 1), (2, 0)),
    "nonzero": lambda m, a: m.nonzero(a(INT)),
    "permute_dims": lambda m, a: m.permute_dims(a(FLOAT), (2, 0, 1)),
    "prod": lambda m, a: m.prod(a(INT), axis=(0, 1), keepdims=True),
    "prod of all": lambda m, a: m.prod(a(FLOAT), keepdims=True),
    "prod of no axes": lambda m, a: m.prod(a(FLOAT), axis=()),
    "repeat": lambda m, a: m.repeat(a(FLOAT), 2),
    "repeat by array": lambda m, a: m.repeat(a(FLOAT), a(np.array([1, 0, 2])), axis=0),
    "reshape": lambda m, a: m.reshape(a(FLOAT), (-1, 6), copy=True),
    "roll": lambda m, a: m.roll(a(FLOAT), 2),
    "roll two": lambda m, a: m.roll(a(FLOAT), (1, 2), axis=(0, 1)),
    "round complex": lambda m, a: m.round(a(COMPLEX * 3)),
    "searchsorted": lambda m, a: m.searchsorted(a(np.array([1.0, 2, 3])), a(np.array([0.0, 2, 4])), side="right"),
    "sign complex": lambda m, a: m.sign(a(COMPLEX)),
    "squeeze": lambda m, a: m.squeeze(a(FLOAT[:1, :, :1]), axis=(0, -1)),
    "stack": lambda m, a: m.stack([a(FLOAT), a(FLOAT)], axis=-1),
    "std": lambda m, a: m.std(a(FLOAT), axis=0),
    "std of no axes": lambda m, a: m.std(a(FLOAT), axis=()),
    "sum": lambda m, a: m.sum(a(FLOAT), axis=(0, 2), keepdims=True),
    "sum of no axes": lambda m, a: m.sum(a(FLOAT), axis=()),
    "sum of int32": lambda m, a: m.sum(a(INT.astype(np.int32))),
    "sum of uint8": lambda m, a: m.sum(a(NATURAL), axis=0),
    "prod of uint8": lambda m, a: m.prod(a(NATURAL + np.uint8(1)), axis=(0, 1)),
    "cumulative_sum of uint8": lambda m, a: m.cumulative_sum(a(NATURAL), axis=1, include_initial=True),
    "take": lambda m, a: m.take(a(FLOAT), a(np.array([1, 0, 1])), axis=1),
    "take from a vector": lambda m, a: m.take(a(FLOAT[0, 0]), a(np.array([1, 0, 1]))),
    "tensordot": lambda m, a: m.tensordot(a(FLOAT), a(FLOAT), axes=((0, 1), (0, 1))),
    "tile": lambda m, a: m.tile(a(FLOAT), (2, 1, 1, 3)),
    "tril": lambda m, a: m.tril(a(FLOAT), k=-1),
    "unique_all": lambda m, a: m.unique_all(a(REPEATED)),
    "unique_counts": lambda m, a: m.unique_counts(a(INT)),
    "unique_inverse": lambda m, a: m.unique_inverse(a(INT)),
    "unique_values": lambda m, a: m.sort(m.unique_values(a(INT))),
    "unstack": lambda m, a: m.unstack(a(FLOAT), axis=1),
    "var": lambda m, a: m.var(a(FLOAT), axis=(0, 1), correction=1.5, keepdims=True),
    "vecdot": lambda m, a: m.vecdot(a(COMPLEX), a(COMPLEX[::-1].copy()), axis=-2),
    "where": lambda m, a: m.where(a(BOOL), a(FLOAT), a(FLOAT[0])),
}
SQUARE = FLOAT.reshape(6, 2, 2) @ FLOAT.reshape(6, 2, 2).swapaxes(1, 2) + np.eye(2)
CASES |= {
    "cholesky": lambda m, a: m.linalg.cholesky(a(SQUARE), upper=True),
    "cross": lambda m, a: m.linalg.cross(a(FLOAT), a(FLOAT[::-1].copy()), axis=0),
    "det": lambda m, a: m.linalg.det(a(SQUARE)),
    "diagonal": lambda m, a: m.linalg.diagonal(a(FLOAT), offset=1),
    "eigvalsh": lambda m, a: m.linalg.eigvalsh(a(SQUARE)),
    "eigenvalues": lambda m, a: m.linalg.eigh(a(SQUARE)).eigenvalues,
    "inv": lambda m, a: m.linalg.inv(a(SQUARE)),
    "matrix_norm": lambda m, a: m.linalg.matrix_norm(a(FLOAT), keepdims=True, ord=1),
    "matrix_power": lambda m, a: m.linalg.matrix_power(a(SQUARE), -2),
    "matrix_rank": lambda m, a: m.linalg.matrix_rank(a(FLOAT), rtol=1e-3),
    "outer": lambda m, a: m.linalg.outer(a(FLOAT[0, 0]), a(FLOAT[0, 1])),
    "pinv": lambda m, a: m.linalg.pinv(a(FLOAT)),
    "R": lambda m, a: m.linalg.qr(a(FLOAT), mode="complete").R ** 2,
    "slogdet": lambda m, a: m.linalg.slogdet(a(SQUARE)),
    "solve": lambda m, a: m.linalg.solve(a(SQUARE), a(FLOAT[0].T.copy())),
    "solve vector": lambda m, a: m.linalg.solve(a(SQUARE), a(FLOAT[0, 0])),
    "svdvals": lambda m, a: m.linalg.svdvals(a(FLOAT)),
    "S": lambda m, a: m.linalg.svd(a(FLOAT), full_matrices=False).S,
    "trace": lambda m, a: m.linalg.trace(a(INT.astype(np.int32)), offset=-1),
    "vector_norm": lambda m, a: m.linalg.vector_norm(a(FLOAT), axis=(0, 1), ord=3, keepdims=True),
    "fft": lambda m, a: m.fft.fft(a(COMPLEX), n=5, axis=0, norm="ortho"),
    "ifftn": lambda m, a: m.fft.ifftn(a(COMPLEX), axes=(0, 1)),
    "rfftn": lambda m, a: m.fft.rfftn(a(FLOAT), s=(2, 4), axes=(0, 1)),
    "irfft": lambda m, a: m.fft.irfft(a(COMPLEX), axis=1),
    "hfft": lambda m, a: m.fft.hfft(a(COMPLEX), n=6, axis=1, norm="forward"),
    "ihfft": lambda m, a: m.fft.ihfft(a(FLOAT), axis=1),
    "fftshift": lambda m, a: m.fft.fftshift(a(FLOAT), axes=1),
    "ifftshift": lambda m, a: m.fft.ifftshift(a(FLOAT)),
    "fftfreq": lambda m, a: m.astype(m.fft.fftfreq(5, d=0.25), m.float32),
    "rfftfreq": lambda m, a: m.astype(m.fft.rfftfreq(6), m.float32),
}
if np.lib.NumpyVersion(np.__version__) < "2.1.0":  # the first that follows 2023.12
    CASES.clear()


@pytest.mark.parametrize("name", CASES)
def test_equal_to_numpy(name):
    call = {"tril": lambda m, a: m.tril(a(FLOAT), -1), "eye": lambda m, a: m.eye(3, 4, 1, dtype=m.float64)}
    expected = call.get(name, CASES[name])(np, np.asarray)
    found = CASES[name](xp, lambda array: xp.from_dlpack(array.copy()))
    if isinstance(expected, (tuple, list)):
        assert isinstance(found, tuple if isinstance(expected, tuple) else list)
        if hasattr(expected, "_fields"):
            assert found._fields == expected._fields
    else:
        found, expected = [found], [expected]
    for a, b in zip(found, expected, strict=True):
        assert tuple(a.shape) == np.shape(b) and a.dtype.name == np.asarray(b).dtype.name
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-12, atol=1e-12)


# -- the rest -------------------------------------------------------------------------------------------
def test_asarray():
    x = rl.arange(3)
    assert xp.asarray(x) is x and xp.asarray(x, copy=False) is not None
    assert xp.asarray(x, copy=True).data_ptr() != x.data_ptr() and xp.asarray(x, dtype=xp.int8).dtype is xp.int8
    assert xp.asarray([[1, 2]]).dtype is xp.int64 and xp.asarray(True).dtype is xp.bool
    assert xp.astype(x, xp.int64, copy=False) is x and xp.astype(x, xp.int64).data_ptr() != x.data_ptr()


def test_data_types():
    assert xp.isdtype(xp.int8, "integral") and xp.isdtype(xp.uint8, ("bool", "unsigned integer"))
    assert not xp.isdtype(xp.bool, "numeric") and xp.isdtype(xp.float32, (xp.float64, xp.float32))
    with pytest.raises(ValueError, match="kind|expected"):
        xp.isdtype(xp.bool, "whole")
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.ones(1), xp.int64)
    assert xp.result_type(xp.ones(1), xp.float64) is xp.float64
    with pytest.raises(ValueError):
        xp.result_type()
    assert xp.finfo(xp.complex64).eps == 2**-23 and xp.iinfo(xp.ones(1, dtype=xp.int8)).max == 127


def test_inspection():
    info = xp.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True}
    assert info.devices() == [info.default_device()]
    assert info.default_dtypes()["complex floating"] is xp.complex64 and info.default_dtypes()["indexing"] is xp.int64
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert set(info.dtypes()) >= {"bool", "int8", "complex128"}


@pytest.mark.parametrize(
    "call",
    [
        lambda x: xp.squeeze(x, 0),
        lambda x: xp.cumulative_sum(x),
        lambda x: xp.take(x, xp.arange(1)),
        lambda x: xp.nonzero(x.sum()),
        lambda x: xp.reshape(x.mT, (6,), copy=False),
        lambda x: xp.meshgrid(x, indexing="no"),
        lambda x: xp.searchsorted(x[0], x[0], side="middle"),
    ],
)
def test_value_errors(call):
    with pytest.raises(ValueError):
        call(xp.ones((2, 3)))


def test_signatures_name_axis_and_keepdims():
    for name in ("sum", "prod", "max", "min", "mean", "std", "var", "all", "any", "argmax", "argmin"):
        parameters = inspect.signature(getattr(xp, name)).parameters
        assert parameters["axis"].kind is parameters["keepdims"].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters["x"].kind is inspect.Parameter.POSITIONAL_ONLY
