"""`assert_close`: tensors, numbers and containers of them, equal up to tolerances that fit their dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ..core.engine import Tensor
from ..ir import dtypes
from ..ops.declare import FUNCTIONS

# relative and absolute tolerance
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


class Options:
    """What counts as close."""

    def __init__(
        self, rtol, atol, equal_nan: bool, check_dtype: bool, check_stride: bool, allow_subclasses: bool,
        check_layout: bool = True,
    ):  # fmt: skip
        if (rtol is None) != (atol is None):
            raise ValueError(
                f"rtol and atol must both be specified or both be unspecified, but got {rtol=} and {atol=}"
            )
        self.rtol, self.atol, self.equal_nan = rtol, atol, equal_nan
        self.check_dtype, self.check_stride, self.allow_subclasses = check_dtype, check_stride, allow_subclasses
        self.check_layout = check_layout

    def tolerances(self, actual: Tensor, expected: Tensor) -> tuple[float, float]:
        if self.rtol is not None:
            return self.rtol, self.atol
        both = [_TOLERANCES.get(t.dtype.name, (0.0, 0.0)) for t in (actual, expected)]
        return max(r for r, _ in both), max(a for _, a in both)


def assert_close(
    actual,
    expected,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless |actual - expected| <= atol + rtol·|expected| everywhere.

    Takes tensors, Python numbers, NumPy arrays, and sequences and mappings of them. Tolerances follow the dtype
    unless both
    are given: exact for integers, (1.3e-6, 1e-5) for float32, (1e-7, 1e-7) for float64.

    equal_nan     NaN equals NaN
    check_stride  strides must agree
    msg           replaces the error's message, or maps the usual one to another

    >>> rushlight.testing.assert_close(rushlight.tensor(1.0), rushlight.tensor(1.0 + 1e-7))
    """
    options = Options(rtol, atol, equal_nan, check_dtype, check_stride, allow_subclasses, check_layout)
    fault = compare(actual, expected, options, "")
    if fault is not None:
        raise AssertionError(fault if msg is None else msg(fault) if callable(msg) else msg)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg="") -> None:
    """The old name of `assert_close`, without the check of dtypes."""
    if rtol is None and atol is None:
        rtol, atol = _TOLERANCES.get(getattr(getattr(actual, "dtype", None), "name", "float32"), (0.0, 0.0))
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )


def compare(actual, expected, options: Options, where: str) -> str | None:
    """What is wrong, or None. `where` is the place within containers."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        return compare_mappings(actual, expected, options, where)
    if is_sequence(actual) and is_sequence(expected):
        return compare_sequences(actual, expected, options, where)
    if actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}{place(where)}"
    if isinstance(actual, (int, float, complex)) and isinstance(expected, (int, float, complex)):
        return compare_numbers(actual, expected, options, where)
    if is_string(actual) or is_string(expected):
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.")
    if not options.allow_subclasses and type(actual) is not type(expected):
        return f"types differ: {type(actual)} and {type(expected)}{place(where)}"
    both = [as_tensor(value) for value in (actual, expected)]
    return compare_tensors(*both, options, where)


def is_string(value) -> bool:
    return isinstance(value, (str, bytes))


def is_sequence(value) -> bool:
    return isinstance(value, Sequence) and not is_string(value)


def place(where: str) -> str:
    return f"\n\nThe failure occurred for item {where}" if where else ""


def as_tensor(value) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "__array_interface__"):
        return FUNCTIONS["as_tensor"](value)
    if isinstance(value, (int, float, complex)):
        return FUNCTIONS["tensor"](value)
    raise TypeError(f"No comparison pair was able to handle inputs of type {type(value)}.")


def compare_mappings(actual, expected, options: Options, where: str) -> str | None:
    if set(actual) != set(expected):
        missing, more = sorted(map(str, set(expected) - set(actual))), sorted(map(str, set(actual) - set(expected)))
        return (
            f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {missing}\n"
            f"Additional keys: {more}"
        )
    for key in expected:
        fault = compare(actual[key], expected[key], options, f"{where}[{key!r}]")
        if fault is not None:
            return fault
    return None


def compare_sequences(actual, expected, options: Options, where: str) -> str | None:
    if len(actual) != len(expected):
        return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{place(where)}"
    for i, (a, e) in enumerate(zip(actual, expected)):
        fault = compare(a, e, options, f"{where}[{i}]")
        if fault is not None:
            return fault
    return None


def compare_numbers(actual, expected, options: Options, where: str) -> str | None:
    if options.check_dtype and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}.{place(where)}"
    kinds = {int: (0.0, 0.0), bool: (0.0, 0.0), float: (1e-7, 1e-7), complex: (1e-7, 1e-7)}
    rtol, atol = (
        (options.rtol, options.atol) if options.rtol is not None else max(kinds[type(actual)], kinds[type(expected)])
    )
    if actual == expected or (options.equal_nan and actual != actual and expected != expected):
        return None
    apart = abs(actual - expected)
    if apart <= atol + rtol * abs(expected) and math.isfinite(apart):
        return None
    return (
        f"Scalars are not close!\n\nExpected {expected!r} but got {actual!r}.\nAbsolute difference: {apart} (up to "
        f"{atol} allowed)\n"
        f"Relative difference: {apart / abs(expected) if expected else math.inf} (up to {rtol} allowed){place(where)}"
    )


def compare_tensors(actual: Tensor, expected: Tensor, options: Options, where: str) -> str | None:
    if actual.shape != expected.shape:
        return f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}.{place(where)}"
    if actual.is_quantized != expected.is_quantized:
        return (
            f"The values for attribute 'is_quantized' do not match: {actual.is_quantized} != {expected.is_quantized}."
            + place(where)
        )
    if options.check_layout and actual.layout is not expected.layout:
        return f"The values for attribute 'layout' do not match: {actual.layout} != {expected.layout}.{place(where)}"
    if options.check_dtype and actual.dtype is not expected.dtype:
        return f"The values for attribute 'dtype' do not match: {actual.dtype} != {expected.dtype}.{place(where)}"
    if options.check_stride and actual.stride() != expected.stride():
        return (
            f"The values for attribute 'stride()' do not match: {actual.stride()} != {expected.stride()}.{place(where)}"
        )
    if actual.is_quantized:
        fault = compare_tensors(actual.dequantize(), expected.dequantize(), options, where)
        return fault and fault.replace("Tensor-likes are", "Quantized tensor-likes are")
    if actual._layout.sparse or expected._layout.sparse:
        return compare_sparse(actual, expected, options, where)
    rtol, atol = options.tolerances(actual, expected)
    close, apart, size = closeness(actual.detach(), expected.detach(), rtol, atol, options.equal_nan)
    if bool(close.all()):
        return None
    return describe(close, apart, size, rtol, atol) + place(where)


def compare_sparse(actual: Tensor, expected: Tensor, options: Options, where: str) -> str | None:
    """Sparse tensors hold the same number of elements, at the same places, of close values; layouts that differ may not
    matter (`check_layout=False`): then all elements count."""
    from ..sparse.pickling import state_of

    if actual.layout is not expected.layout:
        return compare_tensors(actual.to_dense(), expected.to_dense(), options, where)
    kind = str(actual.layout).rpartition("_")[2].upper()
    parts = [state_of(x.detach().coalesce() if kind == "COO" else x.detach())[2] for x in (actual, expected)]
    counts = [values.shape[0] for *_, values in parts]
    if counts[0] != counts[1]:
        return (
            f"The number of specified values in sparse {kind} tensors does not match: {counts[0]} != {counts[1]}"
            + place(where)
        )
    for index, (a, e) in enumerate(zip(*parts)):
        fault = compare_tensors(a, e, options, where)
        if fault is not None:
            what = "values" if index == len(parts[0]) - 1 else "indices"
            return fault.replace("Tensor-likes are", f"Sparse {kind} {what} are")
    return None


def closeness(actual: Tensor, expected: Tensor, rtol: float, atol: float, equal_nan: bool) -> tuple:
    """(is close, distance, expected size), element by element."""
    common = FUNCTIONS["promote_types"](actual.dtype, expected.dtype)
    if common.kind == "b" or common.kind in "iu":
        common = dtypes.int64
    actual, expected = actual.to(common), expected.to(common)
    same = actual == expected
    if equal_nan:
        same = same | ((actual != actual) & (expected != expected))
    apart, size = (actual - expected).abs(), expected.abs()
    if rtol or atol:
        same = same | (FUNCTIONS["isfinite"](expected) & (apart <= atol + rtol * size))
    return same, apart, size


def describe(close: Tensor, apart: Tensor, size: Tensor, rtol: float, atol: float) -> str:
    """How many elements differ, and the greatest differences with their places."""
    shape, bad, total = tuple(close.shape), int((~close).sum()), close.numel()
    apart = FUNCTIONS["where"](close, 0, apart).to(dtypes.float64)
    relative = FUNCTIONS["where"](close, 0.0, apart / size.to(dtypes.float64))
    lines = ["Scalars are not close!" if not shape else "Tensor-likes are not close!", ""]
    if shape:
        lines.append(f"Mismatched elements: {bad} / {total} ({bad / total:.1%})")
    for word, value, allowed in (("absolute", apart, atol), ("relative", relative, rtol)):
        at = int(FUNCTIONS["argmax"](value))
        at_text = f" at index {unraveled(at, shape)}" if shape else ""
        lines.append(f"Greatest {word} difference: {value.reshape(-1)[at].item()}{at_text} (up to {allowed} allowed)")
    return "\n".join(lines)


def unraveled(position: int, shape: tuple) -> tuple:
    index = []
    for n in reversed(shape):
        index.append(position % n)
        position //= n
    return tuple(reversed(index))
