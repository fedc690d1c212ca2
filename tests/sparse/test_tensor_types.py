"""`sparse.FloatTensor` and its kin, as programs of 2018 to 2021 make adjacency matrices."""

import pytest

import rushlight as rl

I, V = rl.tensor([[0, 1], [1, 0]]), rl.tensor([1.0, 2.0])


@pytest.mark.filterwarnings("ignore:.*SparseTensor.*is deprecated")
def test_made_of_indices_values_and_a_size():
    made = rl.sparse.FloatTensor(I, V, rl.Size((2, 3)))
    assert made.is_sparse and made.to_dense().tolist() == [[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]]
    assert rl.sparse.FloatTensor(I, V).shape == (2, 2)
    assert rl.sparse.LongTensor(I, rl.tensor([1, 2])).dtype is rl.int64
    for arguments in ((2, 3), (rl.Size((2, 3)),)):
        empty = rl.sparse.DoubleTensor(*arguments)
        assert (empty.shape, empty.dtype, empty._nnz()) == ((2, 3), rl.float64, 0)
    assert rl.sparse.FloatTensor().shape == (0,)


@pytest.mark.filterwarnings("ignore:.*SparseTensor.*is deprecated")
def test_instances_are_sparse_and_of_the_dtype():
    made = rl.sparse.FloatTensor(I, V)
    assert isinstance(made, rl.sparse.FloatTensor) and not isinstance(made, rl.sparse.DoubleTensor)
    assert not isinstance(V, rl.sparse.FloatTensor) and not isinstance(made, rl.FloatTensor)
    assert isinstance(V, rl.FloatTensor)


def test_says_what_took_its_place():
    with pytest.warns(UserWarning, match="use rushlight.sparse_coo_tensor"):
        rl.sparse.FloatTensor(I, V)


@pytest.mark.parametrize("arguments", [([[0], [1]], [2.0]), (I, V, 2, 3), (I,)])
def test_wrong_arguments(arguments):
    with pytest.raises(TypeError, match="new.. received an invalid combination"):
        rl.sparse.FloatTensor(*arguments)
    with pytest.raises(RuntimeError, match="Long"):
        rl.sparse.FloatTensor(I.int(), V)


def test_former_names_of_products():
    adjacency, features = rl.sparse_coo_tensor(I, V, (2, 2)), rl.arange(6.0).reshape(2, 3)
    expected = adjacency.to_dense() @ features
    assert rl.equal(rl.spmm(adjacency, features), expected) and rl.equal(rl.dsmm(adjacency, features), expected)
    assert rl.equal(rl.hsmm(adjacency, features).to_dense(), expected)
    assert rl.equal(rl.saddmm(adjacency, adjacency, rl.eye(2)).to_dense(), 2 * adjacency.to_dense())
