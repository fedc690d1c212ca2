"""Whole derivatives: `jacrev` by rows, `jacfwd` by columns, `hessian` by columns of rows; all at once by `vmap`."""

from __future__ import annotations

import functools
from collections.abc import Callable

from ..autograd.levels import basis
from ..core.engine import Tensor
from ..ops.declare import FUNCTIONS
from ..utils._pytree import tree_flatten, tree_unflatten
from .derivatives import jvp, places_of, vjp
from .vmap import vmap


def jacrev(
    func: Callable,
    argnums: int | tuple = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable:
    """A function that computes the Jacobian of `func` in reverse mode: best where outputs are fewer than inputs.

    The result has, for each leaf of the output, the structure of the arguments that `argnums` names (an int, or a
    tuple), with tensors of shape `output.shape + input.shape`. All rows are computed at once, `chunk_size` of
    them at a time if given. With `has_aux`, `func` returns (output, aux) and the result is (Jacobian, aux).

    >>> from rushlight.func import jacrev
    >>> jacrev(lambda x: x * x)(rushlight.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func, updated=())
    def jacobian(*args, **kwargs):
        places = places_of("jacrev", argnums, len(args))
        output, pull, *aux = vjp(partly(func, args, kwargs, places), *(args[p] for p in places), has_aux=has_aux)
        leaves, spec = tree_flatten(output)
        rows = basis([y.shape for y in leaves], [y.dtype for y in leaves])
        found = vmap(lambda *c: pull(tree_unflatten(c, spec)), chunk_size=chunk_size)(*rows)
        found = [tree_flatten(tree) for tree in found]
        result = []
        for parts in cut_rows([leaf for below, _ in found for leaf in below], leaves):
            supply = iter(parts)
            trees = [tree_unflatten([next(supply) for _ in below], tree) for below, tree in found]
            result.append(trees[0] if isinstance(argnums, int) else tuple(trees))
        result = tree_unflatten(result, spec)
        return (result, *aux) if has_aux else result

    return jacobian


def partly(func, args: tuple, kwargs: dict, places: list) -> Callable:
    """The function of the arguments at some places; the others are as given."""

    def function(*given):
        every = list(args)
        for place, value in zip(places, given):
            every[place] = value
        return func(*every, **kwargs)

    return function


def cut_rows(found: list, outputs: list) -> list:
    """For each output, the parts of stacked rows that belong to it, in its shape."""
    counts = [y.numel() for y in outputs]
    cut = [rows.split(counts) for rows in found]
    return [[parts[j].reshape((*y.shape, *parts[j].shape[1:])) for parts in cut] for j, y in enumerate(outputs)]


def jacfwd(func: Callable, argnums: int | tuple = 0, has_aux: bool = False, *, randomness: str = "error") -> Callable:
    """A function that computes the Jacobian of `func` in forward mode: best where inputs are fewer than outputs.

    The result is that of `jacrev`. `randomness` says what random numbers do in `func`, as for `vmap`.

    >>> from rushlight.func import jacfwd
    >>> jacfwd(rushlight.sin)(rushlight.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    @functools.wraps(func, updated=())
    def jacobian(*args, **kwargs):
        places = places_of("jacfwd", argnums, len(args))
        function = partly(func, args, kwargs, places)
        primals = tuple(args[p] for p in places)
        inputs, spec = tree_flatten(primals)
        for x in inputs:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"jacfwd: expected the arguments to differentiate by to be Tensors, got {type(x)}")
        columns = basis([x.shape for x in inputs], [x.dtype for x in inputs])
        held: list = []

        def push(*tangents):
            found = jvp(function, primals, tree_unflatten(tangents, spec), has_aux=has_aux)
            held[:] = found[2:]
            return found[1]

        moved, output_spec = tree_flatten(vmap(push, randomness=randomness)(*columns))
        result = []
        for y in moved:
            parts = [part_of_columns(y, x, start) for x, start in zip(inputs, starts_of(inputs))]
            trees = tree_unflatten(parts, spec)
            result.append(trees[0] if isinstance(argnums, int) else trees)
        result = tree_unflatten(result, output_spec)
        return (result, *held) if has_aux else result

    return jacobian


def starts_of(inputs: list) -> list:
    starts = [0]
    for x in inputs:
        starts.append(starts[-1] + x.numel())
    return starts[:-1]


def part_of_columns(moved: Tensor, x: Tensor, start: int) -> Tensor:
    """The Jacobian by one input: tangents stacked along dim 0 become its dims at the end."""
    part = FUNCTIONS["movedim"](moved.narrow(0, start, x.numel()), 0, -1)
    return part.reshape((*part.shape[:-1], *x.shape))


def hessian(func: Callable, argnums: int | tuple = 0) -> Callable:
    """A function that computes the matrix of second derivatives of `func`: forward mode over reverse mode.

    >>> from rushlight.func import hessian
    >>> hessian(lambda x: (x**3).sum())(rushlight.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
