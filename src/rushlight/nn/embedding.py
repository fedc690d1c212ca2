"""Tables of vectors looked up by index."""

from __future__ import annotations

from .. import ops
from ..autograd import no_grad
from ..core import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


class _Table(Module):
    """What embeddings share: the table and its row that stays zero."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx, weight, device, dtype):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = self._wrapped(padding_idx)
        if weight is None:
            self.weight = Parameter(ops.empty((num_embeddings, embedding_dim), device=device, dtype=dtype))
            self.reset_parameters()
        else:
            if list(weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(weight)

    def _wrapped(self, padding_idx: int | None) -> int | None:
        if padding_idx is None:
            return None
        if not -self.num_embeddings <= padding_idx < self.num_embeddings:
            raise AssertionError("Padding_idx must be within num_embeddings")
        return padding_idx % self.num_embeddings

    def reset_parameters(self) -> None:
        """Draws new values from the standard normal distribution; the padding row is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options):
        """A table with the given 2-d values, not trained if `freeze`."""
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        table = cls(rows, columns, _weight=embeddings, **options)
        table.weight.requires_grad_(not freeze)
        return table

    def _shown(self, usual: dict) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        parts += [f"{n}={getattr(self, n)!r}" for n, default in usual.items() if getattr(self, n) != default]
        return ", ".join(parts)


class Embedding(_Table):
    """Row i of the table for every index i: integers of any shape (*) to (*, embedding_dim).

    The row `padding_idx` starts as 0 and gets no gradient. With `max_norm` the rows used are first scaled, in
    place, to a `norm_type`-norm of at most `max_norm`. Rows start normal with variance 1.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
        _freeze: bool = False, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, device, dtype)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _freeze:
            self.weight.requires_grad_(False)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
        return self._shown(usual) + (", sparse=True" if self.sparse else "")


class EmbeddingBag(_Table):
    """Sums, means or maxima (`mode`) of bags of rows, without building the rows.

    Input (B, N): B bags of N; or (N,) with `offsets`, where each bag starts. Output (B, embedding_dim).
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, device, dtype)
        if mode not in ("sum", "mean", "max"):
            raise ValueError(f"EmbeddingBag: mode must be sum, mean or max, got {mode!r}")
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode,
            self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        usual = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
        return (
            self._shown(usual)
            + f", mode={self.mode!r}"
            + (f", padding_idx={self.padding_idx}" if self.padding_idx is not None else "")
        )
