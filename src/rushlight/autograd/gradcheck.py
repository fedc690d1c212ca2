"""Derivatives against finite differences: `gradcheck` and `gradgradcheck`.

A function is checked as a map between real spaces: a complex element is two real numbers. Row (j, i) of the Jacobian of
an output with respect to an input is then the derivative of its j-th number by the i-th, and the cotangent that reverse
mode gives for the j-th unit vector is that row, for complex tensors too.
"""

from __future__ import annotations

import itertools
import warnings

from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ops.declare import FUNCTIONS
from .backward import grad


class GradcheckError(RuntimeError):
    """A derivative does not agree with finite differences."""


class Tolerance:
    """How far finite differences step, and how well they must agree."""

    def __init__(self, eps: float, atol: float, rtol: float, nondeterminism: float):
        self.eps, self.atol, self.rtol, self.nondeterminism = eps, atol, rtol, nondeterminism

    def agree(self, found: list, expected: list, scale: float = 1.0) -> bool:
        """Whether all rows of numbers are close; NaN agrees with nothing."""
        pairs = itertools.chain.from_iterable(map(zip, found, expected))
        return all(f == e or abs(f - e) <= self.atol * scale + self.rtol * abs(e) for f, e in pairs)


def gradcheck(
    func,
    inputs,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check derivatives of `func` by central differences, at `inputs`.

    func       takes the inputs and returns a tensor or a tuple of them
    inputs     a tensor or a tuple; those that require gradients should be float64 or complex128
    eps        step of the differences
    fast_mode  compare v·J·u for one random pair of vectors instead of every element of the Jacobian J

    Raises GradcheckError (or returns False, without `raise_exception`) where they disagree, where two backward
    passes differ
    by more than `nondet_tol`, and where cotangents that are not defined do not count as zero. ValueError if no input
    requires a gradient. `masked` concerns sparse tensors and is ignored.

    >>> x = rushlight.randn(3, dtype=rushlight.float64, requires_grad=True)
    >>> rushlight.autograd.gradcheck(rushlight.sin, x)
    True
    """
    if not check_forward_ad and not check_backward_ad:
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    inputs = as_tuple(inputs)
    check_inputs(inputs)
    checked = Checked(func, inputs, Tolerance(eps, atol, rtol, nondet_tol))
    try:
        if not checked.outputs:
            checked.check_constant()
            return True
        if check_backward_ad:
            checked.check_fast() if fast_mode else checked.check_reverse(check_grad_dtypes)
        if check_forward_ad:
            checked.check_forward()
        if check_batched_grad:
            checked.check_batched()
        if check_undefined_grad and check_backward_ad:
            checked.check_undefined()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check second derivatives of `func`: those of its cotangents, by `inputs` and by `grad_outputs`.

    grad_outputs  the cotangents to start from (default: random, not contiguous with `gen_non_contig_grad_outputs`)

    The rest as in `gradcheck`.
    """
    inputs = as_tuple(inputs)
    if grad_outputs is None:
        outputs = differentiable(func(*inputs))
        grad_outputs = tuple(random_like(y, gen_non_contig_grad_outputs) for y in outputs)
    grad_outputs = as_tuple(grad_outputs)
    count = len(inputs)

    def first_order(*arguments):
        given, cotangents = arguments[:count], arguments[count:]
        wanted = [x for x in given if isinstance(x, Tensor) and x.requires_grad]
        found = grad(differentiable(func(*given)), wanted, cotangents, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        first_order,
        inputs + grad_outputs,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def as_tuple(value) -> tuple:
    return (value,) if isinstance(value, Tensor) else tuple(value)


def differentiable(outputs) -> tuple:
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    return tuple(y for y in outputs if isinstance(y, Tensor) and y.requires_grad)


def check_inputs(inputs: tuple) -> None:
    wanted = [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    for i, x in wanted:
        if x.dtype not in (dtypes.float64, dtypes.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                f"will likely "
                "fail if all the inputs are not of double precision floating point or complex.",
                stacklevel=3,
            )
        if x._layout.overlapping:
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                f"non-overlapping to be "
                "able to compute the numerical gradients correctly. You should call .contiguous on the input before "
                "passing it "
                "to gradcheck."
            )


# -- numbers of tensors ----------------------------------------------------------------------------
def numbers(tensor: Tensor) -> list[float]:
    """The real numbers that a tensor consists of, in order: two per complex element."""
    found = tensor.tolist()
    for _ in range(tensor.ndim - 1):
        found = list(itertools.chain.from_iterable(found))
    found = found if tensor.ndim else [found]
    return [part for z in found for part in (z.real, z.imag)] if tensor.is_complex() else found


def all_numbers(tensors) -> list[float]:
    return list(itertools.chain.from_iterable(map(numbers, tensors)))


def places(tensor: Tensor):
    """(index, step) for each of a tensor's real numbers: `step` is the unit that changes it."""
    units = (1.0, 1.0j) if tensor.is_complex() else (1.0,)
    return itertools.product(itertools.product(*map(range, tensor.shape)), units)


def dot(a: list, b: list) -> float:
    return sum(x * y for x, y in zip(a, b))


def filled_like(tensor: Tensor, values: list) -> Tensor:
    """A tensor like `tensor` with the given real numbers."""
    if tensor.is_complex():
        values = [complex(re, im) for re, im in zip(values[::2], values[1::2])]
    return FUNCTIONS["tensor"](values, dtype=tensor.dtype).reshape(tuple(tensor.shape))


def random_like(tensor: Tensor, noncontiguous: bool) -> Tensor:
    from ..testing import make_tensor

    made = make_tensor(tensor.shape, dtype=tensor.dtype, device="cpu", low=-1, high=1, noncontiguous=noncontiguous)
    return made.requires_grad_()


# -- the checks ------------------------------------------------------------------------------------
class Checked:
    """A function at a point, with the outputs and inputs that take part."""

    def __init__(self, func, inputs: tuple, tolerance: Tolerance):
        self.func, self.inputs, self.tolerance = func, inputs, tolerance
        self.outputs = differentiable(func(*inputs))
        self.wanted = [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
        self.active = [x for _, x in self.wanted]

    def evaluate(self) -> list[list[float]]:
        """The numbers of every output that is differentiable."""
        return [numbers(y) for y in differentiable(self.func(*self.inputs))]

    def difference(self, write) -> list[list[float]]:
        """The derivative of every output when `write(eps)` moves the inputs, by central differences."""
        eps = self.tolerance.eps
        ends = []
        for step in (eps, -eps):
            write(step)
            ends.append(self.evaluate())
        write(0.0)
        return [[(b - a) / (2 * eps) for a, b in zip(low, high)] for high, low in zip(*ends)]

    def numeric(self, x: Tensor) -> list:
        """Per output, the Jacobian's columns with respect to `x`."""
        data = x.data
        columns = []
        for index, unit in places(x):
            here = data[index].item()

            def write(step, index=index, unit=unit, here=here):
                data[index] = here + step * unit

            columns.append(self.difference(write))
        return [[column[j] for column in columns] for j in range(len(self.outputs))]

    def gradients(self, output: Tensor, cotangent: Tensor) -> tuple:
        return grad([output], self.active, [cotangent], retain_graph=True, allow_unused=True)

    def analytic(self, output: Tensor, check_dtypes: bool) -> list:
        """Per input, the Jacobian's rows by reverse mode."""
        rows = [[] for _ in self.active]
        for index, unit in places(output):
            cotangent = FUNCTIONS["zeros_like"](output.detach())  # afresh: a gradient may be a view of it
            cotangent[index] = unit
            found = self.gradients(output, cotangent)
            self.check_repeatable(found, self.gradients(output, cotangent))
            for row, x, g in zip(rows, self.active, found):
                if check_dtypes and g is not None and g.dtype is not x.dtype:
                    raise GradcheckError(f"Expected a gradient of {x.dtype} for an input of that type, got {g.dtype}")
                row.append(numbers(x.new_zeros(x.shape) if g is None else g))
        return rows

    def check_repeatable(self, first: tuple, second: tuple) -> None:
        for a, b in zip(first, second):
            if a is None and b is None:
                continue
            apart = max(map(abs_difference, numbers(a), numbers(b)), default=0.0)
            if apart > self.tolerance.nondeterminism:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                    "times gives "
                    f"different values, although analytical gradient matches numerical gradient. The tolerance for "
                    f"nondeterminism "
                    f"was {self.tolerance.nondeterminism}."
                )

    def check_reverse(self, check_dtypes: bool) -> None:
        """Every element of every Jacobian."""
        numeric = [self.numeric(x) for x in self.active]
        for j, output in enumerate(self.outputs):
            for (i, _), rows, by_output in zip(self.wanted, self.analytic(output, check_dtypes), numeric):
                self.compare(j, i, transposed(rows, len(by_output[j])), by_output[j], "analytical")

    def compare(self, j: int, i: int, found: list, expected: list, word: str) -> None:
        """Columns of a Jacobian against columns of differences."""
        if not self.tolerance.agree(found, expected):
            raise GradcheckError(
                f"Jacobian mismatch for output {j} with respect to input "
                f"{i},\nnumerical:{shown(expected)}\n{word}:{shown(found)}\n"
            )

    def check_forward(self) -> None:
        """Every column by forward mode."""
        from .forward_mode import directional

        for i, x in self.wanted:
            expected = self.numeric(x)
            columns = []
            for index, unit in places(x):
                tangent = FUNCTIONS["zeros_like"](x.detach())
                tangent[index] = unit
                found = directional(self.func, self.inputs, {i: tangent})
                columns.append([numbers(t) for y, t in found if y.requires_grad])
            for j in range(len(self.outputs)):
                self.compare(j, i, [column[j] for column in columns], expected[j], "forward")

    def check_fast(self) -> None:
        """One random combination of rows and columns per pair of output and input."""
        import random

        generator = random.Random(0)
        for i, x in self.wanted:
            u = unit_vector(generator, len(numbers(x)))
            start, direction, data = x.detach().clone(), filled_like(x, u), x.data

            def write(step, data=data, start=start, direction=direction):
                data.copy_(start + direction * step)

            numeric = self.difference(write)
            data.copy_(start)
            for j, output in enumerate(self.outputs):
                v = unit_vector(generator, len(numbers(output)))
                g = grad([output], [x], [filled_like(output, v)], retain_graph=True, allow_unused=True)[0]
                found = 0.0 if g is None else dot(numbers(g), u)
                expected = dot(numeric[j], v)
                if not self.tolerance.agree([[found]], [[expected]], sum(u) * sum(v)):
                    raise GradcheckError(
                        f"Jacobian mismatch for output {j} with respect to input "
                        f"{i},\nnumerical:{expected}\nanalytical:{found}\n"
                        "The above quantities relating the numerical and analytical jacobians are computed in fast "
                        "mode. Use "
                        "fast_mode=False for all elements."
                    )

    def check_constant(self) -> None:
        """A function without differentiable outputs must not depend on its inputs."""
        found = self.func(*self.inputs)
        floating = [y for y in as_tuple(found) if isinstance(y, Tensor) and y._layout.floating]
        if not floating:
            return
        before = all_numbers(floating)
        for x in self.active:
            data = x.data
            for index, unit in places(x):
                here = data[index].item()
                data[index] = here + self.tolerance.eps * unit
                moved = self.func(*self.inputs)
                data[index] = here
                after = all_numbers(y for y in as_tuple(moved) if isinstance(y, Tensor) and y._layout.floating)
                if not self.tolerance.agree(
                    [[(b - a) / self.tolerance.eps for a, b in zip(before, after)]], [[0.0] * len(before)]
                ):
                    raise GradcheckError("Numerical gradient for function expected to be zero")

    def check_batched(self) -> None:
        """Several cotangents at once give what they give one by one."""
        for output in self.outputs:
            cotangents = [random_like(output, False).detach() for _ in range(2)]
            stacked = FUNCTIONS["stack"](cotangents)
            together = grad(
                [output], self.active, [stacked], retain_graph=True, allow_unused=True, is_grads_batched=True
            )
            for k, cotangent in enumerate(cotangents):
                for batched, single in zip(together, self.gradients(output, cotangent)):
                    if single is not None and not self.tolerance.agree([numbers(batched[k])], [numbers(single)]):
                        raise GradcheckError(
                            "While testing batched gradients, got gradients that differ from single ones"
                        )

    def check_undefined(self) -> None:
        """An output whose cotangent is not defined contributes nothing."""
        groups = [self.outputs] + ([(y,) for y in self.outputs] if len(self.outputs) > 1 else [])
        for group in groups:
            cut = [without_cotangent(y) for y in group]
            ones = [FUNCTIONS["ones_like"](y.detach()) for y in cut]
            for g in grad(cut, self.active, ones, retain_graph=True, allow_unused=True):
                if g is not None and any(numbers(g)):
                    raise GradcheckError(
                        "Expected all inputs to have undefined or zero gradients when the outputs' gradients are "
                        "undefined"
                    )


def without_cotangent(tensor: Tensor) -> Tensor:
    """The tensor, behind a node that passes no cotangent on."""
    node = engine.python_node("UndefinedGrad", [tensor], lambda g: (None,))
    result = tensor.detach()
    engine.attach(node, result)
    return result


def abs_difference(a: float, b: float) -> float:
    return 0.0 if a == b or (a != a and b != b) else abs(a - b)


def transposed(rows: list, width: int) -> list:
    return [[row[k] for row in rows] for k in range(width)]


def unit_vector(generator, count: int) -> list[float]:
    """Positive numbers of length 1."""
    drawn = [generator.random() for _ in range(count)]
    length = sum(x * x for x in drawn) ** 0.5
    return [x / length for x in drawn] if length else drawn


def shown(columns: list) -> str:
    return str(FUNCTIONS["tensor"](transposed(columns, len(columns[0]) if columns else 0), dtype=dtypes.float64))
