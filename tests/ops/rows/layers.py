"""Rows of the table of ops: normalizations, losses, convolutions and other windows."""

import numpy as np

from ..op_samples import ALL, Row, pooling, rows


def conv(dims, transposed=False):
    """A convolution: plain, with every option, without a batch."""
    shape, kernel = (6, 5, 4)[:dims], (3, 2, 2)[:dims]
    options = {"stride": 2, "padding": 1, "dilation": 1, "groups": 2, **({"output_padding": 1} if transposed else {})}
    weight, grouped = ((4, 2), (4, 1)) if transposed else ((2, 4), (2, 2))
    return lambda x: [
        (x(2, 4, *shape), x(*weight, *kernel), x(2)),
        (x(1, 4, *shape), x(*grouped, *kernel), options),
        (x(4, *shape), x(*weight, *kernel), None, {"dilation": 2} if dims == 1 else {}),
    ]


def loss(low=-2.0, high=2.0, target_low=-2.0, target_high=2.0, **options):
    """A loss against targets of the input's shape, with each reduction."""
    return lambda x: [
        (x(3, 4, low=low, high=high), x(3, 4, low=target_low, high=target_high), {"reduction": r, **options})
        for r in ("mean", "sum", "none")
    ]


NORMALIZATION = [
    Row(
        "batch_norm_eval",
        lambda x: [(x(2, 3, 4), x.fixed(3), x.fixed(3, low=1), x(3), x(3)), (x(2, 3), x.fixed(3), x.fixed(3, low=1))],
        others=False,
    ),
    Row("batch_norm_train", lambda x: [(x(4, 3, 5), x(3), x(3)), (x(5, 3),)], rtol=1e-4),
    Row(
        "layer_norm_of",
        lambda x: [(x(3, 4), (4,), x(4), x(4)), (x(2, 3, 4), (3, 4)), (x(3, 4), (4,), x(4))],
        rtol=1e-4,
        larger=False,
    ),
    Row("group_norm_of", lambda x: [(x(2, 4, 3), 2, x(4), x(4)), (x(2, 4, 3, 2), 4)], rtol=1e-4, larger=False),
    Row("rms_norm_of", lambda x: [(x(3, 4), (4,), x(4)), (x(2, 3, 4), (3, 4))], rtol=1e-4, larger=False),
    Row("local_response_norm", lambda x: [(x(2, 5, 4), 3), (x(2, 4, 3, 3), 2, 0.1, 0.5, 2.0)]),
    Row("normalized", lambda x: [(x(3, 4), p, 1, 1e-12, o) for p, o in ((2.0, 2), (1.0, 1), (3.0, "p"))], rtol=1e-4),
    *rows("cosine_similarity distance_of", lambda x: [(x(3, 4), x(3, 4)), (x(2, 4), x(4))], rtol=1e-4),
    Row("limited", lambda x: [(x(4, 3), 1.0, 2.0)], grad="", rtol=1e-4),
]

LOSS = [
    *rows("mse_of l1_of smooth_l1_of huber_of", loss()),
    Row("nll_of", lambda x: [(x(4, 3), x.index(4, high=3)), (x(2, 3, 4), x.index(2, 4, high=3), x.fixed(3), 1, "sum")]),
    Row(
        "cross_entropy_classes",
        lambda x: [
            (x(4, 3), x.index(4, high=3)),
            (x(4, 3), x.index(4, high=3), x.fixed(3, low=1), 1, "sum", 0.1),
            (x(2, 3, 4), x.index(2, 4, high=3), None, -100, "none"),
        ],
    ),
    Row(
        "cross_entropy_probabilities",
        lambda x: [(x(4, 3), x(4, 3, low=0)), (x(4, 3), x(4, 3, low=0), x.fixed(3), "none", 0.1)],
    ),
    Row(
        "bce_of",
        lambda x: [
            (x(3, 4, low=0.1, high=0.9), x.fixed(3, 4, low=0, high=1), w, r)
            for w, r in ((None, "mean"), (x.fixed(4), "none"))
        ],
        rtol=3e-5,
    ),
    Row(
        "bce_with_logits_of",
        lambda x: [
            (x(3, 4), x(3, 4, low=0, high=1), w, p, r)
            for w, p, r in ((None, None, "mean"), (x.fixed(4), x.fixed(4, low=1), "sum"))
        ],
        rtol=3e-5,
    ),
    Row("kl_div_of", lambda x: [(x(3, 4), x(3, 4, low=0.1), "sum"), (x(3, 4), x(3, 4), "none", True)]),
    Row(
        "poisson_nll_of",
        lambda x: [
            (x(3, 4), x(3, 4, low=0.1), True, False, 1e-8, "mean"),
            (x(3, 4, low=0.5), x(3, 4, low=0.1), False, True, 1e-8, "sum"),
        ],
    ),
    Row("gaussian_nll_of", lambda x: [(x(3, 4), x(3, 4), x(3, 4, low=0.5), f, 1e-6, "mean") for f in (True, False)]),
    Row("soft_margin_of", lambda x: [(x(3, 4), x.mask(3, 4) * 2.0 - 1, "sum")]),
    Row("hinge_embedding_of", lambda x: [(x(3, 4), x.mask(3, 4) * 2.0 - 1, 1.0, "sum")]),
    Row(
        "margin_ranking_of",
        lambda x: [
            (x(4), x(4), x.mask(4) * 2.0 - 1, 0.5, "mean"),
            (x(3, 4), x(3, 4), x.mask(3, 4) * 2.0 - 1, 0.0, "none"),
        ],
    ),
    Row("cosine_embedding_of", lambda x: [(x(3, 4), x(3, 4), x.mask(3) * 2.0 - 1, 0.1, r) for r in ("mean", "none")]),
    Row(
        "multi_margin_of",
        lambda x: [
            (x(4, 3), x.index(4, high=3), p, 0.7, w, r) for p, w, r in ((1, None, "sum"), (2, x.fixed(3), "none"))
        ],
    ),
    Row(
        "multilabel_margin_of",
        lambda x: [(x(3, 4), np.array([[0, 2, -1, 1], [3, -1, 0, 0], [1, 0, 2, 3]]), "sum")],
        larger=False,
    ),
    Row(
        "multilabel_soft_margin_of",
        lambda x: [(x(3, 4), x(3, 4, low=0, high=1), w, "none") for w in (None, x.fixed(4))],
    ),
]

WINDOWS = [
    *(Row(f"conv{n}d", conv(n), "fhc" if n < 3 else "fh", larger=False) for n in (1, 2, 3)),
    *(Row(f"conv_transpose{n}d", conv(n, transposed=True), larger=False) for n in (1, 2, 3)),
    *(Row(f"max_pool{n}d_with_indices", pooling(n), larger=False) for n in (1, 2, 3)),
    *(Row(f"avg_pool{n}d", pooling(n, count_include_pad=False), larger=False) for n in (1, 2, 3)),
    *(
        Row(f"adaptive_avg_pool{n}d", lambda x, n=n: [(x(2, 3, *(5, 6, 4)[:n]), (2, 4, 3)[:n])], larger=False)
        for n in (1, 2, 3)
    ),
    *(
        Row(
            f"adaptive_max_pool{n}d_with_indices",
            lambda x, n=n: [(x.spaced(2, 3, *(5, 6, 4)[:n]), (2, 4, 3)[:n])],
            larger=False,
        )
        for n in (1, 2, 3)
    ),
    Row("constant_pad", lambda x: [(x(2, 3), (1, 2, 0, 1), x.number(1.0)), (x(3, 4), (-1, 2)), (x(0, 3), (1, 1))], ALL),
    Row("edge_pad", lambda x: [(x(2, 3, 4), (1, 2), m) for m in ("reflect", "replicate", "circular")], ALL),
    Row(
        "resampled",
        lambda x: [
            (x(1, 2, 4, 5), (3, 7), (None, None), "nearest", False),
            (x(1, 2, 4, 5), (3, 7), (None, None), "bilinear", True),
            (x(1, 2, 4, 5), (3, 7), (None, None), "bicubic", False),
        ],
    ),
    Row("unfold_of", lambda x: [(x(2, 3, 5, 4), (3, 2), (1, 1), (1, 0), (2, 1))], "fhc"),
    Row("fold_of", lambda x: [(x(2, 18, 9), (5, 4), (3, 2), (1, 1), (1, 0), (2, 1))], "fhc", larger=False),
    Row("antialiased", lambda x: [(x(1, 2, 6, 5), (3, 4), (None, None), m, False) for m in ("bilinear", "bicubic")]),
    Row(
        "unpooled",
        lambda x: [
            (x(2, 3, 4), x.distinct(2, 3, 4, high=9), (9,)),
            (x(3, 2, 2), x.distinct(3, 4, high=12).reshape(3, 2, 2), (4, 3)),
        ],
        larger=False,
    ),
    Row("fractional", lambda x: [(x.spaced(2, 2, 6, 7), x.fixed(2, 2, 2, low=0, high=1), (2, 3), (3, 4))]),
    Row(
        "sampled",
        lambda x: [
            *(
                (x(2, 2, 4, 5), x(2, 3, 2, 2, low=-1.1, high=1.1), m, p, False)
                for m, p in (("bilinear", "zeros"), ("bicubic", "border"))
            ),
            (x(1, 2, 3, 4, 3), x(1, 2, 2, 3, 3, low=-1.1, high=1.1), "nearest", "reflection", True),
        ],
        rtol=1e-4,
        larger=False,
    ),
    Row("moved_grid", lambda x: [(x(2, 2, 3), (4, 5), False), (x(1, 3, 4), (2, 3, 2), True)], larger=False),
    *rows("pixel_shuffle", lambda x: [(x(2, 8, 3, 2), 2)], ALL, larger=False),
    *rows("pixel_unshuffle", lambda x: [(x(2, 2, 4, 6), 2)], ALL, larger=False),
    *rows("channel_shuffle", lambda x: [(x(2, 6, 3, 2), 3)], ALL),
]

ROWS = [*NORMALIZATION, *LOSS, *WINDOWS]
