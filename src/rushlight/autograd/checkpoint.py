"""Trading time for memory: a checkpointed function keeps its inputs only and runs again in the backward pass."""

from __future__ import annotations

import contextlib
import warnings
import weakref

from .. import random
from ..core.engine import Tensor
from ..ops.notices import warn_user
from .backward import backward
from .function import Function
from .graph import saved_tensors_hooks
from .modes import enable_grad, is_grad_enabled, no_grad


class CheckpointError(RuntimeError):
    """The second run of a function did not repeat the first."""


def noop_context_fn():
    """Contexts of the two runs that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function,
    *args,
    use_reentrant: bool | None = None,
    context_fn=noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs,
):
    """`function(*args, **kwargs)`, of which nothing is kept but the arguments: the backward pass runs it again.

    use_reentrant       False (recommended) recomputes what saved tensors held, when the first of them is asked for;
    any arguments
                        and nested use are fine. True runs the function again inside a backward pass of its own: it
                        needs a
                        tensor among the positional arguments that requires a gradient, and takes no keyword arguments
    preserve_rng_state  draw the same random numbers again
    context_fn          returns the context managers of the first and of the second run
    determinism_check   "default" compares shapes and dtypes of what the second run saves with the first, "none" does
    not
    early_stop          end the second run once all that was saved is there again
    debug               accepted for PyTorch's sake: errors always tell which tensor differs

    Raises CheckpointError where the second run saves other tensors than the first.
    """
    if use_reentrant is None:
        warnings.warn(
            "checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
            "recommended; the default "
            "is still True.",
            stacklevel=2,
        )
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        if not any(isinstance(value, Tensor) and value.requires_grad for value in args):
            warn_user("None of the inputs have requires_grad=True. Gradients will be None")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'] but got {determinism_check}")
    if not is_grad_enabled():
        return function(*args, **kwargs)
    first, second = context_fn()
    frame = Frame(
        lambda: function(*args, **kwargs), second, preserve_rng_state, determinism_check == "default", early_stop
    )
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        return function(*args, **kwargs)


class set_checkpoint_early_stop:
    """Within the block, checkpoints end their second run early or not, whatever they were told."""

    def __init__(self, enable: bool):
        self.enable = enable

    def __enter__(self):
        self.was, Frame.early_stop_for_all = Frame.early_stop_for_all, self.enable

    def __exit__(self, *exc):
        Frame.early_stop_for_all = self.was


def checkpoint_sequential(functions, segments: int, input, use_reentrant: bool | None = None, **kwargs):
    """Run modules one after another in `segments` parts, each but the last one checkpointed."""
    if use_reentrant is None:
        warn_user(
            "checkpoint_sequential: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
            "recommended; the default is still True."
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(functions) // segments

    def part(start: int, stop: int):
        def run(value):
            for function in functions[start:stop]:
                value = function(value)
            return value

        return run

    last = size * (segments - 1)
    for start in range(0, last, max(size, 1)):
        input = checkpoint(part(start, start + size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return part(last, len(functions))(input)


@contextlib.contextmanager
def random_state(state):
    """Random numbers from a former state on; the present one is restored after."""
    if state is None:
        yield
        return
    with random.fork_rng():
        random.set_rng_state(state)
        yield


# -- without reentrance -------------------------------------------------------------------------------
class Handle:
    """What a node keeps in place of a tensor: its number in the order of saving."""

    __slots__ = ("__weakref__", "described", "number")

    def __init__(self, number: int, tensor: Tensor):
        self.number, self.described = number, (tuple(tensor.shape), tensor.dtype)


class Done(BaseException):
    """Ends a second run that has yielded everything."""


class Frame:
    """One checkpointed call: numbers what is saved, and holds what the second run saved in its place."""

    early_stop_for_all: bool | None = None  # set by `set_checkpoint_early_stop`

    def __init__(self, run, context, preserve_rng_state: bool, checked: bool, early_stop: bool):
        self.run, self.context, self.checked = run, context, checked
        self.early_stop = early_stop if self.early_stop_for_all is None else self.early_stop_for_all
        self.state = random.get_rng_state() if preserve_rng_state else None
        self.handles: list = []  # weak: nodes that are gone need nothing again
        self.found: dict[int, Tensor] = {}

    def pack(self, tensor: Tensor) -> Handle:
        handle = Handle(len(self.handles), tensor)
        self.handles.append(weakref.ref(handle))
        return handle

    def unpack(self, handle: Handle) -> Tensor:
        if handle.number not in self.found:
            self.recompute()
        if handle.number not in self.found:
            raise CheckpointError(
                "checkpoint: A different number of tensors was saved during the original forward and recomputation: "
                f"{len(self.handles)} and {len(self.found)}"
            )
        tensor = self.found.pop(handle.number)  # a graph that is kept runs the function once more
        if self.checked and handle.described != (tuple(tensor.shape), tensor.dtype):
            raise CheckpointError(
                f"checkpoint: Recomputed values for saved tensor {handle.number} have different metadata than "
                f"during the forward "
                f"pass: {handle.described} and {(tuple(tensor.shape), tensor.dtype)}"
            )
        return tensor

    def recompute(self) -> None:
        """Run the function again and take what it saves, with a tensor alive as long as its handle is."""
        count = 0

        def pack(tensor: Tensor) -> int:
            nonlocal count
            if count < len(self.handles) and self.handles[count]() is not None:
                self.found[count] = tensor.detach()
            count += 1
            if self.early_stop and count == len(self.handles):
                raise Done
            return count - 1

        def unpack(number):
            raise CheckpointError(
                "checkpoint: a graph of the second run was differentiated; it is only there to be saved from"
            )

        replay = saved_tensors_hooks(pack, unpack)
        with random_state(self.state), self.context, enable_grad(), contextlib.suppress(Done), replay:
            self.run()
        if count != len(self.handles):
            raise CheckpointError(
                "checkpoint: A different number of tensors was saved during the original forward and recomputation: "
                f"{len(self.handles)} and {count}"
            )


# -- with reentrance ----------------------------------------------------------------------------------
class CheckpointFunction(Function):
    """The function without a record; the backward pass records it and runs backwards through it."""

    @staticmethod
    def forward(ctx, function, preserve_rng_state, *args):
        ctx.function = function
        ctx.state = random.get_rng_state() if preserve_rng_state else None
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx, *gradients):
        given = list(ctx.others)
        for place, tensor in zip(ctx.places, ctx.saved_tensors):
            given[place] = tensor.detach().requires_grad_(tensor.requires_grad)
        with random_state(ctx.state), enable_grad():
            outputs = ctx.function(*given)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [(y, g) for y, g in zip(outputs, gradients) if isinstance(y, Tensor) and y.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([y for y, _ in pairs], [g for _, g in pairs])
        return (None, None, *(x.grad if isinstance(x, Tensor) else None for x in given))
