"""Trees of containers."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

from rushlight.utils._pytree import (
    broadcast_leaves,
    register_pytree_node,
    tree_any,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_map_only,
    tree_structure,
    tree_unflatten,
)

Point = namedtuple("Point", ["x", "y"])
TREE = {"a": [1, (2, None)], "b": Point(3, OrderedDict(k=4)), "c": defaultdict(list, m=5), "d": deque([6], maxlen=3)}


def test_there_and_back():
    leaves, spec = tree_flatten(TREE)
    assert leaves == [1, 2, None, 3, 4, 5, 6] and spec.num_leaves == 7
    back = tree_unflatten(leaves, spec)
    assert back == TREE and type(back["b"]) is Point and back["d"].maxlen == 3
    assert tree_structure(back) == spec and hash(tree_structure(back)) == hash(spec)
    assert tree_structure([1]) != tree_structure((1,)) and tree_structure({"a": 1}) != tree_structure({"b": 1})
    with pytest.raises(ValueError, match="2 leaves, got 1"):
        tree_unflatten([1], tree_structure([1, 2]))


def test_maps():
    assert tree_map(lambda a, b: a + b, [1, {"k": 2}], [10, {"k": 20}]) == [11, {"k": 22}]
    assert tree_map_only(int, lambda n: -n, [1, "s", (2,)]) == [-1, "s", (-2,)]
    assert tree_leaves([1, [2, 3]], is_leaf=lambda t: t == [2, 3]) == [1, [2, 3]] and tree_any(bool, [0, [1]])
    with pytest.raises(ValueError, match="one structure"):
        tree_map(lambda a, b: a, [1], (1,))


def test_prefixes():
    spec = tree_structure((1, {"a": 2, "b": [3, 4]}))
    assert broadcast_leaves(0, spec) == [0, 0, 0, 0]
    assert broadcast_leaves((0, {"a": 1, "b": None}), spec) == [0, 1, None, None]
    assert broadcast_leaves((0,), spec) is None and broadcast_leaves((0, [1, 2]), spec) is None


def test_own_containers():
    class Box:
        def __init__(self, inside):
            self.inside = inside

    register_pytree_node(Box, lambda box: ([box.inside], "box"), lambda children, _: Box(children[0]))
    assert tree_map(lambda n: n + 1, Box([1, 2])).inside == [2, 3]
