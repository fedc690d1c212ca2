"""Parametrizations that are there: orthogonal matrices, spectral and weight normalisation."""

from __future__ import annotations

from ... import linalg, ops
from ...autograd import no_grad
from ...core import Tensor
from ..module import Module
from ..parameter import is_lazy
from . import parametrize
from .spectral_norm import as_matrix, normalize, usual_dim
from .weight_norm import norm_of, normalized

ORTHOGONAL_MAPS = ("matrix_exp", "cayley", "householder")


def _weight_of(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


def _is_orthogonal(q: Tensor) -> bool:
    n, k = q.shape[-2:]
    eye = ops.eye(k, dtype=q.dtype, device=q.device)
    return bool(ops.allclose(q.mH @ q, eye, atol=10.0 * n * ops.dtypes.finfo(q.dtype).eps))


def _make_orthogonal(a: Tensor) -> Tensor:
    """The factor Q of a tall matrix, with the signs that make the factor R's diagonal positive."""
    reflectors, tau = ops.geqrf(a)
    q = linalg.householder_product(reflectors, tau)
    return q * reflectors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """Maps any matrix to one with orthonormal columns, or rows if it is wide."""

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool = True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map, self.trivialized = weight.shape, orthogonal_map, use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        wide = x.shape[-2] < x.shape[-1]
        x = x.mT if wide else x
        q = self._by_reflections(x) if self.orthogonal_map == "householder" else self._of_skew(x)
        if self.trivialized:
            q = self.base @ q
        return q.mT if wide else q

    def _of_skew(self, x: Tensor) -> Tensor:
        """The matrix exponential, or Cayley's map, of the skew-Hermitian matrix with this lower triangle."""
        n, k = x.shape[-2:]
        x = x.tril()
        if n != k:
            x = ops.cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], -1)
        skew = x - x.mH
        if self.orthogonal_map == "matrix_exp":
            q = linalg.matrix_exp(skew)
        else:
            eye = ops.eye(n, dtype=x.dtype, device=x.device)
            q = linalg.solve(eye - 0.5 * skew, eye + 0.5 * skew)
        return q[..., :k] if n != k else q

    def _by_reflections(self, x: Tensor) -> Tensor:
        """The product of the Householder reflections along the columns below the diagonal, which holds signs."""
        below = x.tril(-1)
        tau = 2.0 / (1.0 + (below * below).sum(-2))
        q = linalg.householder_product(below, tau)
        return q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    @no_grad()
    def right_inverse(self, q: Tensor) -> Tensor:
        """The matrix that maps to `q`, or to the nearest of its kind; a trivialised one moves its base there."""
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}."
            )
        given, wide = q, q.shape[-2] < q.shape[-1]
        q = q.mT if wide else q
        if self.trivialized:
            self.base = self._completed(q)
            start = ops.zeros_like(given)  # maps to the identity
            start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return start
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        reflectors, tau = ops.geqrf(q)
        diagonal = reflectors.diagonal(dim1=-2, dim2=-1)
        diagonal.sign_()
        diagonal.copy_(ops.where(tau == 0, -diagonal, diagonal))  # no reflection: the sign stays in R
        return reflectors.mT if wide else reflectors

    def _completed(self, q: Tensor) -> Tensor:
        """A square orthogonal matrix that begins with the columns of q."""
        n, k = q.shape[-2:]
        if n == k:
            return q.clone() if _is_orthogonal(q) else _make_orthogonal(q)
        more = ops.randn(*q.shape[:-2], n, n - k, dtype=q.dtype, device=q.device)
        return _make_orthogonal(ops.cat([q, more], -1))


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keeps a matrix (or a batch of matrices (..., m, n)) orthogonal, or with orthonormal rows or columns.

    `orthogonal_map` is "matrix_exp", "cayley" or "householder" (None: matrix_exp for square and complex matrices, else
    householder). `use_trivialization` maps around a base that an assignment moves (Lezcano-Casado, 2019). Returns the
    module; ValueError for a tensor that is no matrix and an unknown map.

    >>> from rushlight.nn.utils.parametrizations import orthogonal
    >>> q = orthogonal(nn.Linear(20, 40)).weight
    >>> bool(rushlight.allclose(q.mT @ q, rushlight.eye(20), atol=1e-5))
    True
    """
    weight = _weight_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in ORTHOGONAL_MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)


class _SpectralNorm(Module):
    """Divides a tensor by its largest singular value, which power iterations estimate while the module trains."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12):
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps, self.n_power_iterations = dim if dim >= 0 else dim + weight.ndim, eps, n_power_iterations
        if weight.ndim > 1:  # one row's only singular value is its norm
            with no_grad():
                matrix = as_matrix(weight, self.dim)
                height, width = matrix.shape
                u = normalize(matrix.new_empty(height).normal_(0, 1), eps)
                v = normalize(matrix.new_empty(width).normal_(0, 1), eps)
                self.register_buffer("_u", u)
                self.register_buffer("_v", v)
                self._power_method(matrix, 15)

    @no_grad()
    def _power_method(self, matrix: Tensor, n_power_iterations: int) -> None:
        for _ in range(n_power_iterations):
            self._u.copy_(normalize(ops.mv(matrix, self._v), self.eps))
            self._v.copy_(normalize(ops.mv(matrix.mH, self._u), self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return normalize(weight, self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call writes into the buffers
        return weight / ops.vdot(u, ops.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself, taken to be normalised."""
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divides a tensor by its largest singular value, seen as a matrix with rows along `dim` (Miyato et al., 2018).

    `dim` None means 1 for transposed convolutions and 0 otherwise. While the module trains, each use refines the
    estimate by `n_power_iterations`; evaluation uses it as it is. Returns the module.
    """
    weight = _weight_of(module, name)
    made = _SpectralNorm(weight, n_power_iterations, usual_dim(module) if dim is None else dim, eps)
    return parametrize.register_parametrization(module, name, made)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, g: Tensor, v: Tensor) -> Tensor:
        return normalized(v, g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Size and direction."""
        return norm_of(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Trains size (`original0`) and direction (`original1`) of a tensor apart: w = g · v / ‖v‖.

    The norm is over all dims but `dim`; with None over all (Salimans & Kingma, 2016). Files saved with the older
    `nn.utils.weight_norm` can be loaded. Returns the module.
    """
    weight = _weight_of(module, name)
    if is_lazy(weight):
        raise ValueError("The module passed to `weight_norm` can't have uninitialized parameters: call it once first")
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) -> None:
        old = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module
