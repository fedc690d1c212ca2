"""Steps over lists of parameters: planned one entry at a time, so that any number of them takes few traces."""

import time

import rushlight as torch
from rushlight.ops.optimizer import adam_step


def step_of(shapes) -> tuple[list, list]:
    """Parameters after two steps of Adam, all in one call and each in a call of its own."""
    together, apart = (
        [torch.nn.Parameter(torch.linspace(-1, 1, n * m).reshape(n, m)) for n, m in shapes] for _ in "ab"
    )
    one = torch.optim.Adam(together, lr=0.1, weight_decay=0.01, amsgrad=True)
    each = [torch.optim.Adam([p], lr=0.1, weight_decay=0.01, amsgrad=True) for p in apart]
    for _ in range(2):
        for p in (*together, *apart):
            p.grad = p.detach() * 0.5 + 1
        one.step()
        for optimizer in each:
            optimizer.step()
    return together, apart


def test_entries_are_updated_as_if_alone():
    for p, q in zip(*step_of([(3, 4), (1, 5), (7, 1), (1, 1), (40, 50), (0, 3), (3, 4)])):
        assert p.tolist() == q.tolist()


def test_mixed_layouts_and_dtypes():
    values = [torch.randn(6, 8).t(), torch.randn(4, dtype=torch.float64), torch.randn(2, 3, dtype=torch.complex64)]
    params = [torch.nn.Parameter(v.clone(memory_format=torch.preserve_format)) for v in values]
    optimizer = torch.optim.SGD(params, lr=0.5, momentum=0.9)
    for p in params:
        p.grad = torch.ones_like(p)
    optimizer.step()
    for p, v in zip(params, values):
        assert torch.equal(p, v - 0.5) and p.stride() == v.stride()


def test_structures_are_those_of_single_entries():
    """600 parameters, one of each shape, are planned in a fraction of a second."""
    before = sum(map(len, adam_step.structures.values()))
    params = [torch.nn.Parameter(torch.ones(2 + i % 30, 3 + i // 30)) for i in range(600)]
    for p in params:
        p.grad = torch.ones_like(p)
    optimizer = torch.optim.Adam(params)
    start = time.perf_counter()
    optimizer.step()
    assert time.perf_counter() - start < 2
    assert sum(map(len, adam_step.structures.values())) <= before + 2
