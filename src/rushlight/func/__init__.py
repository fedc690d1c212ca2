"""Transformations of functions: map over batches (`vmap`), differentiate (`grad`, `vjp`, `jvp`, `jacrev`, ...).

They take functions of tensors and give functions, so they nest: the gradient of every sample of a batch is
`vmap(grad(loss), in_dims=(None, 0))`.

>>> from rushlight.func import grad, vmap
>>> def loss(weight, sample):
...     return (weight * sample).sum() ** 2
>>> weight, samples = rushlight.tensor([1.0, 2.0]), rushlight.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
>>> vmap(grad(loss), in_dims=(None, 0))(weight, samples)
tensor([[2., 0.],
        [0., 4.],
        [6., 6.]])
"""

from .derivatives import grad, grad_and_value, jvp, linearize, vjp
from .jacobians import hessian, jacfwd, jacrev
from .modules import functional_call, stack_module_state
from .vmap import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
