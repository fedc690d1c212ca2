"""Rows of the table of ops: reductions, scans, order, bins."""

import numpy as np

import rushlight as rl

from ..op_samples import ALL, Row, along_dim, reduction, rows

REDUCTION = [
    Row("sum", lambda x: [*reduction()(x), (x(3, 4), {"dtype": rl.float64})], ALL),
    Row("nansum", reduction(), "fhib"),
    Row("mean", reduction(), "fhc"),
    Row("nanmean", reduction(), "fh"),
    Row("prod", reduction(0.5, 2, several=False), ALL),
    *rows("amax amin", reduction(empty=False), "fhib"),
    Row("both_extremes", reduction(several=False, empty=False), "fhib"),
    *rows("argmax argmin", reduction(several=False, empty=False), "fhi"),
    *rows("max_along min_along", lambda x: [(x(3, 4), 1), (x(2, 3, 4), -2, True), (x(), 0)], "fhib"),
    *rows("max_all min_all", lambda x: [(x(3, 4),), (x(),), (x(5),)], "fhib"),
    *rows("any all", reduction(), ALL),
    Row("count_nonzero", lambda x: [(x(3, 4),), (x(3, 4), 1), (x(2, 3, 4), (0, 2)), (x(0, 3), 1)], ALL),
    *rows(
        "var_of std_of var_mean_of std_mean_of",
        lambda x: [(x(3, 4), None, 1, False), (x(2, 3, 4), (0, 2), 0, True)],
        "fhc",
    ),
    Row("logsumexp", lambda x: [(x(3, 4), 1), (x(2, 3, 4), (0, 2), True), (x(), 0), (x(3, 0), 1)], "fhib"),
    Row(
        "norm_of",
        lambda x: [
            (x(3, 4), float(p), dim, False, None, order)
            for p, dim, order in (
                (2, 1, 2),
                (1, None, 1),
                (3, 0, "p"),
                (float("inf"), 1, "inf"),
                (0, 1, 0),
                (0.5, 1, "p"),
            )
        ],
        "fhc",
        rtol=3e-5,
    ),
    *rows(
        "softmax log_softmax softmin_of",
        lambda x: [(x(3, 4), 1), (x(2, 3, 4), -2), (x(), 0), (x(0, 3), 1), (x(3, 0), 1)],
    ),
]

ORDER = [
    Row("cumsum", along_dim(), ALL),
    Row("cumprod", along_dim(), ALL),
    Row("logcumsumexp", along_dim(), "fh", rtol=3e-5),
    *rows("cummax_with_places cummin_with_places", lambda x: [(x.spaced(3, 4), 1), (x.spaced(2, 3, 4), 0)], "fhi"),
    Row("diff", lambda x: [(x(5),), (x(3, 4), 2, 0), (x(3), 1, -1, x(2), x(1))], ALL),
    *rows(
        "trapezoid cumulative_trapezoid",
        lambda x: [(x(3, 4),), (x(3, 4), x(4)), (x(3, 4), {"dx": 0.5, "dim": 0})],
        "fh",
    ),
    *rows("argsort sorted_with_places", lambda x: [(x.spaced(3, 4),), (x.spaced(2, 3, 4), 1, True)], "fhib"),
    Row("msort", lambda x: [(x.spaced(3, 4),)], "fhib"),
    Row("largest_with_places", lambda x: [(x.spaced(3, 5), 2), (x.spaced(5, 3), 3, 0, False)], "fhi"),
    Row("kth_with_place", lambda x: [(x.spaced(3, 5), 2), (x.spaced(5, 3), 3, 0, True)], "fhi"),
    *rows("median_along nanmedian_along", lambda x: [(x.spaced(3, 5), 1), (x.spaced(4, 3), 0, True)], "fhi"),
    *rows("median_all nanmedian_all", lambda x: [(x.spaced(3, 5),), (x.spaced(4),)], "fhi"),
    Row("mode_along", lambda x: [(x.spaced(3, 5),), (x.spaced(4, 3), 0, True)], "fhib"),
    Row(
        "quantiles",
        lambda x: [
            (x.spaced(3, 5), x.fixed(2, low=0.1, high=0.9), 1, False, "linear"),
            (x.spaced(3, 5), x.fixed(2, low=0.1, high=0.9), None, True, "nearest"),
        ],
        "f",
        others=False,
    ),
    Row("covariance", lambda x: [(x(3, 5), None, None, 1)], "fh", others=False),
    Row(
        "searched",
        lambda x: [(np.sort(x(5)), x(3, 2), True, False), (np.sort(x(2, 5)), x(2, 3), False, True)],
        "fhi",
        others=False,
    ),
    Row("tallied", lambda x: [(x.index(6, high=4), x(6), 4), (x.index(6, high=4), None, 4)], "f"),
    Row("binned", lambda x: [(x(10), -1.0, 1.0, 4), (x(10), -1.0, 1.0, 4, x(10))], "f", grad=""),
    Row(
        "binned_between",
        lambda x: [(x(10), np.sort(x(5)), x(10, low=0), d) for d in (True, False)],
        "f",
        grad="",
        others=False,
    ),
    Row("among", lambda x: [(x(3, 4), x(2), False), (x(3, 4), x(4), True)], "fhib"),
    Row("hot", lambda x: [(x.index(3, high=4), 5)], "f"),
]

ROWS = [*REDUCTION, *ORDER]
