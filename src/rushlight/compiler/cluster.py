"""Kernels while they are being formed: sets of loops, what is stored, and the order they must run in."""

from __future__ import annotations

from ..ir.graph import Node, Value
from ..ir.sizes import hint, product
from .affine import Affine, Dim, access_dims, covers, fresh_access, index_of, unify
from .templates import Array
from .views import reshape_access


class Step:
    """Something that is launched: a cluster, or one node that a template lowers.

    `after` holds the steps that read what this one stores; `first` and `last` are the places, in the
    graph's order, of its first and last node.
    """

    def __init__(self, position: int):
        self.first = self.last = position
        self.after: list[Step] = []
        self.merged: Step | None = None

    def find(self) -> Step:
        step = self
        while step.merged is not None:
            step = step.merged
        return step

    def covers_position(self, position: int) -> None:
        self.first, self.last = min(self.first, position), max(self.last, position)

    def followers(self) -> list[Step]:
        found = {id(s): s for s in (step.find() for step in self.after) if s is not self}
        self.after = list(found.values())
        return list(self.after)


def reaches(start: Step, goal: Step) -> bool:
    """Whether `goal` must run after `start`."""
    pending, seen = start.followers(), set()
    while pending:
        step = pending.pop()
        if step is goal:
            return True
        if id(step) not in seen:
            seen.add(id(step))
            pending = pending + step.followers()
    return False


class TemplateStep(Step):
    """A node that is lowered by a template."""

    def __init__(self, node: Node, position: int):
        super().__init__(position)
        self.node = node


class Cluster(Step):
    """A kernel: loops over `dims`, of which `reduced` are folded, and the values it stores.

    Every stored value is read at an access that covers all loops, or all but the reduced ones.
    `reduced` has one index for each dimension that the first reduction folds, of sizes `reduced_sizes`.
    """

    def __init__(self, shape, position: int):
        super().__init__(position)
        self.access = fresh_access(shape)
        self.dims: list[Dim] = [d for a in self.access for d in a.terms]
        self.reduced: tuple[Affine, ...] = ()
        self.reduced_sizes: tuple = ()
        self.stores: list[tuple[Value, tuple[Affine, ...], Array]] = []
        self.leaves = 0  # bit set of what its values are computed from
        self.direct = 0  # bit set of what its values are computed from without a reduction on the way
        self.nodes = 0
        self.values: set[Value] = set()  # what it computes itself
        self.parts: Dim | None = None  # the loop over the parts of a reduction that is split

    def loops(self) -> list[Dim]:
        return [leaf for d in self.dims for leaf in d.leaves()]

    def folded(self) -> set[Dim]:
        return access_dims(self.reduced)

    def outer(self) -> list[Dim]:
        folded = self.folded()
        return [d for d in self.loops() if d not in folded]

    def fits(self, access, shape) -> bool:
        """Whether a value read at `access` may be stored by this kernel."""
        if covers(access, shape, set(self.loops())):
            return True
        return bool(self.reduced) and covers(access, shape, set(self.outer()))

    # -- reductions ---------------------------------------------------------------------------
    def fold(self, access, shape, sizes, *, commit: bool) -> tuple[Affine, ...] | None:
        """The indices of the folded dimensions for a reduction read at `access`, or None if it does not fit here.

        shape   of the reduction's result
        sizes   of the dimensions that it folds
        """
        if self.reduced:
            if self.parts is not None or not covers(access, shape, set(self.outer())):
                return None
            return _fold_alike(self.reduced, self.reduced_sizes, sizes)
        kept = access_dims(access)
        if not covers(access, shape, kept):
            return None
        missing = [d for d in self.loops() if d not in kept]
        if missing:
            indices = _fold_alike(tuple(map(index_of, missing)), tuple(d.size for d in missing), sizes)
        else:
            indices = fresh_access(sizes)
        if indices is not None and commit:
            if not missing:
                self.dims += [d for a in indices for d in a.terms]
            self.reduced, self.reduced_sizes = indices, tuple(sizes)
        return indices

    def missing(self, access, shape) -> list[Dim]:
        """The loops that a value read at `access` does not depend on, if it depends on the others once."""
        kept = access_dims(access)
        return [d for d in self.loops() if d not in kept] if covers(access, shape, kept) else []

    def expect(self, missing: list[Dim]) -> None:
        """Prepare for reductions that fold the given loops, before the first one is placed here."""
        self.reduced = tuple(map(index_of, missing))
        self.reduced_sizes = tuple(d.size for d in missing)

    # -- merging ------------------------------------------------------------------------------
    def absorb(self, other: Cluster, pairs: list[tuple[Dim, Dim]]) -> None:
        """Take over another cluster's work; `pairs` are loops (here, there) that become one."""
        for here, there in pairs:
            unify(here, there)
        if len(other.loops()) > len(self.loops()):
            self.dims = other.dims
        if not self.reduced:
            self.reduced, self.reduced_sizes = other.reduced, other.reduced_sizes
        self.stores += other.stores
        self.leaves |= other.leaves
        self.direct |= other.direct
        self.nodes += other.nodes
        self.values |= other.values
        self.after += other.after
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        other.merged = self


def _fold_alike(indices, have, want) -> tuple[Affine, ...] | None:
    if len(have) == len(want) and all(_equal(a, b) for a, b in zip(have, want)):
        return indices
    if not _equal(product(have), product(want)):
        return None
    other = reshape_access(indices, have, want)
    return other if other is not None and access_dims(other) == access_dims(indices) else None


def _equal(a, b) -> bool:
    return hint(a) == hint(b) and bool(a == b)


def matching(one: Cluster, access, two: Cluster, other, folding: bool) -> list[tuple[Dim, Dim]] | None:
    """Pairs of loops to unify so that a value read at `access` in one and at `other` in two is read alike.

    None if the kernels do not have the same loops then. With `folding` the value is a reduction, and
    one kernel may lack the loops that it folds.
    """
    pairs: dict[Dim, Dim] = {}
    for a, b in zip(access, other):
        if not _match_affine(a.resolved(), b.resolved(), pairs):
            return None
    outer = _renamed(two.outer(), pairs), one.outer()
    if one.reduced and two.reduced:
        if set(outer[0]) != set(outer[1]) or not _match_folded(one, two, pairs):
            return None
    elif one.reduced or two.reduced:
        row, plain = (one, two) if one.reduced else (two, one)
        loops = _renamed(plain.loops(), pairs), _renamed(row.loops(), pairs), _renamed(row.outer(), pairs)
        if set(loops[0]) not in (set(loops[1]), set(loops[2])):
            return None
    elif set(outer[0]) != set(outer[1]):
        smaller = min(outer, key=len)
        if not folding or not set(smaller) < set(max(outer, key=len)) or set(smaller) != set(pairs.values()):
            return None
    return [(here, there) for there, here in pairs.items()]


def _renamed(dims, pairs) -> list[Dim]:
    return [pairs.get(d, d) for d in dims]


def _match_affine(a: Affine, b: Affine, pairs: dict) -> bool:
    """Pair up the loops of two indices that must be equal: b's loop -> a's loop."""
    if len(a.terms) != len(b.terms) or not _equal(a.const, b.const):
        return False
    for (here, c1), (there, c2) in zip(_by_weight(a), _by_weight(b)):
        if not _equal(c1, c2) or not _equal(here.size, there.size) or pairs.get(there, here) is not here:
            return False
        if any(h is here and t is not there for t, h in pairs.items()):
            return False
        pairs[there] = here
    return True


def _by_weight(affine: Affine) -> list:
    return sorted(affine.terms.items(), key=lambda t: -hint(t[1]))


def _match_folded(one: Cluster, two: Cluster, pairs: dict) -> bool:
    if len(one.reduced) != len(two.reduced) or one.parts is not None or two.parts is not None:
        return False
    return all(_match_affine(a.resolved(), b.resolved(), pairs) for a, b in zip(one.reduced, two.reduced))


__all__ = ["Cluster", "Step", "TemplateStep", "matching", "reaches"]
