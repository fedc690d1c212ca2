"""Optimizers with sparse gradients: only rows that were used move, as the dense rule says."""

import pytest

import rushlight as rl

PLACES = rl.tensor([[1, 4], [1, 2]])
REFUSING = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD", "Adadelta"]


def table(sparse=True):
    made = rl.nn.Embedding(6, 2, sparse=sparse)
    with rl.no_grad():
        made.weight.copy_(rl.arange(12.0).reshape(6, 2) / 10)
    return made


def trained(make, sparse, steps=4):
    embedding = table(sparse)
    optimizer = make(embedding.parameters())
    for step in range(steps):
        optimizer.zero_grad()
        (embedding((PLACES + step) % 6) * rl.arange(8.0).reshape(2, 2, 2)).sum().backward()
        assert embedding.weight.grad.is_sparse is sparse
        optimizer.step()
    return embedding.weight.detach()


@pytest.mark.parametrize(
    "make",
    [
        lambda p: rl.optim.SGD(p, lr=0.1),
        lambda p: rl.optim.SGD(p, lr=0.1, maximize=True),
        lambda p: rl.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.1),
        lambda p: rl.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        lambda p: rl.optim.Adagrad(p, lr=0.1, lr_decay=0.1),
        lambda p: rl.optim.Adagrad(p, lr=0.1, initial_accumulator_value=1, maximize=True),
    ],
)
def test_as_with_dense_gradients(make):
    rl.testing.assert_close(trained(make, True), trained(make, False))


def test_sparse_adam_is_adam_where_every_row_is_used():
    def run(make, sparse):
        embedding = table(sparse)
        optimizer = make(embedding.parameters())
        for step in range(4):
            optimizer.zero_grad()
            (embedding(rl.arange(6)) ** 2 * (step + 1)).sum().backward()
            optimizer.step()
        return embedding.weight.detach()

    ours = run(lambda p: rl.optim.SparseAdam(p, lr=0.1, betas=(0.8, 0.9)), True)
    rl.testing.assert_close(
        ours, run(lambda p: rl.optim.Adam(p, lr=0.1, betas=(0.8, 0.9)), False), rtol=1e-5, atol=1e-6
    )


def test_sparse_adam_moves_only_what_the_gradient_holds():
    weight = rl.nn.Parameter(rl.ones(4, 2))
    optimizer = rl.optim.SparseAdam([weight], lr=0.1)
    weight.grad = rl.sparse_coo_tensor([[1, 1]], rl.ones(2, 2), (4, 2))
    optimizer.step()
    assert weight.tolist() == [[1.0, 1.0], [pytest.approx(0.9)] * 2, [1.0, 1.0], [1.0, 1.0]]
    assert (
        optimizer.state[weight]["step"] == 1
        and optimizer.state[weight]["exp_avg"][1].tolist() == [pytest.approx(0.2)] * 2
    )
    other = rl.optim.SparseAdam([weight], lr=0.1)
    other.load_state_dict(optimizer.state_dict())
    assert other.state[weight]["step"] == 1
    weight.grad = rl.sparse_coo_tensor(rl.zeros(1, 0, dtype=rl.int64), rl.zeros(0, 2), (4, 2))
    optimizer.step()
    assert optimizer.state[weight]["step"] == 2


@pytest.mark.parametrize("name", REFUSING)
def test_others_refuse(name):
    weight = rl.nn.Parameter(rl.ones(4, 2))
    weight.grad = rl.sparse_coo_tensor([[1]], rl.ones(1, 2), (4, 2))
    with pytest.raises(RuntimeError, match="does not support sparse gradients"):
        getattr(rl.optim, name)([weight]).step()
    assert weight.tolist() == [[1.0] * 2] * 4


def test_errors():
    weight = rl.nn.Parameter(rl.ones(4, 2))
    weight.grad = rl.ones(4, 2)
    with pytest.raises(RuntimeError, match="dense gradients, please consider Adam"):
        rl.optim.SparseAdam([weight]).step()
    with pytest.raises(ValueError, match="requires dense parameter tensors"):
        rl.optim.SparseAdam([rl.nn.Parameter(rl.eye(2).to_sparse())])
    for options in ({"lr": 0.0}, {"eps": 0.0}, {"betas": (1.0, 0.9)}, {"betas": (0.9, 1.0)}):
        with pytest.raises(ValueError, match="Invalid"):
            rl.optim.SparseAdam([weight], **options)
    weight.grad = rl.sparse_coo_tensor([[1]], rl.ones(1, 2), (4, 2))
    for optimizer in (rl.optim.SGD([weight], weight_decay=0.1), rl.optim.Adagrad([weight], weight_decay=0.1)):
        with pytest.raises(RuntimeError, match="weight_decay"):
            optimizer.step()


def test_mixed_gradients_and_zero_grad():
    a, b = rl.nn.Parameter(rl.ones(3, 2)), rl.nn.Parameter(rl.ones(2))
    optimizer = rl.optim.SGD([a, b], lr=0.5)
    a.grad, b.grad = rl.sparse_coo_tensor([[2]], rl.ones(1, 2), (3, 2)), rl.ones(2)
    optimizer.step()
    assert a.tolist() == [[1.0, 1.0], [1.0, 1.0], [0.5, 0.5]] and b.tolist() == [0.5, 0.5]
    optimizer.zero_grad(set_to_none=False)
    assert a.grad.is_sparse and a.grad._nnz() == 0 and b.grad.tolist() == [0.0, 0.0]
