"""Errors of indices out of bounds name the number that the user gave."""

import pickle

import pytest

import rushlight as rl

F = rl.nn.functional
A, M = rl.arange(20.0), rl.zeros(4, 5)


def at(*places):
    return rl.tensor(places)


CASES = {
    "x[i], from the end": (lambda: A[at(-21)], "index -21 is out of bounds for dimension 0 with size 20"),
    "x[i]": (lambda: A[at(20)], "index 20 is out of bounds for dimension 0 with size 20"),
    "x[i, j]": (lambda: M[at(0), at(-6)], "index -6 is out of bounds for dimension 1 with size 5"),
    "x[i] = v": (lambda: A.__setitem__(at(-21), 1), "index -21 is out of bounds for dimension 0 with size 20"),
    "index_put": (lambda: A.index_put((at(-25),), at(1.0)), "index -25 is out of bounds for dimension 0 with size 20"),
    "index_fill": (lambda: A.index_fill(0, at(-21), 1.0), "index -21 is out of bounds for dimension 0 with size 20"),
    "take": (lambda: A.take(at(-21)), "tried to access index -21 on a tensor of 20 elements"),
    "put_": (lambda: M.put_(at(3, 600), at(1.0, 1.0)), "tried to access index 600 on a tensor of 20 elements"),
    "put": (lambda: M.put(at(-21), at(1.0)), "tried to access index -21 on a tensor of 20 elements"),
    "take_along_dim": (lambda: rl.take_along_dim(A, at(-22), 0), "index -22 is out of bounds"),
    "gather": (lambda: A.gather(0, at(-1)), "index -1 is out of bounds for dimension 0 with size 20"),
    "scatter": (lambda: A.scatter(0, at(-2), 1.0), "index -2 is out of bounds for dimension 0 with size 20"),
    "cross_entropy": (lambda: F.cross_entropy(rl.zeros(2, 3), at(1, 4)), r"^Target 4 is out of bounds\.$"),
    "nll_loss": (lambda: F.nll_loss(rl.zeros(2, 3), at(1, -4)), r"^Target -4 is out of bounds\.$"),
    "embedding_bag": (
        lambda: F.embedding_bag(at(0, 1, 2), M, at(0, 2, 1)),
        "offsets must be non-negative and non-decreasing, but 1 follows 2 at position 2",
    ),
    "embedding_bag, rows": (lambda: F.embedding_bag(at(0, 7), M, at(0, 1)), "index 7 is out of bounds"),
    "vmap": (
        lambda: rl.vmap(lambda i: A.take(i))(rl.tensor([[1], [99]])),
        "tried to access index 99 on a tensor of 20 elements",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_messages(name):
    call, message = CASES[name]
    with pytest.raises(IndexError, match=message) as caught:
        call()
    assert isinstance(caught.value, RuntimeError) and type(caught.value).__name__ == "IndexError"


def test_errors_of_kernels_can_be_pickled_and_have_names_that_users_know():
    with pytest.raises(IndexError) as caught:
        A[at(20)]
    assert type(pickle.loads(pickle.dumps(caught.value))) is IndexError
    with pytest.raises(ZeroDivisionError) as caught:
        rl.arange(3) // 0
    assert isinstance(caught.value, RuntimeError) and type(caught.value).__name__ == "RuntimeError"
    assert type(pickle.loads(pickle.dumps(caught.value))) is RuntimeError


@pytest.mark.parametrize("dtype", [rl.int16, rl.uint8, rl.float32])
def test_empty_indices_of_any_dtype_name_nothing(dtype):
    nothing = rl.zeros(0, dtype=dtype)
    assert A.gather(0, nothing).shape == (0,)
    for written in (A.scatter(0, nothing, 1.0), A.scatter_add(0, nothing, rl.zeros(0))):
        assert written.equal(A)
    assert A.scatter_reduce(0, nothing, rl.zeros(0), "sum").equal(A)
    with pytest.raises(RuntimeError, match="int32/int64"):
        A.gather(0, rl.zeros(1, dtype=dtype))
