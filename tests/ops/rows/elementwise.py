"""Rows of the table of ops: arithmetic, functions of one number, activations, complex numbers."""

from ..op_samples import ALL, NUMBERS, REAL, Row, binary, rows, tensors, unary

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
    Row("glu", lambda x: [(x(3, 4),), (x(4, 3), 0)], larger=False),
    Row("kept", lambda x: [(x(3, 4), x.mask(3, 4), 2.0)], grad="1"),
    Row("kept_affine", lambda x: [(x(3, 4), x.mask(3, 4), 2.0, -1.0, 0.5)], grad="1"),
]

COMPLEX = [
    *rows("real_part imaginary_part view_as_real", lambda x: [(x(3, 4),), (x(),), (x(0, 2),)], "c"),
    *rows("conj conj_physical", unary(), ALL),
    Row("angle", unary(), "fci"),
    Row("of_parts", lambda x: [(x(3, 4), x(4)), (x(), x(2))], "f"),
    Row("polar", lambda x: [(x(3, 4, low=0.5), x(4)), (x(2, low=0.5), x())], "f"),
    Row("heaviside", lambda x: [(x(3, 4), x(4)), (x(0, 3), x(3))], REAL),
]

ROWS = [*ARITHMETIC, *UNARY, *ACTIVATION, *COMPLEX]
