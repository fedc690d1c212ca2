"""Decides which nodes share a kernel and which values are stored between kernels.

Nodes are visited from the last to the first, so that all readers of a value are placed before the value is. A
value is computed inside its readers' kernel if that is one kernel; it becomes one more result of a reader's kernel
if it must be stored and that is possible; else it gets a kernel of its own. No choice makes kernels wait for
each other in a circle. Cheap values of one operand are computed again by each reader.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from ..ir.graph import Graph, Node, Value
from ..ir.sizes import hint, known_equal, product
from .affine import ZERO, access_dims, access_key, index_of, size_key
from .cluster import Cluster, Step, TemplateStep, matching, reaches
from .cost import EXPENSIVE, weight
from .fetches import has_elements, is_fetch, split_access, takes_rows
from .lapack_memory import place_columns
from .leaves import Leaves
from .memory import Memory
from .pieces import nested_pieces, pieces
from .templates import Array
from .views import is_view, view_access

MOST_NODES = 200  # in one kernel: compile time grows faster than the kernel
MOST_ACCESSES = 4  # of one cheap value in one kernel
LONGEST_INDEX = 8  # nodes of an index that is computed where it reads whole rows
SIBLINGS = 8  # how many of the latest kernels are considered for a further result


def fuse(graph: Graph, memory: Memory) -> Fuser:
    """Group a simplified graph's nodes; `.steps` are the kernels, not yet in order."""
    fuser = Fuser(graph, memory)
    for j, value in enumerate(graph.outputs):
        fuser.return_output(j, value)
    for position in range(len(graph.nodes) - 1, -1, -1):
        fuser.place(graph.nodes[position], position)
    fuser.steps = list({id(s): s for s in (step.find() for step in fuser.steps)}.values())
    return fuser


def base_of(value: Value) -> Value:
    """What a value is a view of, perhaps through several views; else itself."""
    while is_view(value.node):
        value = value.node.inputs[0]
    return value


def is_barrier(node: Node) -> bool:
    """Whether a node is no part of a map or row kernel: its results are always in memory."""
    return node.prim.kind not in ("map", "source", "reduce") and not is_view(node)


class Fuser:
    def __init__(self, graph: Graph, memory: Memory):
        self.graph, self.memory = graph, memory
        self.steps: list[Step] = []
        self.demands: dict[Value, list[tuple[Cluster, tuple]]] = {}
        self.readers: dict[Value, list[Step]] = {}
        self.required: set[Value] = set()
        self.partials: dict[tuple, Cluster] = {}
        self.operands: dict[Value, Cluster] = {}
        self.leaves = Leaves(graph)
        self.uses = Counter(value for node in graph.nodes for value in node.inputs) + Counter(graph.outputs)
        self.nested = nested_pieces(graph, memory)
        for node in graph.nodes:
            if is_barrier(node) and not is_fetch(node):
                for value in node.outputs:
                    memory.home(value)

    # -- what is asked for --------------------------------------------------------------------
    def return_output(self, j: int, value: Value) -> None:
        """Have output j written, unless the kernel that computes it does so."""
        array = self.memory.outputs[j]
        if value.node is None or is_view(value.node) or self.memory.homes.get(value, array) is not array:
            self.copy(value, array, len(self.graph.nodes))

    def copy(self, value: Value, array: Array, position: int, after=()) -> Cluster:
        """A kernel that stores a value, wherever it comes from, to an array."""
        cluster = self.new_cluster(value.shape, position)
        cluster.after += after
        cluster.stores.append((value, cluster.access, array))
        self.demand(value, cluster, cluster.access)
        return cluster

    def new_cluster(self, shape, position: int) -> Cluster:
        cluster = Cluster(shape, position)
        self.steps.append(cluster)
        return cluster

    def demand(self, value: Value, cluster: Cluster, access) -> None:
        """Note that a kernel reads a value at an access."""
        self.demands.setdefault(value, []).append((cluster, access))

    def require(self, value: Value, reader: Step) -> None:
        """Note that a template reads a value, which must be in memory, perhaps as a view of what is."""
        base = base_of(value)
        number = base.weak and base.node is None
        if number or not self.memory.could_find(value, base):
            if value not in self.operands:
                array = self.memory.copies[value] = self.memory.context.temp(value.shape, value.dtype)
                self.operands[value] = self.copy(value, array, reader.first)
            self.operands[value].find().after.append(reader)
            return
        self.memory.home(base)
        self.required.add(base)
        self.readers.setdefault(base, []).append(reader)

    # -- one node -----------------------------------------------------------------------------
    def place(self, node: Node, position: int) -> None:
        name = node.prim.name
        if is_view(node):
            self.place_view(node, position)
        elif name in ("concat", "pad"):
            self.place_pieces(node, position)
        elif is_fetch(node) and self.place_fetch(node, position):
            return
        elif is_barrier(node):
            self.place_template(node, position)
        elif name == "partial_reduce":
            self.place_partial(node, position)
        else:
            self.place_compute(node, position)

    def readers_of(self, value: Value) -> list[Step]:
        """The steps that read a value, each once."""
        found = [c.find() for c, _ in self.demands.get(value, ())]
        found += [s.find() for s in self.readers.get(value, ())]
        return list({id(s): s for s in found}.values())

    def place_view(self, node: Node, position: int) -> None:
        """Readers of a view read what it is a view of."""
        value, source = node.outputs[0], node.inputs[0]
        demands = self.demands.get(value, ())
        if not demands:
            return
        if self.memory.find(base_of(source)) is not None and self.memory.find(value) is not None:
            for cluster, _ in demands:
                self.readers.setdefault(base_of(source), []).append(cluster)
            return
        for cluster, access in demands:
            inner = view_access(node, access)
            if inner is not None:
                self.demand(source, cluster.find(), inner)
            else:
                self.keep_contiguous(source, cluster.find(), position)

    def keep_contiguous(self, value: Value, reader: Cluster, position: int) -> None:
        """Have a value stored so that any reshape of it is a view."""
        places = self.memory.places.get(value, ())
        strided = any(self.graph.output_strides[j] is not None for j in places)
        if is_view(value.node) or value in self.memory.homes or strided:
            if value not in self.memory.packed:
                array = self.memory.context.temp(value.shape, value.dtype)
                self.memory.packed[value] = array, self.copy(value, array, position), []
            _, packer, readers = self.memory.packed[value]
            packer.find().after.append(reader)
            readers.append(reader)
        else:
            self.required.add(value)
            self.readers.setdefault(value, []).append(reader)

    def place_pieces(self, node: Node, position: int) -> None:
        """Each operand is computed right into its part of the result."""
        value = node.outputs[0]
        home, after = self.memory.home(value), self.readers_of(value)
        if after or value in self.memory.places or value in self.required:
            for part, array in pieces(node, home):
                if part in self.nested:
                    self.required.add(part)
                    self.readers.setdefault(part, []).extend(after)
                else:
                    self.copy(part, array, position, after)

    def place_fetch(self, node: Node, position: int) -> bool:
        """Read by index inside the one kernel that uses what is read, if there is one."""
        value, (source, *indices) = node.outputs[0], node.inputs
        demands = self.demands.get(value, [])
        if not demands or value in self.required or value in self.memory.places or not has_elements(node):
            return False
        groups = _by_cluster(demands)
        while len(groups) > 1:
            if not self.merge_some(node, groups):
                return False
            groups = _by_cluster(demands)
        ((cluster, accesses),) = groups
        if len(accesses) > MOST_ACCESSES or cluster.nodes >= MOST_NODES:
            return False
        self.enter(node, cluster, position)
        self.require(source, cluster)
        for access in accesses:
            place, _ = split_access(node, access)
            for index in indices:
                if self.leaves.lengths[index] > LONGEST_INDEX and takes_rows(node):
                    self.require(index, cluster)  # vectors of indices are cheaper than one for each row
                else:
                    self.demand(index, cluster, place)
        return True

    def place_template(self, node: Node, position: int) -> None:
        step = TemplateStep(node, position)
        for value in node.outputs:
            self.memory.home(value)
            step.after += self.readers_of(value)
        self.steps.append(step)
        if node.prim.name in ("put", "scatter"):
            self.start_in_result(node)
        if node.prim.columns is not None:
            place_columns(self, step)
        else:
            for value in node.inputs:
                self.require(value, step)

    def start_in_result(self, node: Node) -> None:
        """Have what a write by index starts from computed right where the result lies, if nothing else reads it."""
        start = node.inputs[0]
        computed = start.node is not None and start.node.prim.kind in ("map", "source")
        if computed and self.uses[start] == 1 and start not in self.memory.homes:
            self.memory.homes[start] = self.memory.home(node.outputs[0])

    def place_partial(self, node: Node, position: int) -> None:
        """A reduction in parts: its own kernel, or that of another one of the same loops."""
        value, source, attrs = node.outputs[0], node.inputs[0], node.attrs
        readers = self.readers_of(value)
        key = (attrs["dims"], size_key(attrs["parts"]), tuple(map(size_key, source.shape)))
        cluster = self.partials.get(key)
        shared = cluster is not None and cluster.leaves & self.leaves.reach[source]
        if not shared or any(reaches(r, cluster) or r is cluster for r in readers):
            cluster = self.partials[key] = self.new_cluster(value.shape, position)
            cluster.fold(cluster.access, value.shape, tuple(source.shape[d] for d in attrs["dims"]), commit=True)
            (cluster.parts,) = cluster.access[0].terms
        cluster.after += readers
        cluster.leaves |= self.leaves.reach[source]
        cluster.values.add(value)
        cluster.covers_position(position)
        cluster.stores.append((value, cluster.access, self.memory.home(value)))
        self.demand(source, cluster, inserted(cluster.access[1:], attrs["dims"], cluster.reduced))

    def place_compute(self, node: Node, position: int) -> None:
        """A map, a source or a reduction."""
        value = node.outputs[0]
        stored = value in self.required or value in self.memory.places
        demands = self.demands.get(value, [])
        if not demands and not stored:
            return
        if not stored and self.place_inside(node, demands, position):
            return
        self.place_stored(node, position)

    def place_inside(self, node: Node, demands, position: int) -> bool:
        """Compute a value in the kernel, or kernels, that read it."""
        groups = _by_cluster(demands)
        if len(groups) > 1 and self.leaves.is_cheap(node.outputs[0]):
            for cluster, accesses in groups:
                self.put(node, cluster, accesses, position)
            return True
        while len(groups) > 1:
            merged = self.merge_some(node, groups)
            if not merged:
                return False
            groups = _by_cluster(demands)
        cluster, accesses = groups[0]
        if not self.may_hold(node, cluster, accesses):
            return False
        self.put(node, cluster, accesses, position)
        return True

    def merge_some(self, node: Node, groups) -> bool:
        """Merge the first reader of a value with another one that can run in the same loops."""
        (one, accesses), *others = groups
        if len(accesses) != 1:
            return False
        return any(len(theirs) == 1 and self.merge(node, one, accesses[0], two, theirs[0]) for two, theirs in others)

    def merge(self, node: Node, one: Cluster, access, two: Cluster, other) -> bool:
        """Make one kernel of two that read the value of a node, if they can run in the same loops."""
        value = node.outputs[0]
        larger, where = max((one, access), (two, other), key=lambda t: len(t[0].loops()))
        if node.prim.kind == "reduce":
            folding = self.folded(node, larger, where, commit=False) is not None
        else:
            folding = self.expects(larger, value, where)
        if one.nodes + two.nodes > MOST_NODES or one.parts is not None or two.parts is not None:
            return False
        pairs = matching(one, access, two, other, folding)
        if pairs is None or reaches(one, two) or reaches(two, one):
            return False
        one.absorb(two, pairs)
        if not all(one.fits(a, v.shape) for v, a, _ in one.stores):
            one.expect(one.missing(access, value.shape))
        return True

    def expects(self, cluster: Cluster, value: Value, access) -> bool:
        """Whether a value seems to come from reductions over the loops of a kernel that it does not depend on.

        Loops may be as long by chance: what is reduced must be among what the kernel reads all along.
        """
        if cluster.reduced:
            return False
        missing = cluster.missing(access, value.shape)
        reduced = self.leaves.folds[value].get(hint(product(d.size for d in missing)), 0) if missing else 0
        return bool(reduced & (cluster.direct | self.leaves.direct[value]))

    def may_hold(self, node: Node, cluster: Cluster, accesses) -> bool:
        """Whether computing the node where it is read is possible, and not wasteful."""
        if cluster.nodes >= MOST_NODES:
            return False
        if node.prim.kind == "reduce":
            return len(accesses) == 1 and self.folded(node, cluster, accesses[0], commit=False) is not None
        if node.prim.kind == "source":
            return True
        if weight(node.prim.name, node.inputs[0].dtype) < EXPENSIVE:
            return len(accesses) <= MOST_ACCESSES
        return len(accesses) == 1 and not _repeats(cluster, node.outputs[0], accesses[0])

    def place_stored(self, node: Node, position: int) -> None:
        """Store a value from a kernel that reads it, from one with the same loops, or from its own."""
        value = node.outputs[0]
        readers = self.readers_of(value)
        for cluster, access in self.candidates(node):  # noqa: B007 - the first that does
            if all(r is cluster or not reaches(r, cluster) for r in readers):
                break
        else:
            cluster = self.new_cluster(value.shape, position)
            access = cluster.access
        if node.prim.kind != "reduce" and self.expects(cluster, value, access):
            cluster.expect(cluster.missing(access, value.shape))
        home = self.memory.home(value)
        cluster.stores += [(value, access, array) for array in (home, *self.memory.other_outputs(value))]
        cluster.after += [r for r in readers if r is not cluster]
        self.put(node, cluster, [access], position)

    def candidates(self, node: Node):
        """Kernels that could store the value of a node, with the access it would have there."""
        value = node.outputs[0]
        for cluster, accesses in _by_cluster(self.demands.get(value, ())):
            if len(accesses) == 1 and self.could_store(node, cluster, accesses[0]):
                yield cluster, accesses[0]
        for step in self.steps[-SIBLINGS:]:
            cluster = step.find()
            if type(cluster) is not Cluster or not cluster.leaves & self.leaves.reach[value]:
                continue
            for loops in (cluster.loops(), cluster.outer()):
                access = _in_order(loops, value.shape)
                if access is not None and self.could_store(node, cluster, access):
                    yield cluster, access

    def could_store(self, node: Node, cluster: Cluster, access) -> bool:
        if cluster.nodes >= MOST_NODES or cluster.parts is not None:
            return False
        if any(step.find() is cluster for step in self.readers.get(node.outputs[0], ())):
            return False  # it reads the value elsewhere than where it would compute it
        for reader, accesses in _by_cluster(self.demands.get(node.outputs[0], ())):
            if reader is cluster and any(access_key(a) != access_key(access) for a in accesses):
                return False
        if node.prim.kind != "reduce":
            return cluster.fits(access, node.outputs[0].shape) or self.expects(cluster, node.outputs[0], access)
        return self.folded(node, cluster, access, commit=False) is not None

    def folded(self, node: Node, cluster: Cluster, access, *, commit: bool):
        """The access of a reduction's operand if the reduction is read at `access`, or None."""
        source = node.inputs[0]
        dims = folded_dims(node)
        sizes = tuple(source.shape[d] for d in dims)
        apart = not (cluster.reduced or commit or self.leaves.direct[source] & cluster.direct)
        if apart and cluster.missing(access, node.outputs[0].shape):
            return None  # its loops are as long as the kernel's by chance
        indices = cluster.fold(access, node.outputs[0].shape, sizes, commit=commit)
        return None if indices is None else inserted(access, dims, indices)

    def enter(self, node: Node, cluster: Cluster, position: int) -> None:
        """Note that a kernel computes a node."""
        cluster.nodes += 1
        cluster.values.add(node.outputs[0])
        cluster.covers_position(position)
        cluster.leaves |= self.leaves.reach[node.outputs[0]]
        cluster.direct |= self.leaves.direct[node.inputs[0] if node.prim.kind == "reduce" else node.outputs[0]]

    def put(self, node: Node, cluster: Cluster, accesses, position: int) -> None:
        """Compute a node in a kernel: the kernel reads its operands."""
        self.enter(node, cluster, position)
        for access in accesses:
            if node.prim.kind == "reduce":
                access = self.folded(node, cluster, access, commit=True)
            for value in node.inputs:
                self.demand(value, cluster, access)


def folded_dims(node: Node) -> tuple[int, ...]:
    """The dimensions that a reduction folds."""
    return tuple(sorted(node.attrs["dims"])) if "dims" in node.attrs else (node.attrs["dim"],)


def inserted(access, dims, indices) -> tuple:
    """The operand's access: `indices` at the folded dimensions, the result's access at the others."""
    kept = iter(access)
    folded = dict(zip(dims, indices))
    return tuple(folded[d] if d in folded else next(kept) for d in range(len(access) + len(dims)))


def _by_cluster(demands) -> list[tuple[Cluster, list]]:
    """The different accesses of each kernel among demands."""
    groups: dict[int, tuple[Cluster, dict]] = {}
    for cluster, access in demands:
        cluster = cluster.find()
        groups.setdefault(id(cluster), (cluster, {}))[1].setdefault(access_key(access), access)
    return [(cluster, list(accesses.values())) for cluster, accesses in groups.values()]


def _repeats(cluster: Cluster, value: Value, access) -> bool:
    """Whether a kernel would compute the same element of an expensive value many times over."""
    dims = access_dims(access)
    missing = [d for d in cluster.loops() if d not in dims]
    if len([d for a in access for d in a.terms]) != len(dims) or not all(map(_is_mixed_radix, access)):
        return True
    if not missing or set(missing) <= cluster.folded():
        return False
    # a value that stays the same in the inner loops is computed outside of them
    inner = cluster.loops()[-len(missing) :]
    return set(inner) != set(missing) or hint(product(d.size for d in inner)) < 16


def _is_mixed_radix(affine) -> bool:
    """Whether different loop counts give different indices."""
    terms = sorted(affine.resolved().terms.items(), key=lambda t: abs(hint(t[1])))
    return all(abs(hint(c2)) >= abs(hint(c1)) * hint(d1.size) for (d1, c1), (_, c2) in pairwise(terms))


def _in_order(loops, shape) -> tuple | None:
    """The access that reads a value of this shape by these loops, one for each dimension, or None."""
    sizes = [s for s in shape if not (type(s) is int and s == 1)]
    if len(sizes) != len(loops) or not all(known_equal(d.size, s) for d, s in zip(loops, sizes)):
        return None
    dims = iter(loops)
    return tuple(ZERO if type(s) is int and s == 1 else index_of(next(dims)) for s in shape)
