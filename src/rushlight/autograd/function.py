"""`Function`: operations whose backward is written by the user."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor, is_grad_enabled
from .modes import no_grad
from .notices import modified


class FunctionCtx:
    """What `forward` leaves for `backward`."""

    def __init__(self):
        self._saved: tuple = ()
        self._versions: tuple = ()
        self._not_differentiable: set[int] = set()
        self._dirty: tuple = ()
        self._materialize = True
        self._outputs: dict[int, int] = {}
        self.needs_input_grad: tuple = ()

    def save_for_backward(self, *tensors) -> None:
        """Keep tensors for `backward`, with a check that they are not modified in between."""
        self._saved = tensors

    def save_for_forward(self, *tensors) -> None:
        """Keep tensors for `jvp`."""
        self._saved_forward = tensors

    @property
    def saved_tensors(self) -> tuple:
        """The tensors given to `save_for_backward`."""
        if self._saved is None:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved tensors after they "
                "have already "
                "been freed). Specify retain_graph=True if you need to."
            )
        for tensor, version in zip(self._saved, self._versions):
            if isinstance(tensor, Tensor) and tensor._version != version:
                raise modified(tensor, version, self._origin(tensor))
        return tuple(self._joined(t) for t in self._saved)

    def _origin(self, tensor) -> tuple | None:
        """(name of the node, output) that yielded a saved tensor."""
        if id(tensor) in self._outputs:
            return self._node().name(), self._outputs[id(tensor)]
        return None if tensor.grad_fn is None else (tensor.grad_fn.name(), tensor.output_nr)

    def _joined(self, tensor):
        """A saved output was kept without its node, lest the node hold itself: join them again."""
        slot = self._outputs.get(id(tensor)) if tensor is not None else None
        if tensor is not None and not isinstance(tensor, Tensor):
            from .graph import unpack_saved

            tensor = unpack_saved(tensor)
        return tensor if slot is None else engine.joined(tensor, self._node(), slot)

    def mark_non_differentiable(self, *tensors) -> None:
        """Outputs that have no gradient."""
        self._not_differentiable = {id(t) for t in tensors}

    def mark_dirty(self, *tensors) -> None:
        """Inputs that `forward` modified in place."""
        self._dirty = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (the default) or None for outputs that were not used."""
        self._materialize = value


class FunctionMeta(type):
    """Gives each Function the name that its node shows."""

    def __init__(cls, name, bases, attrs):
        super().__init__(name, bases, attrs)
        cls._node_name = name + "Backward"


class Function(metaclass=FunctionMeta):
    """A differentiable operation: subclass it with static `forward(ctx, ...)` and `backward(ctx, *grads)`.

    >>> class Square(rushlight.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad
    >>> x = rushlight.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    @staticmethod
    def forward(*args, **kwargs):
        """Compute the outputs. Override."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx, *grads):
        """Compute one gradient (or None) per argument of `forward`. Override."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function"
        )

    @staticmethod
    def jvp(ctx, *tangents):
        """Compute one tangent per output from one (or None) per argument of `forward`. Override for forward mode."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    generate_vmap_rule = False  # `vmap` maps over `forward` and `backward` as they are, whether this is set or not

    @staticmethod
    def vmap(info, in_dims, *args):
        """Compute (outputs, out_dims) for a whole batch. Override where `forward` cannot run inside of `vmap`.

        `info` has batch_size and randomness; `in_dims` says for each argument where its samples lie, or None.
        """
        raise NotImplementedError("the Function has no vmap rule of its own")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run `forward` and record `backward`."""
        if cls.vmap is not Function.vmap and engine.open_levels():
            from .levels import innermost, mapped_by_rule

            level = innermost(args)
            if level is not None:
                return mapped_by_rule(cls, args, level)
        ctx, current = FunctionCtx(), engine.dual_level()
        if not current:
            return cls._apply(ctx, args, kwargs)
        level, tangents = cls._tangents(args)
        engine.set_dual_level(0)
        try:
            outputs = cls._apply(ctx, args, kwargs)
            if level:
                cls._move(ctx, outputs, tangents, level)
            return outputs
        finally:
            engine.set_dual_level(current)

    @classmethod
    def _tangents(cls, args) -> tuple:
        """The level at which arguments move (0: none does), and their tangents."""
        from .forward_mode import tangents_here

        moving = [tangents_here(a) if isinstance(a, Tensor) else {} for a in args]
        levels = {level for tangents in moving for level in tangents}
        if len(levels) > 1:
            raise NotImplementedError(
                f"{cls.__name__}: forward mode inside of forward mode does not follow a custom autograd.Function; "
                "use reverse mode for one of the two derivatives"
            )
        level = levels.pop() if levels else 0
        return level, [tangents.get(level) for tangents in moving]

    @classmethod
    def _move(cls, ctx, outputs, tangents, level: int) -> None:
        """Give the outputs the tangents that `jvp` computes."""
        from .forward_mode import attach

        moved = cls.jvp(ctx, *tangents)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        for output, tangent in zip(outputs, moved if isinstance(moved, tuple) else (moved,)):
            if isinstance(output, Tensor) and tangent is not None:
                attach(output, tangent, level)

    @classmethod
    def _apply(cls, ctx, args, kwargs):
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        recorded = is_grad_enabled() and any(ctx.needs_input_grad)
        node = cls._record(ctx, args) if recorded else None  # edges as they are before forward writes in place
        with no_grad():
            if cls.setup_context is not Function.setup_context:
                outputs = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, outputs)
            else:
                outputs = cls.forward(ctx, *args, **kwargs)
        ctx._versions = tuple(None if t is None else t._version for t in ctx._saved)
        if node is None:
            return outputs
        single = not isinstance(outputs, tuple)
        attached = cls._attach(ctx, node, args, (outputs,) if single else outputs)
        if engine.saving_hooks():
            cls._pack(ctx)
        return attached[0] if single else attached

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Fill in `ctx` when `forward` does not take one. Override together with such a `forward`."""
        raise NotImplementedError("setup_context is not implemented.")

    @classmethod
    def _record(cls, ctx, args):
        import weakref

        def run(*grads):
            ready = [materialized(g, shape) if ctx._materialize else g for g, shape in zip(grads, ctx._shapes)]
            return cls.backward(ctx, *ready)

        node = engine.python_node(cls._node_name, list(args), run)
        node.context = ctx
        ctx._node = weakref.ref(node)
        return node

    @classmethod
    def _attach(cls, ctx, node, args, outputs) -> tuple:
        attached, ctx._shapes = [], []
        for slot, output in enumerate(outputs):
            if not isinstance(output, Tensor):
                attached.append(output)
                continue
            ctx._shapes.append(output.detach())
            dirty = any(output is t for t in ctx._dirty)
            if any(output is a for a in args) and not dirty:
                output = output.detach()  # an input returned as it is becomes a new tensor
            if output.is_floating_point() or output.is_complex():
                if id(outputs[slot]) not in ctx._not_differentiable:
                    if dirty:
                        engine.attach_in_place(node, output)
                    else:
                        engine.attach(node, output)
                    ctx._saved = tuple(cls._detached(ctx, t, output, slot) for t in ctx._saved or ())
                else:
                    engine.skip_output(node)
            else:
                engine.skip_output(node)
            attached.append(output)
        return tuple(attached)

    @staticmethod
    def _pack(ctx) -> None:
        """Put what the hooks on saved tensors make of them in their place."""
        from .graph import pack_saved

        packed = tuple(None if t is None else pack_saved(t) for t in ctx._saved or ())
        ctx._outputs |= {id(p): ctx._outputs[id(t)] for p, t in zip(packed, ctx._saved or ()) if id(t) in ctx._outputs}
        ctx._saved = packed

    @staticmethod
    def _detached(ctx, saved, output, slot):
        if saved is not output:
            return saved
        alias = output.detach()
        ctx._outputs[id(alias)] = slot
        return alias


class InplaceFunction(Function):
    """A `Function` under the name that old programs derive theirs from; `inplace` is kept for them."""

    def __init__(self, inplace: bool = False):
        self.inplace = inplace


def materialized(grad, like):
    """Zeros for a gradient that nothing produced."""
    if grad is not None:
        return grad
    from ..ops.creation import zeros_for

    return zeros_for(like)


def once_differentiable(backward):
    """Decorate a `backward` that cannot be differentiated itself: a second order raises an error."""
    import functools

    @functools.wraps(backward)
    def wrapped(ctx, *grads):
        with no_grad():
            found = backward(ctx, *grads)
        if not is_grad_enabled() or not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return found
        results = found if isinstance(found, tuple) else (found,)
        return tuple(_refusing(r) if isinstance(r, Tensor) else r for r in results)

    return wrapped


def _refusing(tensor):
    def refuse(*grads):
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")

    marker = engine.empty_tensor(engine.layout_of((), None, tensor.dtype)).requires_grad_()
    node = engine.python_node("OnceDifferentiable", [marker], refuse)
    result = tensor.detach()
    engine.attach(node, result)
    return result
