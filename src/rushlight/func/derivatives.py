"""Derivatives as functions: `grad`, `grad_and_value`, `vjp`, `jvp`, `linearize`.

Each call differentiates by variables of its own, so derivatives nest without mixing. What they return belongs to the
caller's graph only if something that the caller differentiates by took part.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from ..autograd.forward_mode import attach, exit_dual_level, open_level, unpack_dual
from ..autograd.levels import alias, untracked, variable
from ..autograd.modes import enable_grad
from ..core import engine
from ..core.engine import Tensor, is_grad_enabled, run_backward
from ..ops.declare import FUNCTIONS
from ..utils._pytree import tree_flatten, tree_map, tree_map_only, tree_unflatten

ZEROS, ONES = FUNCTIONS["zeros_like"], FUNCTIONS["ones_like"]


# -- grad -------------------------------------------------------------------------------------------
def grad(func: Callable, argnums: int | tuple = 0, has_aux: bool = False) -> Callable:
    """A function that computes the gradients of `func`, whose output is one number.

    argnums  which arguments to differentiate by: an int, or a tuple of them, which gives a tuple of gradients
    has_aux  `func` returns (output, aux); the result is (gradients, aux)

    An argument may be a tree of tensors (a dict of parameters); its gradient is a tree like it.

    >>> from rushlight.func import grad
    >>> grad(grad(rushlight.sin))(rushlight.tensor(0.5)) == -rushlight.tensor(0.5).sin()
    tensor(True)
    """

    @functools.wraps(func, updated=())
    def gradient(*args, **kwargs):
        found = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (found[0], found[1][1]) if has_aux else found[0]

    return gradient


def grad_and_value(func: Callable, argnums: int | tuple = 0, has_aux: bool = False) -> Callable:
    """A function that computes the gradients of `func` and its output: (gradients, output).

    With `has_aux` the result is (gradients, (output, aux)). Arguments as for `grad`.

    >>> from rushlight.func import grad_and_value
    >>> grad_and_value(lambda x: x * x)(rushlight.tensor(3.0))
    (tensor(6.), tensor(9.))
    """

    @functools.wraps(func, updated=())
    def gradient(*args, **kwargs):
        tracked = Tracked("grad", args, argnums)
        output, aux = tracked.call(func, kwargs, has_aux)
        check_scalar(output)
        together = tracked.matters_outside([output])
        found = tracked.pull([output], [ONES(output)], together, together)
        output = output if together else untracked(output)
        value = (output, tracked.released(aux, together)) if has_aux else output
        return tracked.as_arguments(found), value

    return gradient


def check_scalar(output) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)} instead: grad "
            "computes gradients of a single number (f may return (output, aux) with has_aux=True)"
        )
    if output.ndim:
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with {output.ndim} "
            "dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )


class Tracked:
    """Arguments among which some are variables to differentiate by."""

    def __init__(self, name: str, args: tuple, argnums):
        self.name, self.args, self.argnums = name, args, argnums
        self.places = places_of(name, argnums, len(args))
        self.outer = is_grad_enabled()
        self.variables: list = []
        self.specs: list = []
        self.given = list(args)
        for place in self.places:
            leaves, spec = tree_flatten(args[place])
            made = [self.variable(leaf) for leaf in leaves]
            self.variables += made
            self.specs.append(spec)
            self.given[place] = tree_unflatten(made, spec)

    def variable(self, leaf) -> Tensor:
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{self.name}: expected the arguments to differentiate by to be Tensors or trees of them, got "
                f"{type(leaf)}"
            )
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise RuntimeError(
                f"{self.name}: only Tensors of floating point and complex dtype can be differentiated by, got "
                f"{leaf.dtype}"
            )
        return variable(leaf)

    def call(self, func, kwargs: dict, has_aux: bool):
        """(output, aux), recorded."""
        with enable_grad():
            return split_aux(self.name, func(*self.given, **kwargs), has_aux)

    def matters_outside(self, outputs: list) -> bool:
        """Whether the outputs depend on something that is differentiated by outside of this call."""
        return self.outer and engine.reaches_other_leaves(outputs, self.variables)

    def pull(self, outputs: list, cotangents: list, keep: bool, create_graph: bool) -> list:
        """The gradients of the variables, zeros for those that no output depends on."""
        live = [(y, c) for y, c in zip(outputs, cotangents) if y.requires_grad]
        found: list = [None] * len(self.variables)
        if live:
            ys, cs = map(list, zip(*live))
            found = run_backward(ys, cs, keep, create_graph, self.variables, False)
        return [ZEROS(untracked(x)) if g is None else g for g, x in zip(found, self.variables)]

    def as_arguments(self, found: list):
        """Gradients in the form of the arguments that they belong to."""
        supply, trees = iter(found), []
        for spec in self.specs:
            trees.append(tree_unflatten([next(supply) for _ in range(spec.num_leaves)], spec))
        return trees[0] if isinstance(self.argnums, int) else tuple(trees)

    @staticmethod
    def released(tree, together: bool):
        """A tree whose tensors leave this call's graph, unless that belongs to the caller's."""
        return tree if together else tree_map_only(Tensor, untracked, tree)


def places_of(name: str, argnums, count: int) -> list:
    """Non-negative places of arguments."""
    if not isinstance(argnums, (int, tuple)) or isinstance(argnums, bool):
        raise RuntimeError(f"{name}: argnums should be int or Tuple[int, ...], got: {type(argnums)}")
    given = (argnums,) if isinstance(argnums, int) else argnums
    if not given:
        raise RuntimeError(f"{name}: argnums is an empty tuple: name at least one argument")
    for place in given:
        if not isinstance(place, int) or isinstance(place, bool):
            raise RuntimeError(f"{name}: argnums must be int or Tuple[int, ...], got an entry of {type(place)}")
        if not -count <= place < count:
            raise RuntimeError(f"Got argnum={place}, but only {count} positional inputs")
    places = [place % count for place in given]
    if len(set(places)) != len(places):
        raise RuntimeError(f"{name}: argnums elements must be unique, got {argnums}")
    return places


def split_aux(name: str, found, has_aux: bool):
    """(output, aux)"""
    if not has_aux:
        return found, None
    if not isinstance(found, tuple) or len(found) != 2:
        raise RuntimeError(
            f"{name}(f, has_aux=True)(*args): output of function f should be a tuple: (output, aux), got {found}"
        )
    return found


# -- vjp --------------------------------------------------------------------------------------------
def vjp(func: Callable, *primals, has_aux: bool = False):
    """(func(*primals), pull): `pull(cotangents)` gives the product of cotangents with the Jacobian.

    `pull` takes a tree like the output and returns a gradient (a tree like the primal) for each primal, alone if
    there is one. With `has_aux`, `func` returns (output, aux) and the result is (output, pull, aux).

    >>> from rushlight.func import vjp
    >>> output, pull = vjp(lambda x: x * x, rushlight.tensor([1.0, 2.0]))
    >>> pull(rushlight.ones(2))
    (tensor([2., 4.]),)
    """
    tracked = Tracked("vjp", primals, tuple(range(len(primals))))
    output, aux = tracked.call(func, {}, has_aux)
    leaves, spec = tree_flatten(output)
    check_outputs("vjp", leaves, output)
    together = tracked.matters_outside([y for y in leaves if y.requires_grad])

    def pull(cotangents, retain_graph: bool = True, create_graph: bool | None = None):
        given, other = tree_flatten(cotangents)
        if other != spec:
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {other}, primal output: {spec}"
            )
        for c, y in zip(given, leaves):
            check_cotangent(c, y)
        if create_graph is None:
            create_graph = is_grad_enabled() and (together or any(c.requires_grad for c in given))
        found = tracked.pull(leaves, given, retain_graph, create_graph)
        return tracked.as_arguments(found)

    shown = tree_unflatten([y if together else untracked(y) for y in leaves], spec)
    return (shown, pull, tracked.released(aux, together)) if has_aux else (shown, pull)


def check_outputs(name: str, leaves: list, output) -> None:
    if not leaves:
        raise RuntimeError(
            f"{name}(f, *primals): Expected f to be a function that has non-empty output (got output = {output})"
        )
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{name}(f, *primals): expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"
            )


def check_cotangent(cotangent, output: Tensor) -> None:
    if not isinstance(cotangent, Tensor):
        raise RuntimeError(f"vjp: expected the cotangents to be Tensors, got {type(cotangent)}")
    if cotangent.shape != output.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output has a shape of {cotangent.shape} and output has a shape of {output.shape}."
        )


# -- jvp --------------------------------------------------------------------------------------------
def jvp(func: Callable, primals, tangents, *, strict: bool = False, has_aux: bool = False):
    """(func(*primals), the direction in which that moves when the primals move along the tangents).

    `primals` and `tangents` are tuples of the same trees of tensors. An output that does not move has zeros, or raises
    RuntimeError if `strict`. With `has_aux`, `func` returns (output, aux) and the result is (output, tangent, aux).

    >>> from rushlight.func import jvp
    >>> jvp(rushlight.sin, (rushlight.tensor(0.0),), (rushlight.tensor(2.0),))
    (tensor(0.), tensor(2.))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals). "
            f"Got {type(primals)}"
        )
    leaves, spec = tree_flatten(primals)
    moving, other = tree_flatten(tangents)
    if spec != other:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, "
            "if primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{spec} and tangents with structure {other}"
        )
    if not leaves:
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to be non-empty")
    for x, t in zip(leaves, moving):
        check_direction(x, t)
    level = open_level()
    try:
        duals = [moved(x, t, level) for x, t in zip(leaves, moving)]
        output, aux = split_aux("jvp", func(*tree_unflatten(duals, spec)), has_aux)
        found, output_spec = tree_flatten(output)
        check_outputs("jvp", found, output)
        pairs = [unpacked(y, level, strict) for y in found]
        aux = tree_map(lambda leaf: unpack_dual(leaf).primal if isinstance(leaf, Tensor) else leaf, aux)
    finally:
        exit_dual_level(level=level)
    value = tree_unflatten([y for y, _ in pairs], output_spec)
    moved_by = tree_unflatten([t for _, t in pairs], output_spec)
    return (value, moved_by, aux) if has_aux else (value, moved_by)


def check_direction(x, t) -> None:
    for leaf in (x, t):
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"jvp: expected primals and tangents to hold only Tensors, got {type(leaf)}")
    if x.shape != t.shape or x.dtype is not t.dtype:
        raise RuntimeError(
            f"jvp: expected primal and tangent of the same shape and dtype, got {x.dtype}{list(x.shape)} and "
            f"{t.dtype}{list(t.shape)}"
        )
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(f"jvp: expected primals of floating point or complex dtype, got {x.dtype}")


def moved(x: Tensor, tangent: Tensor, level: int) -> Tensor:
    """The tensor as a variable of its own that moves along a tangent at a level."""
    made = alias(x)
    attach(made, tangent, level)
    return made


def unpacked(output: Tensor, level: int, strict: bool) -> tuple:
    """(output, its tangent), both without the level's."""
    value, tangent = unpack_dual(output, level=level)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        tangent = ZEROS(untracked(value))
    return value, tangent


# -- linearize --------------------------------------------------------------------------------------
def linearize(func: Callable, *primals):
    """(func(*primals), push): `push(*tangents)` is the Jacobian's product with tangents like the primals.

    `func` runs once. What it computed is kept for `push`, which may be called many times: it is the transpose of the
    (linear) reverse pass.

    >>> from rushlight.func import linearize
    >>> output, push = linearize(lambda x: x * x, rushlight.tensor(3.0))
    >>> push(rushlight.tensor(1.0))
    tensor(6.)
    """
    tracked = Tracked("linearize", primals, tuple(range(len(primals))))
    output, _ = tracked.call(func, {}, False)
    leaves, spec = tree_flatten(output)
    check_outputs("linearize", leaves, output)
    together = tracked.matters_outside([y for y in leaves if y.requires_grad])
    with enable_grad():
        live = [i for i, y in enumerate(leaves) if y.requires_grad]
        cotangents = [variable(ZEROS(untracked(leaves[i]))) for i in live]
        pulled = tracked.pull([leaves[i] for i in live], cotangents, True, True)

    def push(*tangents):
        given, other = tree_flatten(tangents)
        if other != tree_flatten(primals)[1]:
            raise RuntimeError(f"linearize: expected tangents with the structure of the primals, got {other}")
        for x, t in zip(tracked.variables, given):
            check_direction(x, t)
        found = [ZEROS(untracked(y)) for y in leaves]
        roots = [(g, t) for g, t in zip(pulled, given) if g.requires_grad]
        if roots:
            gs, ts = map(list, zip(*roots))
            graph = is_grad_enabled() and (together or any(t.requires_grad for t in given))
            for i, answer in zip(live, run_backward(gs, ts, True, graph, cotangents, False)):
                found[i] = found[i] if answer is None else answer
        return tree_unflatten(found, spec)

    return tree_unflatten([y if together else untracked(y) for y in leaves], spec), push
