"""Accesses through views, and the loop nests made of them: loops joined, the vector loop chosen, text shared."""

import numpy as np
import pytest
from lower_functions import layer_norm, softmax
from lower_harness import Case, random

from rushlight.compiler.affine import Affine, Dim, access_dims, covers, divide, fresh_access, index_of, linear, unify
from rushlight.compiler.templates import Array
from rushlight.compiler.views import matching_groups, reshape_access, reshape_array, view_access, view_array
from rushlight.ir import build as B
from rushlight.ir.dtypes import float32
from rushlight.ir.graph import Graph


def value_at(affine: Affine, indices: dict) -> int:
    """The number that an index is for given loop counts of the dims it began with."""
    affine.resolved()
    return affine.const + sum(c * indices[d] for d, c in affine.terms.items())


def digits(dim: Dim, number: int) -> dict:
    """The counts of the loops that a loop was split in."""
    found = {}
    for leaf, coefficient in dim.resolve():
        found[leaf] = number // coefficient % leaf.size
    return found


# -- affine indices -----------------------------------------------------------------------------
def test_divide_takes_whole_terms_apart():
    a, b = Dim(5), Dim(6)
    quotient, remainder = divide(linear([(index_of(a), 5), (index_of(b), 6)]), 6)
    assert quotient.terms == {a: 1} and remainder.terms == {b: 1}


def test_divide_splits_a_loop():
    a = Dim(24)
    quotient, remainder = divide(index_of(a), 6)
    for i in range(24):
        assert value_at(quotient, digits(a, i)) == i // 6
        assert value_at(remainder, digits(a, i)) == i % 6


def test_divide_gives_up_where_it_must():
    assert divide(index_of(Dim(10)), 4) is None
    assert divide(index_of(Dim(12)).shifted(1), 4) is None


def test_unified_loops_are_one():
    a, b = Dim(4), Dim(4)
    unify(a, b)
    assert (index_of(a) + index_of(b)).resolved().terms == {a: 2}


def test_covers_wants_every_loop_once():
    access = fresh_access((3, 1, 4))
    dims = access_dims(access)
    assert covers(access, (3, 1, 4), dims)
    assert not covers(access, (3, 1, 5), dims)
    assert not covers((access[0], access[1], access[0]), (3, 1, 3), access_dims(access[:1]))


# -- views ----------------------------------------------------------------------------------------
VIEWS = {
    "permute": (lambda x: B.permute(x, (2, 0, 1)), (2, 3, 4)),
    "expand": (lambda x: B.broadcast_to(x, (5, 3, 4)), (3, 1)),
    "slice": (lambda x: B.slice(x, (1, 2), (2, 3)), (4, 6)),
    "flip": (lambda x: B.flip(x, (0,)), (4, 6)),
    "diagonal": (lambda x: B.diagonal(x, -1, 0, 1), (4, 6)),
    "unfold": (lambda x: B.unfold(x, 0, 3, 2), (9,)),
    "merge": (lambda x: B.reshape(x, (24,)), (4, 6)),
    "split": (lambda x: B.reshape(x, (2, 3, 4)), (24,)),
    "split and merge": (lambda x: B.reshape(x, (4, 1, 3, 2, 5)), (2, 6, 2, 5)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_as_accesses_and_as_strides(name):
    build, shape = VIEWS[name]
    graph = Graph()
    x = graph.tensor(shape, float32)
    with graph:
        y = build(x if name != "expand" else B.broadcast_to(x, (3, 4)))
    node = y.node
    source = node.inputs[0]
    array = np.arange(int(np.prod(source.shape))).reshape(source.shape)
    want = node.prim.numpy_rule(array, **node.attrs)

    access = fresh_access(y.shape)
    dims = [next(iter(a.terms), None) for a in access]
    inner = view_access(node, access)
    strides = view_array(node, Array("input", 0, source.shape, tuple(s // 8 for s in array.strides), float32))
    for index in np.ndindex(*y.shape):
        counts = {}
        for dim, i in zip(dims, index):
            counts |= digits(dim, i) if dim is not None else {}
        assert array[tuple(value_at(a, counts) for a in inner)] == want[index]
        assert strides.offset + sum(i * s for i, s in zip(index, strides.strides)) == want[index]


def test_reshapes_without_a_common_form():
    assert reshape_access(fresh_access((8, 3)), (8, 3), (6, 4)) is None
    across = Array("input", 0, (6, 4), (1, 6), float32)
    assert reshape_array(across, (24,)) is None
    assert reshape_array(across, (2, 3, 4)).strides == (3, 1, 6)


def test_matching_groups_are_the_finest():
    assert matching_groups((2, 3, 4, 1), (6, 1, 2, 2)) == [([0, 1], [0]), ([2], [2, 3])]


# -- nests ----------------------------------------------------------------------------------------
def text(build, *arrays, **options):
    return [launch.kernel.text for launch in Case(build, arrays, **options).lowered.launches]


def loops_of(build, *arrays):
    from rushlight.compiler.expressions import Body
    from rushlight.compiler.fuse import fuse
    from rushlight.compiler.launch import Lowered
    from rushlight.compiler.memory import Memory
    from rushlight.compiler.nest import Nest
    from rushlight.compiler.simplify import simplify
    from rushlight.compiler.templates import Context

    graph = simplify(Case(build, arrays).graph)
    memory = Memory(graph, Context(Lowered([])))
    (cluster,) = fuse(graph, memory).steps
    return Nest(Body(cluster, memory))


def sizes(loops):
    return [d.size for d in loops]


def test_contiguous_dims_are_one_loop():
    nest = loops_of(lambda a, b: a + b, random((4, 5, 6)), random((4, 5, 6)))
    assert nest.outer == [] and sizes(nest.inner) == [120]


def test_broadcasting_keeps_loops_apart():
    nest = loops_of(lambda a, b: a + b, random((4, 5, 6)), random((5, 6)))
    assert sizes(nest.outer) == [4] and sizes(nest.inner) == [30]


def test_rows_are_folded_along_memory():
    nest = loops_of(softmax, random((4, 5, 60)))
    assert not nest.vertical and sizes(nest.outer) == [20] and sizes(nest.inner) == [60]


def test_columns_are_folded_across_memory():
    nest = loops_of(lambda x: softmax(x, 1), random((4, 50, 60)))
    assert nest.vertical and sizes(nest.outer) == [4, 60] and sizes(nest.inner) == [50]


def test_short_rows_are_folded_side_by_side():
    assert loops_of(softmax, random((400, 3))).vertical


def test_several_folded_dims_that_do_not_join():
    nest = loops_of(lambda x: B.sum(x, (0, 2, 3)), random((4, 5, 6, 7)))
    assert sizes(nest.outer) == [5] and sizes(nest.inner) == [4, 42]


def test_softmax_has_three_passes_and_keeps_exp():
    nest = loops_of(softmax, random((4, 60)))
    assert len(nest.passes) == 3
    assert [e.name for e in nest.passes[1].keep] == ["exp"] and nest.passes[2].kept


def test_layer_norm_keeps_nothing():
    nest = loops_of(layer_norm, random((4, 60)), random((60,)), random((60,)))
    assert len(nest.passes) == 3 and not any(p.keep for p in nest.passes)


def test_results_order_the_loops():
    nest = loops_of(lambda x: B.exp(x), np.asfortranarray(random((20, 60))))
    assert nest.tile is not None and sizes(nest.inner) == [60]


def scaled(x, s):
    return x * s


def test_equal_structures_share_their_text():
    """Other sizes, other strides and other numbers are parameters."""
    base = text(softmax, random((30, 50)), symbolic=True)
    assert base == text(softmax, random((70, 91)), symbolic=True)
    assert text(scaled, random((30,)), numbers=(2.0,)) == text(scaled, random((50,)), numbers=(3.0,))
    wide = random((30, 100))
    assert text(B.exp, wide[:, :50], symbolic=True) == text(B.exp, wide[:, :60], symbolic=True)
    assert text(softmax, random((30, 50))) == text(softmax, random((30, 50)))


def test_lowering_does_not_specialise_sizes():
    scope = Case(layer_norm, [random((30, 50)), random((50,)), random((50,))], symbolic=True).scope
    assert not any("==" in guard for guard in scope.guards)
