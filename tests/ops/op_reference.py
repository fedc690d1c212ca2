"""The oracle of the op table: an op's body traced to primitives, run by their meaning in NumPy.

It shares nothing with the compiler, the launches or the autograd engine. What it cannot judge is whether the body says
what PyTorch says: that is for the parity suite.
"""

import numpy as np
from rushlight.core.engine import Tensor, missing

import rushlight as rl
from rushlight.ir.interpret import interpret
from rushlight.ops.declare import LIST, STATIC
from rushlight.ops.planning import Template, Tracer
from rushlight.ops.results import as_value, flatten


def key_of(declaration, args, kwargs):
    """What the core would look a plan up by, and the data arguments."""
    bound = declaration.bind(args, kwargs)
    given = {*declaration.names[: len(args)], *kwargs}
    key, flat = [], []
    for name, kind, value in zip(declaration.names, declaration.kinds, bound):
        if name not in given:
            key.append(missing)
        elif kind == STATIC or value is None:
            key.append(value)
        elif kind == LIST:
            key.append(tuple(None if t is None else t._layout for t in value))
            flat += [t for t in value if t is not None]
        else:
            key.append(value._layout if isinstance(value, Tensor) else type(value))
            flat.append(value)
    return tuple(key), flat


def trace(op, args, kwargs):
    """The op's graph for such arguments, and the data arguments in the order of its inputs."""
    key, flat = key_of(op.declaration, args, kwargs)
    template, tracer = Template(op, key), Tracer()
    values = [tracer.value(entry) for entry in template.entries()]
    with tracer.graph:
        results = op.declaration.run(template.arguments(values))
        results = results if isinstance(results, (tuple, list)) else [results]
        outputs = [as_value(r) for r in flatten(results[: op.declaration.visible]) if r is not None]
    return tracer.graph.returns(outputs), flat


def in_numpy(value):
    """An array of a tensor's numbers; bfloat16 as float32."""
    if not isinstance(value, Tensor):
        return value
    value = value.detach()
    return (value.float() if value.dtype is rl.bfloat16 else value).numpy(force=True)


def widened(value):
    """bfloat16 as float32: what half types compute in."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(widened, value))
    return value.float() if isinstance(value, Tensor) and value.dtype is rl.bfloat16 else value


def reference(op, args, kwargs):
    """(arrays, dtypes) that the op should give."""
    graph, _ = trace(op, args, kwargs)
    dtypes = [value.dtype for value in graph.outputs]
    wide, flat = trace(op, widened(list(args)), {name: widened(v) for name, v in kwargs.items()})
    return [np.asarray(a) for a in interpret(wide, [in_numpy(v) for v in flat])], dtypes
