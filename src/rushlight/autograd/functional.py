"""Products with derivatives, and whole derivatives, of functions of tensors: `vjp`, `jvp`, `jacobian`, `hessian`, ...

Every function takes `func` (from tensors to a tensor or a tuple of them), `inputs` (a tensor or a tuple),
`create_graph` (the
result can be differentiated) and `strict` (raise where an output does not depend on an input, instead of giving zeros).
"""

from __future__ import annotations

from ..core.engine import Tensor
from ..ops.declare import FUNCTIONS
from .backward import grad
from .levels import basis, over
from .modes import enable_grad


def vjp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(func(inputs), v·J): the product of a cotangent `v` of the outputs with the Jacobian.

    `v` has the outputs' shapes; it may be left out for a single output with one element.
    """
    with enable_grad():
        call = Call("vjp", func, inputs, create_graph, strict)
        cotangents = call.direction(v, call.outputs, "v")
        found = call.pull(call.outputs, call.inputs, cotangents, create_graph)
    return call.finish(call.outputs, call.single_output), call.finish(found, call.single_input)


def jvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(func(inputs), J·v): the product of the Jacobian with a tangent `v` of the inputs.

    Two reverse passes: the first is linear in its cotangent, the second is its derivative by it. `v` may be left out
    for a
    single input with one element.
    """
    with enable_grad():
        call = Call("jvp", func, inputs, create_graph, strict)
        tangents = call.direction(v, call.inputs, "v")
        found = call.push(call.outputs, call.inputs, tangents, create_graph)
    return call.finish(call.outputs, call.single_output), call.finish(found, call.single_output)


def vhp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(func(inputs), v·H): the product of a vector like the inputs with the Hessian of a function of one number."""
    with enable_grad():
        call = Call("vhp", func, inputs, create_graph, strict)
        vector = call.direction(v, call.inputs, "v")
        call.check_scalar()
        slopes = call.pull(call.outputs, call.inputs, None, True)
        found = call.pull(slopes, call.inputs, vector, create_graph)
    return call.finish(call.outputs, True), call.finish(found, call.single_input)


def hvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(func(inputs), H·v): the product of the Hessian of a function of one number with a vector like the inputs."""
    with enable_grad():
        call = Call("hvp", func, inputs, create_graph, strict)
        vector = call.direction(v, call.inputs, "v")
        call.check_scalar()
        slopes = call.pull(call.outputs, call.inputs, None, True)
        found = call.push(slopes, call.inputs, vector, create_graph)
    return call.finish(call.outputs, True), call.finish(found, call.single_input)


def jacobian(
    func,
    inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
):
    """The Jacobian: for an output of shape S and an input of shape T, a tensor of shape S + T.

    A tensor for a single input and output, a tuple for several of one, a tuple of tuples [output][input] for several
    of both.
    strategy   "reverse-mode" takes one pass per element of the outputs, "forward-mode" one per element of the inputs
    vectorize  all passes at once, by `vmap`: quicker, but for functions without data-dependent control flow
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(f'Expected strategy to be either "forward-mode" or "reverse-mode", got {strategy!r}')
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"`'
            )
        if strict:
            raise RuntimeError('`strict=True` and `strategy="forward-mode"` are not supported together')
    if vectorize and strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )
    with enable_grad():
        call = Call("jacobian", func, inputs, create_graph, strict)
        by_rows = strategy == "reverse-mode"
        if vectorize:
            found = call.all_rows() if by_rows else call.all_columns()
        else:
            found = [call.rows(y) for y in call.outputs] if by_rows else call.columns()
    found = tuple(call.finish(row, call.single_input) for row in found)
    return found[0] if call.single_output else found


def hessian(
    func,
    inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
):
    """The matrix of second derivatives of a function of one number: for inputs of shapes S and T, of shape S + T.

    A tensor for a single input, else a tuple of tuples [i][j].
    """
    single = isinstance(inputs, Tensor)
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def checked(*given):
        found = func(*given)
        outputs, single_output = as_tensors(found, "outputs of the user-provided function", "hessian")
        if not single_output or outputs[0].numel() != 1:
            raise RuntimeError("The Tensor returned by the function given to hessian should contain a single element")
        return outputs[0].reshape(())

    def slopes(*given):
        if outer_jacobian_strategy == "forward-mode":
            given = tuple(x if x.requires_grad else x.detach().requires_grad_() for x in given)
        found = jacobian(checked, given[0] if single else given, create_graph=True)
        return found

    return jacobian(
        slopes, inputs, create_graph=create_graph, strict=strict, vectorize=vectorize, strategy=outer_jacobian_strategy
    )


def as_tensors(value, what: str, name: str) -> tuple[tuple, bool]:
    """A tuple of tensors, and whether it was a single one."""
    single = not isinstance(value, tuple)
    found = (value,) if single else value
    for i, tensor in enumerate(found):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the value at index "
                f"{i} has type "
                f"{type(tensor)}."
            )
    return tuple(found), single


class Call:
    """One evaluation of a function at inputs that autograd watches."""

    def __init__(self, name: str, func, inputs, create_graph: bool, strict: bool):
        self.name, self.func, self.create_graph, self.strict = name, func, create_graph, strict
        given, self.single_input = as_tensors(inputs, "inputs", name)
        # with create_graph the result belongs to the caller's graph; without it, to none
        self.inputs = tuple(
            x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in given
        )
        outputs, self.single_output = as_tensors(func(*self.inputs), "outputs of the user-provided function", name)
        if strict:
            for i, y in enumerate(outputs):
                if not y.requires_grad:
                    raise RuntimeError(
                        f"Output {i} of the user-provided function does not require gradients. The outputs must be "
                        f"computed in a "
                        "differentiable manner from the input when running in strict mode."
                    )
        self.outputs = outputs

    def direction(self, v, like: tuple, what: str) -> tuple:
        """The vector that multiplies, checked against what it must look like."""
        if v is None:
            if len(like) != 1 or like[0].numel() != 1:
                raise RuntimeError(
                    f"The vector v can only be None if there is a single tensor of one element ({self.name})"
                )
            return (FUNCTIONS["ones_like"](like[0].detach()),)
        given, _ = as_tensors(v, what, self.name)
        if not self.create_graph:
            given = tuple(t.detach() for t in given)
        if len(given) != len(like):
            raise RuntimeError(f"The size of v is invalid: should be {len(like)} but got {len(given)}.")
        for i, (t, other) in enumerate(zip(given, like)):
            if t.shape != other.shape:
                raise RuntimeError(f"Entry {i} in v has invalid size: should be {other.shape} but got {t.shape}.")
        return given

    def check_scalar(self) -> None:
        if not self.single_output or self.outputs[0].numel() != 1:
            raise RuntimeError(f"The function given to {self.name} should return a single Tensor with a single element")

    def pull(self, outputs: tuple, inputs: tuple, cotangents, create_graph: bool) -> tuple:
        """Cotangents of `inputs`: zeros where nothing depends on them."""
        roots = [
            (y, None if cotangents is None else c) for y, c in zip(outputs, cotangents or outputs) if y.requires_grad
        ]
        found = [None] * len(inputs)
        if roots:
            found = grad(
                [y for y, _ in roots],
                inputs,
                [c for _, c in roots],
                retain_graph=True,
                create_graph=create_graph,
                allow_unused=True,
            )
        return tuple(self.present(g, x, i) for i, (g, x) in enumerate(zip(found, inputs)))

    def push(self, outputs: tuple, inputs: tuple, tangents: tuple, create_graph: bool) -> tuple:
        """Tangents of `outputs`: zeros for those that depend on nothing."""
        live = [i for i, y in enumerate(outputs) if y.requires_grad]
        found: list = [None] * len(outputs)
        if live:
            cotangents = [FUNCTIONS["zeros_like"](outputs[i].detach()).requires_grad_() for i in live]
            pulled = grad([outputs[i] for i in live], inputs, cotangents, create_graph=True, allow_unused=True)
            roots = [(g, t) for g, t in zip(pulled, tangents) if g is not None and g.requires_grad]
            if roots:
                answers = grad(
                    [g for g, _ in roots],
                    cotangents,
                    [t for _, t in roots],
                    retain_graph=True,
                    create_graph=create_graph,
                    allow_unused=True,
                )
                for i, answer in zip(live, answers):
                    found[i] = answer
        return tuple(self.present(g, y, i) for i, (g, y) in enumerate(zip(found, outputs)))

    def present(self, found, like: Tensor, i: int) -> Tensor:
        if found is None:
            if self.strict:
                raise RuntimeError(
                    f"{self.name}: tensor {i} is independent of what it is differentiated by. This is not allowed "
                    f"in strict mode."
                )
            return FUNCTIONS["zeros_like"](like.detach())
        if self.strict and self.create_graph and not found.requires_grad:
            raise RuntimeError(
                f"{self.name}: the derivative of tensor {i} is independent of the input. This is not allowed in "
                f"strict mode when "
                "create_graph=True."
            )
        return found

    def rows(self, output: Tensor) -> list:
        """Per input, the Jacobian of one output: a reverse pass per element."""
        found: list = [[] for _ in self.inputs]
        flat = output.reshape(-1)
        for j in range(flat.numel()):
            cotangent = FUNCTIONS["zeros_like"](flat.detach())  # afresh: a gradient may be a view of it
            cotangent[j] = 1
            for rows, g in zip(found, self.pull((flat,), self.inputs, (cotangent,), self.create_graph)):
                rows.append(g)
        return [shaped(rows, output, x, 0) for rows, x in zip(found, self.inputs)]

    def all_rows(self) -> list:
        """The Jacobians [output][input], by one reverse pass for all elements."""
        rows = basis([y.shape for y in self.outputs], [y.dtype for y in self.outputs])
        found = over(
            lambda *cotangents: self.pull(self.outputs, self.inputs, cotangents, self.create_graph), rows, len(rows[0])
        )
        counts = [y.numel() for y in self.outputs]
        parts = [g.split(counts) for g in found]
        return [
            [part[j].reshape((*y.shape, *x.shape)) for part, x in zip(parts, self.inputs)]
            for j, y in enumerate(self.outputs)
        ]

    def all_columns(self) -> list:
        """The Jacobians [output][input], by one forward pass for all elements."""
        from .forward_mode import directional

        columns = basis([x.shape for x in self.inputs], [x.dtype for x in self.inputs])
        found = over(
            lambda *tangents: [t for _, t in directional(self.func, self.inputs, dict(enumerate(tangents)))],
            columns,
            len(columns[0]),
        )
        counts = [x.numel() for x in self.inputs]
        return [
            [
                FUNCTIONS["movedim"](part, 0, -1).reshape((*y.shape, *x.shape)).detach()
                for part, x in zip(t.split(counts), self.inputs)
            ]
            for t, y in zip(found, self.outputs)
        ]

    def columns(self) -> list:
        """The Jacobians [output][input]: a forward pass per element of the inputs."""
        from .forward_mode import directional

        found = [[[] for _ in self.inputs] for _ in self.outputs]
        for i, x in enumerate(self.inputs):
            for k in range(x.numel()):
                tangent = FUNCTIONS["zeros"](x.numel(), dtype=x.dtype)
                tangent[k] = 1
                answers = directional(self.func, self.inputs, {i: tangent.reshape(tuple(x.shape))})
                for columns, (_, answer) in zip(found, answers):
                    columns[i].append(answer)
        return [
            [shaped(columns, y, x, -1).detach() for columns, x in zip(row, self.inputs)]
            for row, y in zip(found, self.outputs)
        ]

    def finish(self, found, single: bool):
        """A tensor or a tuple, outside of any graph unless the caller wants to differentiate it."""
        found = tuple(found) if self.create_graph else tuple(t.detach() for t in found)
        return found[0] if single else found


def shaped(parts: list, output: Tensor, x: Tensor, dim: int) -> Tensor:
    """Rows (dim 0) or columns (dim -1) of a Jacobian as one tensor of shape `output.shape + x.shape`."""
    shape = tuple(output.shape) + tuple(x.shape)
    if not parts:
        return x.new_zeros(shape)
    if dim == 0:
        return FUNCTIONS["stack"](parts).reshape(shape)
    return FUNCTIONS["stack"]([p.reshape(-1) for p in parts], -1).reshape(shape)
