"""Rows of the table of ops: copies, fills, shapes, joins."""

import rushlight as rl

from ..op_samples import ALL, NUMBERS, REAL, Row, rows, unary

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
    Row("viewed", lambda x: [(x(3, 4), (2, 6)), (x(0, 3), (3, 0)), (x(), (1, 1))], ALL, layouts=False, larger=False),
    Row("reshape", lambda x: [(x(3, 4), (2, -1)), (x(3, 4), (4, 3)), (x(0, 3), (0,)), (x(), (1,))], ALL, larger=False),
    Row("permute", lambda x: [(x(2, 3, 4), (2, 0, 1)), (x(), ())], ALL),
    Row("transpose", lambda x: [(x(2, 3, 4), 0, -1), (x(), 0, -1)], ALL),
    *rows("t", lambda x: [(x(3, 4),), (x(3),), (x(),)], ALL),
    Row("adjoint", lambda x: [(x(2, 3, 4),), (x(3, 2),)], ALL),
    Row("expand", lambda x: [(x(3, 1), (3, 4)), (x(4), (2, 3, -1)), (x(), (2,))], ALL, larger=False),
    Row("unsqueeze", lambda x: [(x(3, 4), 1), (x(3, 4), -1), (x(), 0)], ALL),
    Row("squeeze", lambda x: [(x(3, 1, 4, 1),), (x(3, 1, 4), 1), (x(1, 3, 1), (0, -1)), (x(3, 4), 0)], ALL),
    Row("flatten", lambda x: [(x(2, 3, 4),), (x(2, 3, 4), 1), (x(),)], ALL),
    Row("unflatten", lambda x: [(x(2, 6), 1, (2, 3)), (x(2, 6), -1, (-1, 2))], ALL, larger=False),
    Row("movedim", lambda x: [(x(2, 3, 4), 0, 2), (x(2, 3, 4), (0, -1), (1, 0)), (x(), 0, 0), (x(2, 0), 0, 1)], ALL),
    Row("diagonal", lambda x: [(x(3, 4),), (x(2, 3, 4), 1, 0, 2), (x(3, 3), {"offset": -2})], ALL),
    Row("windows", lambda x: [(x(7, 2), 0, 3, 2), (x(4), 0, 4, 1)], ALL),
    Row("sum_to_size_", lambda x: [(x(2, 3, 4), (3, 1)), (x(3, 4), (3, 4))], NUMBERS, larger=False),
    Row("repeat", lambda x: [(x(2, 3), (2, 1, 2)), (x(3), (0,)), (x(), (3,))], ALL),
    Row("repeated_evenly", lambda x: [(x(2, 3), 2, 1), (x(3), 3, 0)], ALL),
    Row("repeated_places", lambda x: [(x.index(3, high=1) + [1, 2, 5], 5)], "i", larger=False),
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

ROWS = [*COPYING, *SHAPE]
