"""Random numbers under `vmap`: an error, the same for all samples, or different ones, as its `randomness` says."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from .batched_views import hidden, revealed
from .creation import fresh


def different_levels() -> dict:
    """Level -> size of the open levels whose samples get numbers of their own; RuntimeError if one allows none."""
    for level in engine.open_levels():
        if level.randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
                "'different' randomness flags on vmap or perform the randomness operation out of vmap"
            )
    return {level.number: level.size for level in engine.open_levels() if level.randomness == "different"}


def drawn(made: Tensor, draw, numbers: tuple, rows: bool) -> Tensor:
    """Fresh memory filled by `draw(tensor, *numbers)`, once for each sample that differs; a call for each if `rows`."""
    sizes = different_levels()
    if not sizes:
        draw(made, *numbers)
        return made
    whole = fresh((*sizes.values(), *made.shape), made.dtype)
    if rows:
        for sample in whole.reshape((-1, *made.shape)).unbind():
            draw(sample, *numbers)
    else:
        draw(whole, *numbers)
    return hidden(whole, list(sizes))


def drawn_into(tensor: Tensor, draw, numbers: tuple) -> Tensor:
    """A tensor filled in place; its samples differ where `vmap` says so."""
    own = [level for level, _, stride in tensor._layout.batch or () if stride]
    if any(level not in own for level in different_levels()):
        raise RuntimeError(
            "vmap: Cannot call an in-place random operation on a tensor that is not vmapped over with randomness "
            "'different': its samples are one. Make the tensor from one that is vmapped over, or use the out-of-place "
            "form"
        )
    return tensor.copy_(drawn(fresh(tuple(tensor.shape), tensor.dtype), draw, numbers, False))


def sampled(function, *tensors) -> Tensor:
    """`function` of parameters, tensors or numbers, over all samples at once."""
    sizes = different_levels()
    batched = {level: size for t in tensors if isinstance(t, Tensor) for level, size, _ in t._layout.batch or ()}
    if any(level not in sizes for level in batched):
        raise RuntimeError(
            "vmap: same randomness with a batched tensor input is not supported: use randomness='different'"
        )
    if not sizes:
        return at_once(function, tensors)
    sizes = dict(sorted((sizes | batched).items()))
    ndim = max(t.ndim for t in tensors if isinstance(t, Tensor))
    return hidden(at_once(function, [in_front(t, sizes, ndim) for t in tensors]), list(sizes))


def at_once(function, tensors):
    """A call outside of all levels."""
    was = engine.set_open_levels(())
    try:
        return function(*tensors)
    finally:
        engine.set_open_levels(was)


def in_front(tensor, sizes: dict, ndim: int):
    """A parameter with all levels' dims in front, then `ndim` dims of a sample."""
    if not isinstance(tensor, Tensor):
        return tensor
    tensor = tensor.detach()
    tensor = tensor.reshape((1,) * (ndim - tensor.ndim) + tuple(tensor.shape))
    own = [level for level, _, _ in tensor._layout.batch or ()]
    for level, size in sizes.items():
        if level not in own:
            tensor = engine.share(tensor, level, size)
    return revealed(tensor)[0]
