"""Products by kernels against dense ones: every width of a row, dtypes, indices of both sizes, threads."""

import pytest

import rushlight as rl
from rushlight.sparse.rows import multiplied, rows_of, sampled

WIDTHS = [1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 130]


def matrix(rows, columns, dtype=rl.float32, density=0.2):
    """(a sparse matrix with some empty rows and a full one, the same in memory)"""
    dense = rl.randint(-4, 5, (rows, columns)).to(dtype) * (rl.rand(rows, columns) < density).to(dtype)
    dense[rows // 2] = 3
    dense[0] = 0
    return dense.to_sparse_csr(), dense


@pytest.mark.parametrize("dtype", [rl.float32, rl.float64, rl.int64, rl.int32, rl.int8, rl.bfloat16, rl.complex64])
@pytest.mark.parametrize("index", [rl.int64, rl.int32])
def test_products(dtype, index):
    s, dense = matrix(13, 29, dtype)
    s = rl.sparse_csr_tensor(s.crow_indices().to(index), s.col_indices().to(index), s.values(), s.shape)
    wide = rl.complex128 if dtype is rl.complex64 else rl.float64
    for width in WIDTHS:
        right = rl.randint(-3, 4, (29, width)).to(dtype)
        assert rl.equal(s @ right, (dense.to(wide) @ right.to(wide)).to(dtype)), width
        assert rl.equal(s @ right.t().contiguous().t(), s @ right)
        rows, _ = rows_of(s)
        left = rl.randint(-3, 4, (13, width)).to(dtype)
        pairs = left[rows.numbers].to(wide) * right[rows.places.long()].to(wide)
        assert rl.equal(sampled(rows, left, right), pairs.sum(1).to(dtype))


def test_results_do_not_depend_on_threads():
    s, dense = matrix(700, 300)
    right = rl.randn(300, 40)
    rl.set_num_threads(1)
    one, rows = s @ right, rows_of(s)[0]
    first = sampled(rows, rl.ones(700, 40), right)
    rl.set_num_threads(2)
    assert rl.equal(s @ right, one) and rl.equal(sampled(rows, rl.ones(700, 40), right), first)
    rl.testing.assert_close(one, dense @ right, rtol=1e-4, atol=1e-4)


def test_the_transpose_knows_its_order():
    s, dense = matrix(6, 5)
    rows, values = rows_of(s)
    other, order = rows.transposed
    assert rl.equal(multiplied(other, values[order], rl.eye(6)), dense.t())
    back, inverse = other.transposed
    assert back is rows and rl.equal(values[order][inverse], values)


def test_operands_that_do_not_fit():
    s, _ = matrix(4, 3)
    for right, message in (
        (rl.ones(4, 2), "cannot be multiplied"),
        (rl.ones(3, 2).double(), "same dtype"),
        (rl.ones(()), "not supported"),
    ):
        with pytest.raises(RuntimeError, match=message):
            s @ right
    with pytest.raises(RuntimeError, match="reduce argument"):
        rl.sparse.mm(s, rl.ones(3, 2), "prod")
    with pytest.raises(RuntimeError, match="CSR"):
        rl.sparse.sampled_addmm(s.to_sparse(), rl.ones(4, 2), rl.ones(2, 3))
