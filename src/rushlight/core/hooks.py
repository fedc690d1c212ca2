"""Registered hooks, and the node that stands for a leaf."""

from __future__ import annotations


class HookHandle:
    """A hook in a list of them; `remove()` takes it away."""

    __slots__ = ("__weakref__", "hook", "hooks")

    def __init__(self, hooks: list, hook):
        self.hooks, self.hook = hooks, hook
        hooks.append(self)

    def remove(self) -> None:
        """Unregister the hook."""
        if self.hooks is not None:
            self.hooks[:] = [other for other in self.hooks if other is not self]
            self.hooks = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class AccumulateGrad:
    """Stands for a leaf in `next_functions`; `variable` is the leaf."""

    def __init__(self, variable):
        self.variable = variable

    def name(self):
        """The node's kind."""
        return "torch::autograd::AccumulateGrad"

    next_functions = ()

    def __eq__(self, other):
        return isinstance(other, AccumulateGrad) and other.variable is self.variable

    def __hash__(self):
        return id(self.variable)

    def register_hook(self, hook):
        """Call the hook with the leaf's gradient."""
        return self.variable.register_hook(lambda grad: hook((), (grad,)))
