"""An optimizer that works, for the length of a block, on other tensors than its own."""

from __future__ import annotations

import contextlib
from collections import defaultdict

from ..core import Tensor
from .optimizer import Optimizer


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict
):
    """Within the block the optimizer has other parameters, state and options; afterwards its own again.

    `swapin_parameters` are given in the order of the optimizer's parameters; `swapin_optim_state` is of the form of
    `state_dict()`. Its tensors are used as they are, so that steps write into them. ValueError if numbers differ.

    >>> p, q = nn.Parameter(rushlight.ones(1)), rushlight.full((1,), 5.0, requires_grad=True)
    >>> optimizer = rushlight.optim.SGD([p], lr=1.0)
    >>> q.grad = rushlight.ones(1)
    >>> with rushlight.optim.swap_in_optimizer_params_and_state(optimizer, {"q": q}, optimizer.state_dict()):
    ...     optimizer.step()
    >>> p.item(), q.item()
    (1.0, 4.0)
    """
    parameters, groups = list(swapin_parameters.values()), swapin_optim_state["param_groups"]
    counts = [len(group["params"]) for group in optimizer.param_groups]
    if [len(group["params"]) for group in groups] != counts or sum(counts) != len(parameters):
        raise ValueError(
            f"swap_in_optimizer_params_and_state: the optimizer's groups have {counts} parameters, the state's "
            f"{[len(group['params']) for group in groups]}, and {len(parameters)} parameters are given"
        )
    packed = [index for group in groups for index in group["params"]]
    named = dict(zip(packed, parameters))
    own = optimizer.state, optimizer.param_groups
    optimizer.state = defaultdict(dict, {named.get(k, k): dict(v) for k, v in swapin_optim_state["state"].items()})
    optimizer.param_groups = [{**group, "params": [named[index] for index in group["params"]]} for group in groups]
    try:
        yield
    finally:
        optimizer.state, optimizer.param_groups = own
