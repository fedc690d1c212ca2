"""Products of bytes against NumPy: every block of rows and panels, depths, strides, the widened form."""

import numpy as np
import pytest

import rushlight as rl
from rushlight.compiler import byte_dot as kernel
from rushlight.ir.primitives.byte_dot import byte_dot
from rushlight.ops.declare import op


@op(public=False)
def product_of_bytes(a, w):
    return byte_dot(a, w)


def panels(w):
    n, k = w.shape
    return np.ascontiguousarray(w.reshape(n // 16, 16, k // 4, 4).transpose(0, 2, 1, 3))


def sample(m, k, n):
    random = np.random.default_rng(m + k + n)
    a, w = random.integers(0, 256, (m, k)).astype("uint8"), random.integers(-128, 128, (n, k)).astype("int8")
    return a, w, a.astype("int32") @ w.T.astype("int32")


@pytest.mark.parametrize("m, k, n", [(1, 4, 16), (6, 8, 64), (7, 64, 80), (13, 100, 48), (5, 0, 16), (0, 4, 16)])
def test_products(m, k, n):
    a, w, expected = sample(m, k, n)
    assert (product_of_bytes(rl.from_numpy(a), rl.from_numpy(panels(w))).numpy() == expected).all()


def test_extremes_do_not_saturate():
    a, w = np.full((2, 64), 255, "uint8"), np.full((16, 64), -128, "int8")
    found = product_of_bytes(rl.from_numpy(a), rl.from_numpy(panels(w)))
    assert (found.numpy() == -128 * 255 * 64).all()


def test_strided_rows():
    a, w, expected = sample(14, 8, 16)
    wide = np.zeros((14, 12), "uint8")
    wide[:, 2:10] = a
    view = rl.from_numpy(wide)[::2, 2:10]
    assert (product_of_bytes(view, rl.from_numpy(panels(w))).numpy() == expected[::2]).all()
    assert (product_of_bytes(rl.from_numpy(a.T.copy()).t(), rl.from_numpy(panels(w))).numpy() == expected).all()


def test_batches():
    a, w, expected = sample(6, 8, 16)
    w = rl.from_numpy(panels(w))
    found = rl.vmap(lambda rows: product_of_bytes(rows, w))(rl.from_numpy(a).view(2, 3, 8))
    assert (found.reshape(6, 16).numpy() == expected).all()


@op(public=False)
def widened_product(a, w):
    return byte_dot(a, w)


def test_widened_form(monkeypatch):
    """What processors without the instruction run."""
    monkeypatch.setattr(kernel, "has_instruction", lambda: False)
    a, w, expected = sample(7, 64, 80)
    assert (widened_product(rl.from_numpy(a), rl.from_numpy(panels(w))).numpy() == expected).all()
    a, w = np.full((2, 64), 255, "uint8"), np.full((80, 64), -128, "int8")
    assert (widened_product(rl.from_numpy(a), rl.from_numpy(panels(w))).numpy() == -128 * 255 * 64).all()


def test_operands_are_checked():
    a, w = rl.zeros(2, 8, dtype=rl.uint8), rl.zeros(1, 2, 16, 4, dtype=rl.int8)
    for wrong in ((a.int(), w), (a, w.to(rl.uint8)), (a[:, :4], w), (a, w.view(2, 1, 16, 4))):
        with pytest.raises(RuntimeError, match="byte_dot"):
            product_of_bytes(*wrong)


def test_batches_of_weights():
    (a, w, first), b = sample(6, 8, 16), sample(6, 8, 32)[0]
    v = -np.maximum(w, -127)
    weights = rl.from_numpy(np.stack([panels(w), panels(v)]))
    rows = rl.from_numpy(np.stack([a, b]))
    expected = np.stack([first, b.astype("int32") @ v.T.astype("int32")])
    assert (rl.vmap(product_of_bytes)(rows, weights).numpy() == expected).all()
    alone = rl.vmap(lambda each: product_of_bytes(rows[0], each))(weights).numpy()
    assert (alone == np.stack([first, a.astype("int32") @ v.T.astype("int32")])).all()
