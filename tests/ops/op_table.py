"""Every op, one line each: how to call it and which dtypes it takes. `test_op_table.py` does the rest."""

import numpy as np

import rushlight as rl

from .op_samples import Row, along_dim, binary, pooling, reduction, tensors, unary

ALL, NUMBERS, REAL, FLOATS = "fhcib", "fhci", "fhi", "fh"


def rows(names, samples, dtypes=FLOATS, **promises):
    return [Row(name, samples, dtypes, **promises) for name in names.split()]


def scaled(*shapes):
    """Products that are added to something: plainly, and with `beta` and `alpha`."""
    return lambda x: [
        tuple(x(*shape) for shape in shapes),
        (*(x(*shape) for shape in shapes), {"beta": x.number(2.0), "alpha": x.number(3.0)}),
    ]


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


ARITHMETIC = [
    Row("add", lambda x: [*binary()(x), *([] if x.letter == "b" else [(x(2), x(2), {"alpha": x.number(2.0)})])], ALL),
    Row("sub", lambda x: [*binary()(x), (x(2), x(2), {"alpha": x.number(2.0)})], NUMBERS),
    Row("rsub", binary(), NUMBERS),
    Row("mul", binary(), ALL),
    Row("true_divide", binary(1, 3), ALL),
    Row("div", lambda x: [(x(2, 3), x(3, low=1), {"rounding_mode": m}) for m in ("trunc", "floor")], REAL),
    *rows("floor_divide remainder fmod", binary(1, 3), REAL),
    Row("pow", lambda x: [*binary(1, 3)(x), (x(3), x.number(2.0)), (x.number(2.0), x(3, low=0))], NUMBERS, rtol=3e-5),
    *rows("copysign xlogy", binary(1, 3), "fhib"),
    Row("atan2", tensors(), "fhib"),
    Row("nextafter", lambda x: [(x(3, 4), x(3, 4)), (x(2, 3), x(3))], "fh", grad=""),
    *rows("hypot logaddexp logaddexp2", lambda x: [(x(3, 4), x(3, 4)), (x(2, 3), x(3))]),
    *rows("maximum minimum fmax fmin", lambda x: [(x(3, 4), x(3, 4)), (x(2, 3), x(3)), (x(0, 2), x(2))], "fhib"),
    Row(
        "clamp",
        lambda x: [(x(3, 4), x.number(-1.0), x.number(1.0)), (x(3, 4), x(4), x(3, 1)), (x(2), None, x(2))],
        REAL,
    ),
    Row("addcmul", lambda x: [(x(3, 4), x(3, 4), x(4)), (x(2), x(2), x(2), {"value": x.number(2.0)})], NUMBERS),
    Row("addcdiv", lambda x: [(x(3, 4), x(3, 4), x(4, low=1)), (x(2), x(2), x(2, low=1), {"value": 2})], "fhc"),
    Row("lerp", lambda x: [(x(3, 4), x(3, 4), 0.3), (x(3, 4), x(4), x(3, 1)), (x(2), x(2), 0.8)], "fhc"),
    Row("float_power", lambda x: [(x(3, 4, low=1), x(4)), (x(2, low=1), x.number(2.0))], NUMBERS, rtol=3e-5),
    *rows("clamp_min clamp_max", lambda x: [(x(3, 4), x.number(0.5)), (x(3, 4), x(4))], REAL),
    Row("ldexp", lambda x: [(x(3, 4), x.index(4, high=5, low=-3))], "fh"),
    Row("frexp", unary(), "fh", grad=""),
    *rows("gcd lcm", lambda x: [(x(3, 4, low=-9, high=9), x(4, low=-9, high=9))], "i"),
    *rows("near all_close", lambda x: [(x(3, 4), x(3, 4), 0.5, 0.1, e) for e in (False, True)], ALL),
    Row("all_equal", lambda x: [(x(3, 4), x(3, 4)), (x(0, 3), x(0, 3))], ALL),
    *rows("eq ne", binary(), ALL),
    *rows("lt le gt ge", binary(), "fhib"),
    *rows("logical_and logical_or logical_xor", tensors(), ALL),
    *rows("bitwise_and bitwise_or bitwise_xor", binary(), "ib"),
    *rows("bitwise_left_shift bitwise_right_shift", binary(0, 5), "i"),
    Row(
        "where",
        lambda x: [(x.mask(3, 4), x(3, 4), x(4)), (x.mask(3, 1), x(4), x.number(1.0)), (x.mask(0), x(0), x())],
        ALL,
    ),
]

UNARY = [
    *rows("exp exp2 expm1 sin cos tanh asinh sinh cosh tan atan sigmoid", unary(-1.4, 1.4), ALL, rtol=3e-5),
    *rows("log log2 log10 log1p sqrt rsqrt reciprocal", unary(0.3, 3), ALL, rtol=3e-5),
    *rows("asin acos atanh", unary(-0.9, 0.9), ALL, rtol=3e-5),
    Row("acosh", unary(1.1, 3), ALL, rtol=3e-5),
    *rows("erf erfc", unary(), "fhib", rtol=3e-5),
    Row("erfinv", unary(-0.9, 0.9), "fhib", rtol=3e-5),
    *rows("lgamma digamma", unary(0.5, 4), "fhib", grad="1", rtol=3e-5),
    *rows("floor ceil trunc", unary(), REAL),
    Row("frac", unary(), "fh"),
    Row("round", lambda x: [*unary()(x), *([] if x.letter == "i" else [(x(5), {"decimals": 1})])], REAL),
    *rows("abs square positive sgn", unary(), NUMBERS),
    Row("sign", unary(), "fhib"),
    Row("neg", unary(), NUMBERS),
    Row("signbit", unary(), "fhib"),
    Row("nan_to_num", lambda x: [*unary()(x), (x(3), 0.5, 2.0, -2.0)], "fhib"),
    Row("logit", lambda x: [*unary(0.1, 0.9)(x), (x(5, low=0, high=1), {"eps": 0.2})], "fhib", rtol=3e-5),
    *rows("deg2rad rad2deg sinc", unary(), "fhib", rtol=3e-5),
    Row("mvlgamma", lambda x: [(x(3, 4, low=2, high=5), 2)], "fhi", grad="1", rtol=3e-5),
    *rows("isnan isfinite isinf", unary(), ALL),
    *rows("isposinf isneginf", unary(), "fhib"),
    Row("logical_not", unary(), ALL),
    Row("bitwise_not", unary(), "ib"),
]

COPYING = [
    Row("copied", unary(), ALL),
    *rows("copy", lambda x: [(x.fixed(3, 4), x(3, 4)), (x.fixed(3, 4), x(4)), (x.fixed(0, 3), x(3))], ALL),
    *rows("fill", lambda x: [(x(3, 4), x.number(2.0)), (x(3, 4), x()), (x(0, 3), x.number(1.0))], ALL),
    Row("converted", lambda x: [(x(3, 4), rl.complex128), (x.fixed(3), rl.float32), (x(3, 4), rl.float64)], ALL),
    *rows("identity", lambda x: [(x(3, 4),), (x(4, 3),)], ALL),
    *rows("ramp", lambda x: [(x(6), 1, 2)], REAL, grad=""),
    *rows("line", lambda x: [(x(6), 1.0, 3.0), (x(1), 1.0, 3.0)], "fhc", grad=""),
    *rows("powers", lambda x: [(x(6), 0.0, 2.0, 2.0), (x(1), 1.0, 3.0, 2.0)], "fh", grad=""),
    *rows("powers_of", lambda x: [(x(3), 4), (x(3), 4, True)], NUMBERS),
    Row("raised_cosine", lambda x: [(x(6), 6, 0.42, 0.5, 0.08)], grad="", others=False),
    Row("bell", lambda x: [(x(6), 6.0, 12.0, 64)], grad="", others=False),
    *rows("triangle", lambda x: [(x(6), 6)], "fh", grad=""),
]

SHAPE = [
    Row("viewed", lambda x: [(x(3, 4), (2, 6)), (x(0, 3), (3, 0)), (x(), (1, 1))], ALL, layouts=False),
    Row("reshape", lambda x: [(x(3, 4), (2, -1)), (x(3, 4), (4, 3)), (x(0, 3), (0,)), (x(), (1,))], ALL),
    Row("permute", lambda x: [(x(2, 3, 4), (2, 0, 1)), (x(), ())], ALL),
    Row("transpose", lambda x: [(x(2, 3, 4), 0, -1), (x(), 0, -1)], ALL),
    *rows("t", lambda x: [(x(3, 4),), (x(3),), (x(),)], ALL),
    Row("adjoint", lambda x: [(x(2, 3, 4),), (x(3, 2),)], ALL),
    Row("expand", lambda x: [(x(3, 1), (3, 4)), (x(4), (2, 3, -1)), (x(), (2,))], ALL),
    Row("unsqueeze", lambda x: [(x(3, 4), 1), (x(3, 4), -1), (x(), 0)], ALL),
    Row("squeeze", lambda x: [(x(3, 1, 4, 1),), (x(3, 1, 4), 1), (x(1, 3, 1), (0, -1)), (x(3, 4), 0)], ALL),
    Row("flatten", lambda x: [(x(2, 3, 4),), (x(2, 3, 4), 1), (x(),)], ALL),
    Row("unflatten", lambda x: [(x(2, 6), 1, (2, 3)), (x(2, 6), -1, (-1, 2))], ALL),
    Row("diagonal", lambda x: [(x(3, 4),), (x(2, 3, 4), 1, 0, 2), (x(3, 3), {"offset": -2})], ALL),
    Row("windows", lambda x: [(x(7, 2), 0, 3, 2), (x(4), 0, 4, 1)], ALL),
    Row("sum_to_size_", lambda x: [(x(2, 3, 4), (3, 1)), (x(3, 4), (3, 4))], NUMBERS),
    Row("repeat", lambda x: [(x(2, 3), (2, 1, 2)), (x(3), (0,)), (x(), (3,))], ALL),
    Row("repeated_evenly", lambda x: [(x(2, 3), 2, 1), (x(3), 3, 0)], ALL),
    Row("repeated_places", lambda x: [(x.index(3, high=1) + [1, 2, 5], 5)], "i"),
    Row("roll", lambda x: [(x(3, 4), 2), (x(3, 4), (1, -1), (0, 1)), (x(0, 3), 1, 0)], ALL),
    Row("flip", lambda x: [(x(2, 3, 4), (0, 2)), (x(3), (0,)), (x(0, 3), (1,))], ALL),
    Row("cat", lambda x: [([x(2, 3), x(1, 3), x(0, 3)],), ([x(2, 3), x(2, 1)], 1), ([x(3), x(0)], -1)], ALL),
    Row("stack", lambda x: [([x(2, 3), x(2, 3)],), ([x(2, 3), x(2, 3)], -1), ([x(), x()],)], ALL),
    Row("blocks", lambda x: [([x(2, 3), x(1, 2), x(2, 1)],)], ALL),
    Row("diag_embed", lambda x: [(x(2, 3),), (x(3), 1), (x(2, 3), -1, 0, 2)], ALL),
    Row("diag", lambda x: [(x(3),), (x(3, 4),), (x(3), 1), (x(3, 4), -1)], ALL),
    Row("trace", lambda x: [(x(3, 4),), (x(4, 3),)], NUMBERS),
    *rows("tril triu", lambda x: [(x(3, 4),), (x(2, 3, 3), 1), (x(4, 3), -1), (x(0, 3),)], ALL),
    *rows("tril_indices_mask triu_indices_mask", lambda x: [(3, 4, 1)], "f"),
]

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
        "softmax log_softmax softmin_of", lambda x: [(x(3, 4), 1), (x(2, 3, 4), -2), (x(), 0), (x(0, 3), 1), (x(3, 0), 1)]
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
    Row("searched", lambda x: [(np.sort(x(5)), x(3, 2), True, False), (np.sort(x(2, 5)), x(2, 3), False, True)], "fhi", others=False),
    Row("tallied", lambda x: [(x.index(6, high=4), x(6), 4), (x.index(6, high=4), None, 4)], "f"),
    Row("binned", lambda x: [(x(10), -1.0, 1.0, 4), (x(10), -1.0, 1.0, 4, x(10))], "f", grad=""),
    Row("binned_between", lambda x: [(x(10), np.sort(x(5)), x(10, low=0), d) for d in (True, False)], "f", grad="", others=False),
    Row("among", lambda x: [(x(3, 4), x(2), False), (x(3, 4), x(4), True)], "fhib"),
    Row("hot", lambda x: [(x.index(3, high=4), 5)], "f"),
]

PRODUCTS = [
    Row(
        "matmul",
        lambda x: (
            [(x(*a), x(*b)) for a, b in (((3, 4), (4, 2)), ((4,), (4,)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)))]
            + [(x(2, 1, 3, 4), x(5, 4, 2)), (x(0, 3), x(3, 2)), (x(2, 0), x(0, 3))]
        ),
        NUMBERS,
    ),
    Row("mm", lambda x: [(x(3, 4), x(4, 2)), (x(3, 0), x(0, 2)), (x(17, 19), x(19, 33))], NUMBERS),
    Row("bmm", lambda x: [(x(2, 3, 4), x(2, 4, 3)), (x(0, 3, 4), x(0, 4, 2))], NUMBERS),
    Row("mv", lambda x: [(x(3, 4), x(4)), (x(3, 0), x(0))], NUMBERS),
    Row("dot", lambda x: [(x(4), x(4)), (x(0), x(0))], NUMBERS),
    Row("addmm", scaled((3, 2), (3, 4), (4, 2)), NUMBERS),
    Row("addmv", scaled((3,), (3, 4), (4,)), NUMBERS),
    Row("baddbmm", scaled((2, 3, 2), (2, 3, 4), (2, 4, 2)), NUMBERS),
    Row("addbmm", scaled((3, 2), (2, 3, 4), (2, 4, 2)), NUMBERS),
    Row("addr", scaled((3, 4), (3,), (4,)), NUMBERS),
    Row("outer", lambda x: [(x(3), x(4)), (x(0), x(2))], ALL),
    Row("linear", lambda x: [(x(3, 4), x(2, 4), x(2)), (x(2, 3, 4), x(5, 4)), (x(4), x(2, 4), x(2))], NUMBERS),
    Row("attention_scores", lambda x: [(x(2, 3, 4), x(2, 5, 4)), (x(2, 3, 4), x(2, 3, 4), x(3, 3), True, 0.5)]),
]

ACTIVATION = [
    Row("relu", unary(), REAL),
    Row("relu6", unary(-3, 9), REAL),
    *rows("leaky_relu elu celu", lambda x: [*unary()(x), (x(5), 0.3)]),
    *rows("selu silu mish logsigmoid softsign tanhshrink", unary(), rtol=3e-5),
    Row("hardsigmoid", unary(-5, 5)),
    Row("hardswish", unary(-5, 5)),
    Row("gelu", lambda x: [*unary()(x), (x(5), {"approximate": "tanh"})], rtol=3e-5),
    Row("softplus", lambda x: [*unary()(x), (x(5), 2, 1)], rtol=3e-5),
    *rows("softshrink hardshrink", lambda x: [*unary()(x), (x(5), 0.3)]),
    Row("hardtanh", lambda x: [*unary()(x), (x(5), -0.5, 0.7)]),
    Row("threshold", lambda x: [(x(3, 4), 0.1, 2.0), (x(0, 3), 0.1, 2.0)]),
    Row("prelu", lambda x: [(x(2, 3, 4), x(3)), (x(3, 4), x(1))]),
    Row("glu", lambda x: [(x(3, 4),), (x(4, 3), 0)]),
    Row("kept", lambda x: [(x(3, 4), x.mask(3, 4), 2.0)], grad="1"),
    Row("kept_affine", lambda x: [(x(3, 4), x.mask(3, 4), 2.0, -1.0, 0.5)], grad="1"),
]

NORMALIZATION = [
    Row(
        "batch_norm_eval",
        lambda x: [(x(2, 3, 4), x.fixed(3), x.fixed(3, low=1), x(3), x(3)), (x(2, 3), x.fixed(3), x.fixed(3, low=1))],
        others=False,
    ),
    Row("batch_norm_train", lambda x: [(x(4, 3, 5), x(3), x(3)), (x(5, 3),)], grad="1", rtol=1e-4),
    Row("batch_norm_statistics", lambda x: [(x(4, 3, 5), x(3), x(3)), (x(5, 3),)], grad="", rtol=1e-4),
    Row(
        "layer_norm_of", lambda x: [(x(3, 4), (4,), x(4), x(4)), (x(2, 3, 4), (3, 4)), (x(3, 4), (4,), x(4))], rtol=1e-4
    ),
    Row("group_norm", lambda x: [(x(2, 4, 3), 2, x(4), x(4)), (x(2, 4, 3, 2), 4)], rtol=1e-4),
    Row("rms_norm", lambda x: [(x(3, 4), (4,), x(4)), (x(2, 3, 4), (3, 4))], rtol=1e-4),
    Row("local_response_norm", lambda x: [(x(2, 5, 4), 3), (x(2, 4, 3, 3), 2, 0.1, 0.5, 2.0)]),
    *rows("cosine_similarity pairwise_distance", lambda x: [(x(3, 4), x(3, 4)), (x(2, 4), x(4))], rtol=1e-4),
    Row("limited", lambda x: [(x(4, 3), 1.0, 2.0)], grad="", rtol=1e-4),
]

LOSS = [
    *rows("mse_loss_of l1_loss_of smooth_l1_loss huber_loss", loss()),
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
        "poisson_nll_loss",
        lambda x: [(x(3, 4), x(3, 4, low=0.1)), (x(3, 4, low=0.5), x(3, 4, low=0.1), {"log_input": False})],
    ),
    Row("gaussian_nll_of", lambda x: [(x(3, 4), x(3, 4), x(3, 4, low=0.5), f, 1e-6, "mean") for f in (True, False)]),
    *rows("hinge_embedding_loss soft_margin_loss", lambda x: [(x(3, 4), x.mask(3, 4) * 2.0 - 1, {"reduction": "sum"})]),
    Row(
        "margin_ranking_loss",
        lambda x: [(x(4), x(4), x.mask(4) * 2.0 - 1, 0.5), (x(3, 4), x(3, 4), x.mask(3, 4) * 2.0 - 1)],
    ),
]

WINDOWS = [
    *(Row(f"conv{n}d", conv(n), "fhc" if n < 3 else "fh") for n in (1, 2, 3)),
    *(Row(f"conv_transpose{n}d", conv(n, transposed=True)) for n in (1, 2, 3)),
    *(Row(f"max_pool{n}d_with_indices", pooling(n)) for n in (1, 2, 3)),
    *(Row(f"avg_pool{n}d", pooling(n, count_include_pad=False)) for n in (1, 2, 3)),
    *(Row(f"adaptive_avg_pool{n}d", lambda x, n=n: [(x(2, 3, *(5, 6, 4)[:n]), (2, 4, 3)[:n])]) for n in (1, 2, 3)),
    *(
        Row(f"adaptive_max_pool{n}d_with_indices", lambda x, n=n: [(x.spaced(2, 3, *(5, 6, 4)[:n]), (2, 4, 3)[:n])])
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
    Row("fold_of", lambda x: [(x(2, 18, 9), (5, 4), (3, 2), (1, 1), (1, 0), (2, 1))], "fhc"),
    *rows("pixel_shuffle", lambda x: [(x(2, 8, 3, 2), 2)], ALL),
    *rows("pixel_unshuffle", lambda x: [(x(2, 2, 4, 6), 2)], ALL),
    *rows("channel_shuffle", lambda x: [(x(2, 6, 3, 2), 3)], ALL),
]

INDEXING = [
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
    *rows(
        "fill_masked masked_fill", lambda x: [(x(3, 4), x.mask(3, 4), x.number(2.0)), (x(3, 4), x.mask(4), x())], ALL
    ),
    Row("masked_scatter", lambda x: [(x(3, 4), x.mask(3, 4), x(12))], ALL),
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
        "index_fill",
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
    Row("slice_scatter", lambda x: [(x(3, 4), x(3, 2), 1, 1, 4, 2), (x(3, 4), x(1, 4), 0, 2)], ALL),
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
    ),
    Row("positions_along", lambda x: [(x.mask(3, 4),)], "f"),
]

COMPLEX = [
    *rows("real_part imaginary_part view_as_real", lambda x: [(x(3, 4),), (x(),), (x(0, 2),)], "c"),
    *rows("conj conj_physical", unary(), ALL),
    Row("angle", unary(), "fci"),
    Row("of_parts", lambda x: [(x(3, 4), x(4)), (x(), x(2))], "f", grad=""),
    Row("polar", lambda x: [(x(3, 4, low=0.5), x(4)), (x(2, low=0.5), x())], "f", grad=""),
    Row("heaviside", lambda x: [(x(3, 4), x(4)), (x(0, 3), x(3))], REAL),
]

FORMS = [
    Row(
        "einstein_sum",
        lambda x: [
            ([x(2, 3), x(3, 4)], ((0, 1), (1, 2)), (0, 2)),
            ([x(2, 3, 3), x(3, 1), x(4)], ((1, 2, 2), (2, 3), (4,)), (4, 1)),
            ([x(2, 3), x(1, 3)], ((0, 1), (0, 1)), (1,)),
        ],
        NUMBERS,
    ),
    Row("dotted", lambda x: [(x(2, 3, 4), x(4, 3, 2), (1, 2), (1, 0)), (x(2), x(3), (), ())], NUMBERS),
    Row("inner", lambda x: [(x(2, 3), x(4, 3)), (x(2, 3), x())], NUMBERS),
    Row("vdot", lambda x: [(x(5), x(5))], NUMBERS),
    Row("kron", lambda x: [(x(2, 3), x(3, 1, 2)), (x(2), x())], NUMBERS),
    Row("bilinear_form", lambda x: [(x(4, 2), x(4, 3), x(5, 2, 3), x(5)), (x(2), x(3), x(5, 2, 3))], "fc"),
    Row("crossed", lambda x: [(x(2, 3), x(2, 3), 1), (x(3), x(2, 3), -1)], NUMBERS),
    Row("renorm", lambda x: [(x(3, 4), p, 0, 0.5) for p in (2.0, 1.0, 3.0)], rtol=3e-5),
    Row(
        "distances",
        lambda x: [(x(3, 4), x(2, 4), p, 0) for p in (2.0, 1.0, 3.0, 0.5, float("inf"))] + [(x(4, 3), x(2, 3), 2.0, 1)],
        "f",
        grad="1",
        rtol=3e-5,
    ),
    Row("row_distances", lambda x: [(x(3, 4), x(3, 4), p) for p in (2.0, 1.0, 3.0)], "f", rtol=3e-5),
]

TABLE = [
    *ARITHMETIC,
    *UNARY,
    *COPYING,
    *SHAPE,
    *REDUCTION,
    *ORDER,
    *PRODUCTS,
    *ACTIVATION,
    *NORMALIZATION,
    *LOSS,
    *WINDOWS,
    *INDEXING,
    *COMPLEX,
    *FORMS,
]

# Ops that have no row, each for a reason.
EXCEPTIONS: dict[str, str] = {}
