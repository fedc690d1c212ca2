"""Rows of the table of ops: products of matrices and other linear forms."""

from ..op_samples import ALL, NUMBERS, Row


def scaled(*shapes):
    """Products that are added to something: plainly, and with `beta` and `alpha`."""
    return lambda x: [
        tuple(x(*shape) for shape in shapes),
        (*(x(*shape) for shape in shapes), {"beta": x.number(2.0), "alpha": x.number(3.0)}),
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
    Row(
        "attention",
        lambda x: [(x(2, 3, 4), x(2, 5, 4), x(2, 5, 3)), (x(2, 3, 4), x(2, 3, 4), x(2, 3, 2), x(3, 3), True, 0.5)],
        rtol=1e-4,
    ),
    Row("attention_scores", lambda x: [(x(2, 3, 4), x(2, 5, 4)), (x(2, 3, 4), x(2, 3, 4), x(3, 3), True, 0.5)]),
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
    Row("pair_distances", lambda x: [(x(4, 3), p) for p in (2.0, 1.0, 3.0, float("inf"))], "f", grad="1", rtol=3e-5),
]

ROWS = [*PRODUCTS, *FORMS]
