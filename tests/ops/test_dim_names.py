"""Named dims are refused, clearly."""

import pytest

import rushlight as rl

REFUSED = [
    lambda x: rl.zeros(2, names=("a",)),
    lambda x: rl.rand(2, 3, names=("a", None)),
    lambda x: x.refine_names("a", "b"),
    lambda x: x.align_to("a", "b"),
    lambda x: x.align_as(x),
    lambda x: x.rename("a", "b"),
    lambda x: x.rename_(a="b"),
    lambda x: rl.align_tensors(x, x),
    lambda x: setattr(x, "names", ("a", "b")),
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call):
    with pytest.raises(NotImplementedError, match="named tensors are not supported"):
        call(rl.ones(2, 3))


def test_no_dim_has_a_name():
    x = rl.zeros(2, 3, names=None)
    assert x.names == (None, None) and not x.has_names() and x.name is None and x.rename(None) is x
    x.names = None
