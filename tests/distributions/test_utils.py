"""Broadcasting, probabilities and logits, lazy attributes, triangles."""

import pytest

import rushlight as rl
from rushlight.distributions import utils

from .sides import same


def test_broadcast_all():
    a, b = utils.broadcast_all(rl.zeros(3, 1, dtype=rl.float64), 2)
    assert a.shape == b.shape == (3, 1) and b.dtype is rl.float64
    with pytest.raises(ValueError, match="instances of Number"):
        utils.broadcast_all("a")


@pytest.mark.parametrize("name", ["probs_to_logits", "logits_to_probs"])
@pytest.mark.parametrize("binary", [True, False])
def test_probabilities_and_logits(name, binary):
    same(lambda side: getattr(side.distributions.utils, name)(side.tensor([0.0, 0.2, 0.8, 1.0]), binary), 1e-6)


@pytest.mark.parametrize("diag", [-1, 0, 1])
def test_triangles(diag):
    matrix = [[float(3 * i + j) for j in range(3)] for i in range(3)]
    same(lambda side: side.distributions.utils.tril_matrix_to_vec(side.tensor(matrix), diag))
    vector = utils.tril_matrix_to_vec(rl.tensor(matrix), diag)
    assert bool((utils.vec_to_tril_matrix(vector, diag) == rl.tensor(matrix).tril(diag)).all())
    with pytest.raises(ValueError, match="lower triangular"):
        utils.vec_to_tril_matrix(rl.zeros(9 if diag == 1 else 4), diag)
    with pytest.raises(ValueError, match="outside"):
        utils.tril_matrix_to_vec(rl.zeros(3, 3), 4)


def test_lazy_property():
    class Owner:
        calls = 0

        @utils.lazy_property
        def number(self):
            Owner.calls += 1
            return 3

    owner = Owner()
    assert owner.number + owner.number == 6 and Owner.calls == 1
