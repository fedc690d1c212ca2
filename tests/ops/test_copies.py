"""Views copied."""

import pytest

import rushlight as rl

CASES = {
    "view": ((4, 3),),
    "t": (),
    "transpose": (0, 1),
    "expand": ((2, 3, 4),),
    "select": (0, 1),
    "slice": (1, 0, 3, 2),
    "narrow": (1, 1, 2),
    "split": (2,),
    "split_with_sizes": ((1, 2),),
    "unbind": (),
    "unfold": (1, 2, 1),
    "squeeze": (),
    "unsqueeze": (0,),
    "permute": ((1, 0),),
    "diagonal": (),
    "detach": (),
    "alias": (),
    "as_strided": ((2, 2), (1, 2)),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_the_view(name):
    x, arguments = rl.rand(3, 4), CASES[name]
    found = getattr(rl, name + "_copy")(x, *arguments)
    expected = {"slice": lambda: x[:, 0:3:2], "alias": lambda: x}.get(name, lambda: getattr(x, name)(*arguments))()
    several = isinstance(found, tuple)
    for a, b in zip(found, expected, strict=True) if several else [(found, expected)]:
        assert a.is_contiguous() and (a == b).all() and a.shape == b.shape
        assert a.data_ptr() != b.data_ptr()


def test_complex_and_out():
    z = rl.tensor([1 + 2j])
    assert rl.view_as_real_copy(z).tolist() == [[1, 2]]
    assert rl.view_as_complex_copy(rl.tensor([[1.0, 2.0]])).tolist() == [1 + 2j]
    out = rl.empty(4, 3)
    assert rl.t_copy(rl.ones(3, 4), out=out) is out and (out == 1).all()
