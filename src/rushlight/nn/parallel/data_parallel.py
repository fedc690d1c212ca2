"""`DataParallel` as it is without graphics processors: the module itself."""

from __future__ import annotations

from ..module import Module


class DataParallel(Module):
    """Holds a module as `module` and calls it; there are no devices to share a batch among, whatever is named.

    Its state is named "module.*", as programs that save and load it expect.

    >>> net = nn.DataParallel(nn.Linear(2, 1))
    >>> net(rushlight.ones(3, 2)).shape, list(net.state_dict())
    (rushlight.Size([3, 1]), ['module.weight', 'module.bias'])
    """

    def __init__(self, module: Module, device_ids=None, output_device=None, dim: int = 0):
        super().__init__()
        self.module, self.device_ids, self.dim = module, [], dim

    def forward(self, *inputs, **kwargs):
        """What the module computes."""
        return self.module(*inputs, **kwargs)


def data_parallel(module: Module, inputs, device_ids=None, output_device=None, dim: int = 0, module_kwargs=None):
    """Calls `module` with `inputs` (a tuple, or the one argument) and `module_kwargs`, here and now."""
    inputs = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return module(*inputs, **(module_kwargs or {}))
