"""Rows of the table of ops: reading and writing at indices."""

import numpy as np

from ..op_samples import ALL, REAL, Row, rows


def scatter(extra=({},)):
    """Writing along a dim at places that an index names, once each."""
    return lambda x: [
        (
            x(4, 3),
            dim,
            x.distinct(*shape, high=shape[-1]) if dim else x.distinct(3, 4, high=4).T.copy()[:2],
            x(*shape),
            *more,
        )
        for (dim, shape) in ((1, (4, 3)), (0, (2, 3)))
        for more in extra
    ]


def along(*more):
    """Writing slices of a dim at places that a 1-d index names."""
    return lambda x: [
        (x(4, 3), 0, x.distinct(2, high=4), x(2, 3), *more),
        (x(2, 4), -1, x.distinct(3, high=4), x(2, 3), *more),
    ]


INDEXING = [
    Row(
        "reduce_segments",
        lambda x: (
            [(x(5, 3), np.array([0, 2, 2, 5]), kind) for kind in ("sum", "prod")]
            + [(x(5, 3), np.array([0, 2, 5]), "mean", 2.0), (x.spaced(5), np.array([0, 4, 5]), "max")]
        ),
        "fh",
        larger=False,
    ),
    Row(
        "take_at",
        lambda x: [(x(4, 3), [x.index(2, 2, high=4)], 0), (x(4, 3), [x.index(5, high=4), x.index(5, high=3)], 0)],
        ALL,
    ),
    Row(
        "put_at",
        lambda x: [
            (x(4, 3), [x.distinct(2, high=4)], x(2, 3), 0),
            (x(4, 3), [x.index(5, high=4), x.index(5, high=3)], x(5), 0, True),
        ],
        ALL,
    ),
    *rows("fill_masked fill_both", lambda x: [(x(3, 4), x.mask(3, 4), x.number(2.0)), (x(3, 4), x.mask(4), x())], ALL),
    Row("masked_scatter", lambda x: [(x(3, 4), x.mask(3, 4), x(12))], ALL, larger=False),
    Row(
        "gather",
        lambda x: [
            (x(3, 4), 1, x.index(3, 2, high=4)),
            (x(3, 4), 0, x.index(5, 4, high=3)),
            (x(3, 4), 1, x.index(3, 0, high=4)),
        ],
        ALL,
    ),
    Row(
        "index_select",
        lambda x: [(x(3, 4), 1, x.index(5, high=4)), (x(3, 4), 0, x.index(0, high=3)), (x(3), 0, x.index(high=3))],
        ALL,
    ),
    Row("take", lambda x: [(x(3, 4), x.index(2, 3, high=12, low=-12)), (x(3), x.index(0, high=3))], ALL),
    Row("scatter_set", scatter(), ALL),
    Row(
        "scatter_add",
        lambda x: [(x(3, 4), 1, x.index(3, 5, high=4), x(3, 5)), (x(3, 4), 0, x.index(2, 4, high=3), x(3, 4))],
        ALL,
    ),
    Row(
        "scatter_reduce",
        lambda x: [
            (x(3, 4), 1, x.index(3, 5, high=4), x.spaced(3, 5, low=1, high=3), r, {"include_self": s})
            for r, s in (("sum", True), ("prod", False), ("mean", True), ("amax", False), ("amin", True))
        ],
        REAL,
    ),
    Row(
        "index_add",
        lambda x: [
            (x(4, 3), 0, x.index(5, high=4), x(5, 3)),
            (x(2, 4), -1, x.index(3, high=4), x(2, 3), {"alpha": x.number(2.0)}),
        ],
        ALL,
    ),
    Row("index_copy", along(), ALL),
    Row(
        "fill_slices",
        lambda x: [(x(4, 3), 0, x.distinct(2, high=4), x.number(2.0)), (x(3, 4), 1, x.distinct(2, high=4), x())],
        ALL,
    ),
    Row(
        "index_reduce",
        lambda x: [
            (x(4, 3), 0, x.index(5, high=4), x.spaced(5, 3, low=1, high=3), r, {"include_self": s})
            for r, s in (("prod", True), ("mean", False), ("amax", True), ("amin", False))
        ],
        REAL,
    ),
    Row(
        "put",
        lambda x: [(x(3, 4), x.distinct(3, high=12), x(3)), (x(3, 4), x.index(5, high=12), x(5), {"accumulate": True})],
        ALL,
    ),
    Row(
        "put_places",
        lambda x: [(x(3, 4), x.distinct(3, high=12), x(3), False), (x(3, 4), x.index(5, high=12), x(5), True)],
        ALL,
    ),
    Row("select_scatter", lambda x: [(x(3, 4), x(3), 1, 2), (x(3, 4), x(4), 0, -1)], ALL),
    Row("slice_scatter", lambda x: [(x(3, 4), x(3, 2), 1, 1, 4, 2), (x(3, 4), x(1, 4), 0, 2)], ALL, larger=False),
    Row("diagonal_scatter", lambda x: [(x(3, 4), x(3)), (x(2, 3, 4), x(2, 3), 1, 1, 2)], ALL),
    Row("embedded", lambda x: [(x(5, 3), x.index(2, 4, high=5)), (x(5, 3), x.index(4, high=5), 1, True)]),
    Row("gather_along", lambda x: [(x(3, 4), 1, x.index(3, 2, high=4, low=-4))], ALL),
    Row(
        "even_bags",
        lambda x: [
            (x(5, 3), x.index(2, 4, high=5), None, "mean", 1, False),
            (x(5, 3), x.index(2, 4, high=5), x(2, 4), "sum", -1, False),
            (x.spaced(5, 3), x.index(2, 4, high=5), None, "max", -1, False),
        ],
        grad="1",
    ),
    Row(
        "ragged_bags",
        lambda x: [
            (x(5, 3), x.index(6, high=5), np.array([0, 2, 5]), None, "mean", -1, False, False),
            (x(5, 3), x.index(6, high=5), np.array([0, 2, 6]), x(6), "sum", 1, False, True),
        ],
        grad="1",
        layouts=False,
        larger=False,
    ),
    Row("positions_along", lambda x: [(x.mask(3, 4),)], "f"),
]

ROWS = [*INDEXING]
