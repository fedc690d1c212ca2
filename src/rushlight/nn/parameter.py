"""Parameters and buffers: the tensors that a module registers when they are assigned to it."""

from __future__ import annotations

from .. import ops
from ..core import Tensor, engine


class ParameterKind(type):
    """The class of Parameter: a tensor of the user's own type that was made a parameter is an instance, too."""

    def __instancecheck__(cls, instance) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        ours = cls is Parameter and type(instance) is not Tensor and isinstance(instance, Tensor)
        return ours and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=ParameterKind):
    """A tensor that belongs to the parameters of the module it is assigned to.

    Shares memory with `data` and requires gradients unless told otherwise, also when it is created
    under `no_grad`. Without `data` it is an empty float tensor of shape (0,). With `data` of a type that
    overrides `__torch_function__` it is of that type.
    """

    __torch_function__ = engine.disabled_torch_function

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = ops.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"{cls.__name__}: data must be a Tensor, not {type(data).__name__}")
        if engine.overrides(type(data)):
            return parameter_of_type(data, requires_grad)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: int):
        return _rebuild_parameter, (type(self), self.data, self.requires_grad)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


engine.register_plain_type(Parameter)


def parameter_of_type(data: Tensor, requires_grad: bool) -> Tensor:
    """A parameter of the user's own type, over the memory of `data`."""
    made = data.detach().requires_grad_(requires_grad)
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an "
            f"instance of the same type, but return type {type(made).__name__} was found instead. To use the type as a "
            "Parameter, please correct the detach() semantics defined by its __torch_function__() implementation."
        )
    made._is_param = True
    return made


def _rebuild_parameter(cls: type, data: Tensor, requires_grad: bool) -> Parameter:
    return cls(data, requires_grad)


class Buffer(Tensor):
    """A tensor that belongs to the buffers of the module it is assigned to.

    Shares memory with `data` and requires no gradient. With `persistent=False` it is left out of
    the module's `state_dict`.
    """

    __torch_function__ = engine.disabled_torch_function

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        buffer = Tensor._make_subclass(cls, ops.empty(0) if data is None else data, False)
        buffer.persistent = persistent
        return buffer

    def __deepcopy__(self, memo: dict) -> Buffer:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), persistent=self.persistent)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: int):
        return _rebuild_buffer, (type(self), self.data, self.persistent)


def _rebuild_buffer(cls: type, data: Tensor, persistent: bool) -> Buffer:
    return cls(data, persistent=persistent)


class UninitializedTensorMixin:
    """What parameters and buffers share whose shape a lazy module learns from its first input.

    `cls_to_become` is the class that they have from then on.
    """

    cls_to_become: type

    def materialize(self, shape: tuple[int, ...], device=None, dtype=None) -> None:
        """Becomes a plain parameter or buffer of `shape` with undefined values."""
        self.data = ops.empty(shape, device=device or self.device, dtype=dtype or self.dtype)
        self.__class__ = self.cls_to_become

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape a lazy module learns from its first input; see `materialize`."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device=None, dtype=None) -> UninitializedParameter:
        return Tensor._make_subclass(cls, ops.empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo: dict) -> UninitializedParameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: int):
        return UninitializedParameter, (self.requires_grad, self.device, self.dtype)


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A buffer whose shape a lazy module learns from its first input."""

    cls_to_become = Buffer

    def __new__(cls, requires_grad: bool = False, device=None, dtype=None, persistent: bool = True):
        buffer = Tensor._make_subclass(cls, ops.empty(0, device=device, dtype=dtype), requires_grad)
        buffer.persistent = persistent
        return buffer

    def __deepcopy__(self, memo: dict) -> UninitializedBuffer:
        if id(self) not in memo:
            memo[id(self)] = type(self)(False, self.device, self.dtype, self.persistent)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: int):
        return UninitializedBuffer, (False, self.device, self.dtype, self.persistent)


def is_lazy(parameter: object) -> bool:
    """Whether a parameter or buffer still waits for its shape."""
    return isinstance(parameter, UninitializedTensorMixin)
