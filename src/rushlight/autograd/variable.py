"""`rushlight.autograd.variable`: the old name of tensors, and the call that programs from before 2018 make."""

from __future__ import annotations

from ..core import Tensor


class _VariableMeta(type):
    def __instancecheck__(cls, instance) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """The given tensor's memory as a leaf of a new graph. A tensor does all of this itself: `requires_grad_()`.

    >>> rushlight.autograd.Variable(rushlight.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool | None = None) -> Tensor:
        if data is None:
            return Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable: data must be a tensor, got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)


__all__ = ["Variable"]
