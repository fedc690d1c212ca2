"""Making sparse tensors: what is checked, what is shared, sizes that no dense tensor could have."""

import math

import pytest

import rushlight as rl

I, V = rl.tensor([[0, 1, 1], [2, 0, 2]]), rl.tensor([3.0, 4.0, 5.0])
HUGE = (10**9, 10**9)


def test_a_sparse_tensor_is_a_tensor():
    s = rl.sparse_coo_tensor(I, V, (2, 3))
    assert isinstance(s, rl.Tensor) and s.is_sparse and s.layout is rl.sparse_coo and isinstance(s.layout, rl.layout)
    assert (s.shape, s.dtype, s.device.type, s.ndim, s.numel()) == ((2, 3), rl.float32, "cpu", 2, 6)
    assert s._values().data_ptr() == V.data_ptr() and s._indices().data_ptr() == I.data_ptr()
    assert s.detach()._values().data_ptr() == V.data_ptr()


@pytest.mark.parametrize(
    "indices, values, size, message",
    [
        ([[0, -1]], [1.0, 2.0], (2,), "found negative index -1 for dim 0"),
        ([[0, 5]], [1.0, 2.0], (2,), "for dim 0, size is 2 but found index 5"),
        ([[0, 1], [0, 3]], [1.0, 2.0], (2, 3), "for dim 1, size is 3 but found index 3"),
        ([[0, 1]], [1.0, 2.0, 3.0], (2,), "must have same nnz"),
        ([[0, 1]], [[1.0, 2.0]] * 2, (2,), "len.size. == sparse_dim"),
        ([[0, 1]], [[1.0, 2.0]] * 2, (2, 3), "values has incorrect size"),
        ([0, 1], [1.0, 2.0], (2,), "indices must be sparse_dim x nnz"),
        ([[0]], [1.0], (-2,), "inconsistent with indices|negative dimension"),
        ([[0], [0]], [1.0], (10**10, 10**10), "integer multiplication overflow"),
        ([[-1]], [1.0], None, "found negative index"),
        ([[0, 1]], 1.0, (2,), "at least one dimension"),
    ],
)
def test_wrong_coordinates(indices, values, size, message):
    with pytest.raises(RuntimeError, match=message):
        rl.sparse_coo_tensor(indices, values, size)


@pytest.mark.parametrize(
    "crow, col, values, size, message",
    [
        ([0, 1, 3], [0, 1], [1.0, 2.0], (2, 2), r"\[..., -1\] == nnz"),
        ([0, 2, 1, 2], [0, 1], [1.0, 2.0], (3, 2), "`0 <= crow_indices"),
        ([1, 1, 2], [0, 1], [1.0, 2.0], (2, 2), r"\[..., 0\] == 0"),
        ([0, 1, 2], [0, 5], [1.0, 2.0], (2, 2), "`0 <= col_indices < 2`"),
        ([0, 1, 2], [0, -1], [1.0, 2.0], (2, 2), "`0 <= col_indices < 2`"),
        ([0, 1], [0, 1], [1.0, 2.0], (2, 2), "number of rows"),
        ([0, 1, 2], [0, 1], [1.0], (2, 2), "same nnz"),
        ([0.0, 1, 2], [0, 1], [1.0, 2.0], (2, 2), "int32 or int64"),
        ([0, 1, 2], [0, 1], [1.0, 2.0], (2,), "does not fit"),
        ([[0, 1]], [[0]], [[1.0]], (1, 1, 1), "batches"),
        (rl.tensor([0, 1], dtype=rl.int32), [0], [1.0], (1, 1), "same dtype"),
    ],
)
def test_wrong_compressed_rows(crow, col, values, size, message):
    with pytest.raises(RuntimeError, match=message):
        rl.sparse_csr_tensor(crow, col, values, size)


def test_order_is_checked_when_asked_for():
    unordered = ([0, 2], [1, 0], [1.0, 2.0], (1, 2))
    assert rl.sparse_csr_tensor(*unordered).to_dense().tolist() == [[2.0, 1.0]]
    with pytest.raises(RuntimeError, match="sorted and distinct"):
        rl.sparse_csr_tensor(*unordered, check_invariants=True)
    with rl.sparse.check_sparse_tensor_invariants():
        with pytest.raises(RuntimeError, match="sorted and distinct"):
            rl.sparse_csr_tensor(*unordered)
        rl.sparse_csr_tensor(*unordered, check_invariants=False)
    with pytest.raises(RuntimeError, match="lexicographic order"):
        rl.sparse_coo_tensor([[1, 0]], [1.0, 2.0], (2,), is_coalesced=True, check_invariants=True)
    assert not rl.sparse.check_sparse_tensor_invariants.is_enabled()


def test_blocks_are_refused():
    for make in (rl.sparse_bsr_tensor, rl.sparse_bsc_tensor):
        with pytest.raises(NotImplementedError, match="block layouts"):
            make([0, 1], [0], rl.ones(1, 1, 1), (1, 1))
    with pytest.raises(NotImplementedError, match="block layouts"):
        rl.ones(2, 2).to_sparse(layout=rl.sparse_bsr, blocksize=(1, 1))
    with pytest.raises(RuntimeError, match="none"):
        rl.sparse_compressed_tensor([0, 1], [0], [1.0], (1, 1))


def test_sizes_that_no_dense_tensor_has():
    s = rl.sparse_coo_tensor([[5, 10**9 - 1, 5], [7, 0, 7]], [1.0, 2.0, 3.0], HUGE)
    c = s.coalesce()
    assert c.indices().tolist() == [[5, 10**9 - 1], [7, 0]] and c.values().tolist() == [4.0, 2.0]
    assert s.numel() == 10**18 and s.sum().item() == 6.0 and (s + s * 2).coalesce().values().tolist() == [12.0, 6.0]
    assert (c * c).values().tolist() == [16.0, 4.0] and s.t().coalesce().values().tolist() == [2.0, 4.0]
    assert (s @ s.t()).coalesce().values().tolist() == [16.0, 4.0] and s[5]._nnz() == 2
    assert rl.equal(s, c) and "size=(1000000000, 1000000000)" in repr(s)
    held = rl.sparse_coo_tensor([[3, 7, 9], [1, 2, 2]], [0.0, 1.0, 0.0], s.shape)
    bare = rl.sparse_coo_tensor([[7], [2]], [1.0], s.shape)
    assert rl.equal(held, bare) and not rl.equal(held, bare * 2) and not rl.equal(bare * math.nan, bare * math.nan)
    s.requires_grad_()
    (s * 2).sum().backward()
    assert s.grad.coalesce().values().tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError):
        s.to_dense()


@pytest.mark.parametrize("dtype", [rl.int8, rl.int64, rl.bool, rl.float16, rl.bfloat16, rl.float64, rl.complex64])
def test_dtypes(dtype):
    values = rl.tensor([1, 0, 1]).to(dtype)
    s = rl.sparse_coo_tensor([[0, 1, 0], [1, 1, 1]], values, (2, 2))
    expected = rl.zeros(2, 2, dtype=dtype)
    expected[0, 1] = rl.tensor(2).to(dtype)
    for x in (s, s.coalesce(), s.to_sparse_csr(), s.to_sparse_csc(), expected.to_sparse()):
        assert x.dtype is dtype and rl.equal(x.to_dense(), expected)
    if dtype is not rl.bool:
        matrix = rl.arange(6).reshape(2, 3).to(dtype)
        assert rl.equal(s @ matrix, (expected.to(rl.complex64) @ matrix.to(rl.complex64)).to(dtype))


def test_empty_ones():
    for size in ((0, 3), (3, 0), (0,), (2, 3)):
        e = rl.sparse_coo_tensor(size=size, indices=rl.zeros(len(size), 0, dtype=rl.int64), values=rl.zeros(0))
        assert rl.equal(e.to_dense(), rl.zeros(size)) and e.is_coalesced() and (e + e)._nnz() == 0
        assert e.sum().item() == 0 and (e * 2).sin()._nnz() == 0 and rl.equal((e * e).to_dense(), rl.zeros(size))
    e = rl.zeros(2, 0).to_sparse()
    assert (e @ rl.zeros(0, 3)).tolist() == [[0.0] * 3] * 2 and (rl.zeros(3, 2) @ e).shape == (3, 0)
    assert rl.sparse.softmax(rl.zeros(2, 2).to_sparse(), 1)._nnz() == 0


def test_hybrid_ones():
    values = rl.arange(12.0).reshape(3, 2, 2)
    h = rl.sparse_coo_tensor([[0, 2, 0]], values, (3, 2, 2))
    assert (h.sparse_dim(), h.dense_dim(), h._nnz()) == (1, 2, 3)
    assert h.coalesce().values().tolist() == [[[8.0, 10.0], [12.0, 14.0]], [[4.0, 5.0], [6.0, 7.0]]]
    assert rl.equal(h.to_dense()[2], values[1]) and rl.equal((h * 2 + h).to_dense(), 3 * h.to_dense())
    assert rl.equal(h.select(2, 1).to_dense(), h.to_dense().select(2, 1)) and rl.equal(h[0], values[0] + values[2])


def test_elements_that_are_moved_behind_our_back():
    """The indices are the user's memory: what they become is checked by whoever reads them."""
    crow, col = rl.tensor([0, 1, 2]), rl.tensor([0, 1])
    s = rl.sparse_csr_tensor(crow, col, [1.0, 2.0], (2, 2))
    col[1] = 10**12
    for call in (lambda: s @ rl.ones(2, 3), lambda: s @ rl.ones(2), s.to_dense, lambda: s * rl.ones(2, 2)):
        with pytest.raises(IndexError, match="out of bounds"):
            call()
    col[1], crow[1] = 1, -7
    with pytest.raises(IndexError, match="out of bounds"):
        s @ rl.ones(2, 3)
    crow[1], crow[2] = 1, 10**9
    with pytest.raises(IndexError, match="out of bounds"):
        s @ rl.ones(2, 3)
    places = rl.tensor([[0, 1]])
    t = rl.sparse_coo_tensor(places, [1.0, 2.0], (2,))
    places[0, 1] = 10**12
    with pytest.raises(IndexError):
        t.to_dense()
