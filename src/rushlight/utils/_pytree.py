"""Trees of containers: values nested in tuples, named tuples, lists, dicts, ordered and default dicts and deques.

Whatever is none of these is a leaf, `None` too. Other containers join by `register_pytree_node`.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any


class TreeSpec:
    """The structure of a tree: the container's type, what it needs to be made again, and the structures inside."""

    __slots__ = ("children_specs", "context", "num_leaves", "type")

    def __init__(self, type, context, children_specs: list):
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_leaves = sum(child.num_leaves for child in children_specs) if type is not None else 1

    def is_leaf(self) -> bool:
        """Whether it is a single value."""
        return self.type is None

    def __eq__(self, other) -> bool:
        return (
            isinstance(other, TreeSpec)
            and self.type is other.type
            and self.context == other.context
            and self.children_specs == other.children_specs
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves))

    def __repr__(self) -> str:
        if self.is_leaf():
            return "*"
        return f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"


LeafSpec = TreeSpec(None, None, [])
_containers: dict[type, tuple[Callable, Callable]] = {}


def register_pytree_node(cls: type, flatten_fn: Callable, unflatten_fn: Callable) -> None:
    """Let a class be a container.

    `flatten_fn(tree) -> (children, context)` takes it apart, `unflatten_fn(children, context) -> tree` makes it.
    """
    _containers[cls] = flatten_fn, unflatten_fn


def _of_mapping(make: Callable) -> tuple[Callable, Callable]:
    return lambda d: (list(d.values()), list(d)), lambda values, keys: make(zip(keys, values))


register_pytree_node(tuple, lambda t: (list(t), None), lambda children, _: tuple(children))
register_pytree_node(list, lambda t: (list(t), None), lambda children, _: list(children))
register_pytree_node(dict, *_of_mapping(dict))
register_pytree_node(OrderedDict, *_of_mapping(OrderedDict))
register_pytree_node(
    defaultdict,
    lambda d: (list(d.values()), [d.default_factory, list(d)]),
    lambda values, context: defaultdict(context[0], zip(context[1], values)),
)
register_pytree_node(deque, lambda d: (list(d), d.maxlen), lambda children, maxlen: deque(children, maxlen))


def _is_named_tuple(tree) -> bool:
    return isinstance(tree, tuple) and hasattr(type(tree), "_fields")


def _children(tree, is_leaf) -> tuple | None:
    """(type, children, context) of a container, None for a leaf."""
    if is_leaf is not None and is_leaf(tree):
        return None
    kind = type(tree)
    if kind in _containers:
        return kind, *_containers[kind][0](tree)
    return (kind, list(tree), None) if _is_named_tuple(tree) else None


def tree_flatten(tree: Any, is_leaf: Callable | None = None) -> tuple[list, TreeSpec]:
    """(leaves, structure) of a tree.

    >>> from rushlight.utils._pytree import tree_flatten
    >>> tree_flatten({"a": 1, "b": (2, [3])})[0]
    [1, 2, 3]
    """
    found = _children(tree, is_leaf)
    if found is None:
        return [tree], LeafSpec
    kind, children, context = found
    leaves, specs = [], []
    for child in children:
        below, spec = tree_flatten(child, is_leaf)
        leaves += below
        specs.append(spec)
    return leaves, TreeSpec(kind, context, specs)


def tree_unflatten(leaves, treespec: TreeSpec) -> Any:
    """The tree of a structure with such leaves; ValueError if their number is wrong."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten: the structure has {treespec.num_leaves} leaves, got {len(leaves)}: {treespec}"
        )
    return _built(iter(leaves), treespec)


def _built(leaves, spec: TreeSpec):
    if spec.is_leaf():
        return next(leaves)
    children = [_built(leaves, child) for child in spec.children_specs]
    return _containers[spec.type][1](children, spec.context) if spec.type in _containers else spec.type._make(children)


def tree_leaves(tree: Any, is_leaf: Callable | None = None) -> list:
    """The leaves of a tree, in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable | None = None) -> TreeSpec:
    """The structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """The tree with `func(leaf, *leaves of the others)` in the place of each leaf; the others have its structure."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = []
    for rest in rests:
        below, other = tree_flatten(rest, is_leaf)
        if other != spec:
            raise ValueError(f"tree_map: expected trees of one structure, got {spec} and {other}")
        others.append(below)
    return tree_unflatten([func(*group) for group in zip(leaves, *others)], spec)


def tree_map_only(kind, func: Callable, tree: Any, is_leaf: Callable | None = None) -> Any:
    """`tree_map` for leaves of a type (or types); others stay."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree, is_leaf=is_leaf)


def tree_all(predicate: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether the predicate holds for all leaves."""
    return all(map(predicate, tree_leaves(tree, is_leaf)))


def tree_any(predicate: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether the predicate holds for a leaf."""
    return any(map(predicate, tree_leaves(tree, is_leaf)))


def broadcast_leaves(prefix: Any, treespec: TreeSpec, is_leaf: Callable | None = None) -> list | None:
    """One value per leaf of a structure: `prefix` has its structure, or a leaf where the structure goes on.

    None if the two do not agree.
    """
    found = _children(prefix, is_leaf)
    if found is None:
        return [prefix] * treespec.num_leaves
    kind, children, context = found
    if kind is not treespec.type or context != treespec.context or len(children) != len(treespec.children_specs):
        return None
    parts = [broadcast_leaves(child, spec, is_leaf) for child, spec in zip(children, treespec.children_specs)]
    return None if any(part is None for part in parts) else [leaf for part in parts for leaf in part]
