"""Reading and writing by index, order and scans, at a million elements and at sixteen."""

from __future__ import annotations

from .registry import normal, workload

FLOOR, AIM = 0.7, 1


def whole(T, high: int, *shape):
    """Whole numbers in [0, high)."""
    import numpy as np

    return T.from_numpy(np.random.default_rng(1).integers(0, high, shape))


def both(name: str, make) -> None:
    """A workload at 1M and at 16M elements: `make(T, rows)` for rows of 1024."""
    for size in (1, 16):
        workload(f"{name}, {size}M", FLOOR, AIM)(lambda T, rows=size * 1024: make(T, rows))


def gather(T, rows: int):
    x, index = normal(T, rows, 1024), whole(T, 1024, rows, 1024)
    return lambda: x.gather(1, index)


def scatter_add(T, rows: int):
    x, index, source = T.zeros(rows, 1024), whole(T, 1024, rows, 1024), normal(T, rows, 1024)
    return lambda: x.scatter_add(1, index, source)


def index_select(T, rows: int):
    x, index = normal(T, rows, 1024), whole(T, rows, rows)
    return lambda: x.index_select(0, index)


def index_add(T, rows: int):
    x, index, source = normal(T, rows, 1024), whole(T, rows, rows), normal(T, rows, 1024)
    return lambda: x.index_add(0, index, source)


def masked_select(T, rows: int):
    x = normal(T, rows, 1024)
    mask = x > 0
    return lambda: x.masked_select(mask)


def nonzero(T, rows: int):
    x = normal(T, rows, 1024) > 0
    return lambda: x.nonzero()


def sort(T, rows: int):
    x = normal(T, rows, 1024)
    return lambda: x.sort(-1)


def sort_flat(T, rows: int):
    x = normal(T, rows * 1024)
    return lambda: x.sort()


def topk(T, rows: int):
    x = normal(T, rows, 1024)
    return lambda: x.topk(10, -1)


def cumsum(T, rows: int):
    x = normal(T, rows, 1024)
    return lambda: x.cumsum(-1)


def cumsum_down(T, rows: int):
    x = normal(T, rows, 1024)
    return lambda: x.cumsum(0)


def unique(T, rows: int):
    x = whole(T, 1000, rows * 1024)
    return lambda: T.unique(x)


def searchsorted(T, rows: int):
    edges, x = T.linspace(-3, 3, 1001), normal(T, rows, 1024)
    return lambda: T.searchsorted(edges, x)


def bincount(T, rows: int):
    x = whole(T, 1000, rows * 1024)
    return lambda: T.bincount(x)


def embedding(T, rows: int):
    table, index = normal(T, 10_000, 256), whole(T, 10_000, rows * 4)
    return lambda: T.nn.functional.embedding(index, table)


for _name, _make in {
    "gather": gather,
    "scatter_add": scatter_add,
    "index_select": index_select,
    "index_add": index_add,
    "masked_select": masked_select,
    "nonzero": nonzero,
    "sort rows": sort,
    "sort": sort_flat,
    "topk": topk,
    "cumsum": cumsum,
    "cumsum down": cumsum_down,
    "unique": unique,
    "searchsorted": searchsorted,
    "bincount": bincount,
    "embedding": embedding,
}.items():
    both(_name, _make)


@workload("embedding_bag, 2048 bags of 10", FLOOR, AIM)
def embedding_bag(T):
    table, index, offsets = normal(T, 10_000, 64), whole(T, 10_000, 20_480), T.arange(0, 20_480, 10)
    return lambda: T.nn.functional.embedding_bag(index, table, offsets, mode="sum")


@workload("grid_sample 4x16x64x64", FLOOR, AIM)
def grid_sample(T):
    x, grid = normal(T, 4, 16, 64, 64), T.rand(4, 64, 64, 2) * 2 - 1
    return lambda: T.nn.functional.grid_sample(x, grid, align_corners=False)
