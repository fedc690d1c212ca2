"""Every op of the table against the interpreter, over dtypes, layouts, forms, and finite differences to second order."""

import numpy as np
import pytest
from rushlight.core.engine import Op, Tensor

import rushlight as rl
from rushlight.autograd.forward_mode import directional
from rushlight.autograd.gradcheck import gradcheck, gradgradcheck
from rushlight.ops import FUNCTIONS, METHODS, OPS
from rushlight.ops.titles import TITLES

from .op_reference import in_numpy, reference
from .op_samples import Fixed, LargeMaker
from .op_table import EXCEPTIONS, TABLE

REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
TOLERANCE = {"f": 1.0, "d": 1e-7, "c": 3.0, "z": 1e-7, "h": 2000.0}  # of the row's rtol


def rows(suits=lambda row, op: True):
    """The parameter of a test: the rows that it says something about, by row and op."""
    found = [row for row in TABLE if row.name in OPS and suits(row, OPS[row.name])]
    return pytest.mark.parametrize("row", found, ids=lambda row: row.name)


def has_gradient(row, op, letter="f"):
    return row.grad != "" and letter in row.dtypes


def has_in_place(row, op):
    return hasattr(op, "in_place")


# -- arguments --------------------------------------------------------------------------------------
def mapped(value, function):
    """`function` of every array in an argument."""
    if isinstance(value, list):
        return [mapped(v, function) for v in value]
    return function(value) if isinstance(value, np.ndarray) else value


def arranged(array, layout):
    """The array in another layout: same numbers, except for "expanded"."""
    fixed, array = isinstance(array, Fixed), np.asarray(array)
    if layout == "transposed":
        array = np.ascontiguousarray(array.T).T if array.ndim > 1 else array
    elif layout == "strided" and array.ndim:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
        wide[..., 1::2] = array
        array = wide[..., 1::2]
    elif layout == "expanded" and array.ndim and array.shape[0] > 1:
        array = np.broadcast_to(array[:1], array.shape)
    return array.view(Fixed) if fixed else array


def tensors_of(call, letter, layout="contiguous", gradient=False):
    """A call's arguments as tensors."""

    def convert(array):
        source = np.asarray(arranged(array, layout))
        tensor = rl.from_numpy(source.copy() if layout == "contiguous" else source)
        if letter == "h" and source.dtype == "float32":
            tensor = tensor.bfloat16()
        if gradient and tensor.is_floating_point() | tensor.is_complex() and not isinstance(array, Fixed):
            tensor.requires_grad_()
        return tensor

    args = [mapped(v, convert) for v in call[:-1]]
    return args, {name: mapped(v, convert) for name, v in call[-1].items()}


def flat_tensors(args, kwargs):
    found = []
    for value in (*args, *kwargs.values()):
        found += (
            [v for v in value if isinstance(v, Tensor)]
            if isinstance(value, list)
            else [value] * isinstance(value, Tensor)
        )
    return found


def replaced(args, kwargs, supply):
    """The arguments with their tensors taken from `supply`, in the order of `flat_tensors`."""

    def put(value):
        if isinstance(value, list):
            return [put(v) for v in value]
        return next(supply) if isinstance(value, Tensor) else value

    return [put(v) for v in args], {name: put(v) for name, v in kwargs.items()}


def as_list(result):
    return [r for r in (result if isinstance(result, (tuple, list)) else [result]) if r is not None]


# -- comparison -------------------------------------------------------------------------------------
def check(found, expected, dtypes, row, letter):
    assert [t.dtype for t in found] == dtypes
    for tensor, array in zip(found, expected, strict=True):
        assert tuple(tensor.shape) == array.shape
        got = in_numpy(tensor)
        if tensor.is_floating_point() or tensor.is_complex():
            half = tensor.dtype is rl.bfloat16
            scale = np.max(np.abs(array), initial=0, where=np.isfinite(array))
            rtol = row.rtol * TOLERANCE["h" if half else letter if letter in "dzc" else "f"]
            np.testing.assert_allclose(got, array, rtol=rtol, atol=rtol * min(scale, 10) / 2)
        else:
            np.testing.assert_array_equal(got, array)


def compare(row, call, letter, layout="contiguous"):
    """Run a call and its reference; the inputs must stay as they are."""
    op = OPS[row.name]
    args, kwargs = tensors_of(call, letter, layout)
    expected, dtypes = reference(op, args, kwargs)
    before = [t.tolist() for t in flat_tensors(args, kwargs)]
    found = as_list(op(*args, **kwargs))
    check(found, expected, dtypes, row, letter)
    after = [t.tolist() for t in flat_tensors(args, kwargs)]
    assert repr(before) == repr(after), "an input was written"  # repr: NaN is equal to itself there
    return found


# -- tests --------------------------------------------------------------------------------------------
def test_every_public_op_has_a_row():
    named = {row.name for row in TABLE}
    public = {f.declaration.name for f in (*FUNCTIONS.values(), *METHODS.values()) if isinstance(f, Op)}
    assert public - named - set(EXCEPTIONS) == set(), "ops without a row in tests/ops/op_table.py"
    assert named - set(OPS) == set(), "rows for ops that are not declared"
    assert len(named) == len(TABLE), "an op has two rows"
    assert set(EXCEPTIONS) <= set(OPS) - named, "exceptions for ops that have a row or are not declared"


def test_titles_belong_to_ops():
    assert set(TITLES) <= set(OPS), "names in ops/titles.py that no op has"


@rows()
def test_values(row):
    for call in row.calls(row.dtypes[0]):
        compare(row, call, row.dtypes[0])


@rows(lambda row, op: row.larger)
def test_larger(row):
    """The first samples with sizes that fill vectors and leave tails."""
    for call in row.calls(row.dtypes[0], LargeMaker)[:2]:
        compare(row, call, row.dtypes[0])


@rows()
def test_dtypes(row):
    """The first sample in every other dtype: right for those the row promises, right or refused for the rest.

    Double precision is what the gradients are checked in.
    """
    for letter in "fhcib":
        promised = letter in row.dtypes
        if letter == row.dtypes[0] or not (promised or row.others):
            continue
        try:
            compare(row, row.calls(letter)[0], letter)
        except REFUSALS:
            if promised:
                raise


@rows(lambda row, op: row.layouts)
@pytest.mark.parametrize("layout", ["transposed", "strided", "expanded"])
def test_layouts(row, layout):
    for call in row.calls(row.dtypes[0])[: 2 if layout == "transposed" else 1]:
        compare(row, call, row.dtypes[0], layout)


@rows(has_in_place)
def test_in_place(row):
    op = OPS[row.name]
    for call in row.calls(row.dtypes[0])[:2]:
        args, kwargs = tensors_of(call, row.dtypes[0])
        target = args[0]
        if not isinstance(target, Tensor):
            continue
        (expected, *_), (dtype, *_) = reference(op, args, kwargs)
        if expected.shape != tuple(target.shape) or dtype.itemsize > target.dtype.itemsize:
            with pytest.raises(RuntimeError):
                op.in_place(*args, **kwargs)
            continue
        version = target._version
        result = op.in_place(*args, **kwargs)
        assert result is target and target._version == version + 1
        wanted = expected.astype(in_numpy(target).dtype)
        check([target], [wanted], [target.dtype], row, row.dtypes[0])


@rows(lambda row, op: op.accepts_out)
def test_out(row):
    op = OPS[row.name]
    args, kwargs = tensors_of(row.calls(row.dtypes[0])[0], row.dtypes[0])
    expected = op(*args, **kwargs)
    for resized in (False, True):
        outs = [rl.empty((0,) if resized else tuple(e.shape), dtype=e.dtype) for e in as_list(expected)]
        given = outs[0] if isinstance(expected, Tensor) else tuple(outs)
        found = op(*args, **kwargs, out=given)
        assert all(a is b for a, b in zip(as_list(found), outs, strict=True))
        assert repr([t.tolist() for t in outs]) == repr([t.tolist() for t in as_list(expected)])


def differentiable_calls(row, letter):
    """Functions of tensors, and the tensors, for the samples that have derivatives."""
    op = OPS[row.name]
    for call in row.calls(letter):
        args, kwargs = tensors_of(call, letter, gradient=True)
        tensors = flat_tensors(args, kwargs)
        if not any(t.requires_grad and t.numel() for t in tensors):
            continue

        def function(*given, args=args, kwargs=kwargs):
            positional, named = replaced(args, kwargs, iter(given))
            return tuple(as_list(op(*positional, **named)))

        yield function, tensors


@rows(has_gradient)
def test_gradients(row):
    for i, (function, tensors) in enumerate(differentiable_calls(row, "d")):  # the first also to second order
        outputs = function(*tensors)
        if not any(y.is_floating_point() or y.is_complex() for y in outputs):
            assert not any(y.requires_grad for y in outputs)
            return
        gradcheck(function, tensors)
        if row.grad == "2" and i == 0 and any(y.requires_grad for y in outputs):
            gradgradcheck(function, tensors, fast_mode=True, atol=1e-4)


@rows(has_gradient)
def test_forward_mode(row):
    """Forward and reverse mode are transposes of each other: v·(J·u) = (v·J)·u."""
    for function, tensors in list(differentiable_calls(row, "d"))[:1]:
        outputs = [y for y in function(*tensors) if y.requires_grad]
        moving = {i: rl.randn_like(t.detach()) for i, t in enumerate(tensors) if t.requires_grad}
        cotangents = [rl.randn_like(y.detach()) for y in outputs]
        if outputs:
            pulled = rl.autograd.grad(outputs, [tensors[i] for i in moving], cotangents, materialize_grads=True)
            pushed = [t for y, t in directional(function, tuple(tensors), moving) if y.requires_grad]
            forward = sum((v.conj() * t.detach()).real.sum().item() for v, t in zip(cotangents, pushed, strict=True))
            reverse = sum((g * u).sum().item() for g, u in zip(pulled, moving.values(), strict=True))
            assert forward == pytest.approx(reverse, rel=1e-6, abs=1e-9)


@rows(lambda row, op: has_gradient(row, op, "c"))
def test_complex_gradients(row):
    for function, tensors in list(differentiable_calls(row, "z"))[:1]:
        if any(y.requires_grad for y in function(*tensors)):
            gradcheck(function, tensors, fast_mode=True)


@rows(lambda row, op: has_gradient(row, op) and has_in_place(row, op))
def test_in_place_gradients(row):
    """The in-place form records the same derivative."""
    op = OPS[row.name]
    args, kwargs = tensors_of(row.calls("d")[0], "d", gradient=True)
    tensors = flat_tensors(args, kwargs)
    if not any(t.requires_grad for t in tensors) or not op(*args, **kwargs).requires_grad:
        return

    def function(*given):
        positional, named = replaced(args, kwargs, iter(given))
        return op.in_place(positional[0] * 1.0, *positional[1:], **named)

    gradcheck(function, tensors, fast_mode=True)
