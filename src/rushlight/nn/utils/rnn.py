"""Batches of sequences of different lengths: padded or packed."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Iterable

from ... import ops
from ...core import Tensor

PackedSequence_ = namedtuple("PackedSequence_", ("data", "batch_sizes", "sorted_indices", "unsorted_indices"))


class PackedSequence(PackedSequence_):
    """Sequences laid out time step by time step, the longest sequence first; see `pack_padded_sequence`.

    `data` is (Σ lengths, *); `batch_sizes[t]` tells how many sequences have a step t; `sorted_indices` and
    `unsorted_indices` are the order of the original batch and its inverse (None: it was sorted).
    """

    __slots__ = ()

    def __new__(cls, data: Tensor, batch_sizes: Tensor, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs) -> PackedSequence:
        """The sequence with `data` moved or cast."""
        return self._replaced(self.data.to(*args, **kwargs))

    def float(self) -> PackedSequence:
        """The sequence with float32 data."""
        return self._replaced(self.data.float())

    def double(self) -> PackedSequence:
        """The sequence with float64 data."""
        return self._replaced(self.data.double())

    def half(self) -> PackedSequence:
        """The sequence with float16 data."""
        return self._replaced(self.data.half())

    def cpu(self) -> PackedSequence:
        """The sequence on the CPU."""
        return self._replaced(self.data.to("cpu"))

    @property
    def is_cuda(self) -> bool:
        return False

    def _replaced(self, data: Tensor) -> PackedSequence:
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes this one."""
    if permutation is None:
        return None
    places = {index: place for place, index in enumerate(permutation.tolist())}
    return ops.tensor([places[index] for index in range(len(places))])


def pack_padded_sequence(
    input: Tensor, lengths, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs a padded batch (T, B, *), or (B, T, *) with `batch_first`, of sequences with the given lengths.

    Sequences are sorted by decreasing length; with `enforce_sorted` they must be already (RuntimeError).
    """
    lengths = lengths.tolist() if isinstance(lengths, Tensor) else [int(length) for length in lengths]
    x = input.transpose(0, 1) if batch_first else input
    _check_lengths(x, lengths)
    sorted_indices = None
    if not enforce_sorted:
        order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
        lengths = [lengths[i] for i in order]
        sorted_indices = ops.tensor(order)
        x = x.index_select(1, sorted_indices)
    elif any(a < b for a, b in itertools.pairwise(lengths)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence to sidestep this requirement."
        )
    batch_sizes = [sum(length > t for length in lengths) for t in range(lengths[0])]
    data = ops.cat([x[t, :size] for t, size in enumerate(batch_sizes)], 0)
    return PackedSequence(data, ops.tensor(batch_sizes), sorted_indices, None)


def _check_lengths(x: Tensor, lengths: list[int]) -> None:
    if len(lengths) != x.shape[1]:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size="
                           f"{x.shape[1]})")  # fmt: skip
    if not lengths or min(lengths) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if max(lengths) > x.shape[0]:
        raise RuntimeError(
            f"Expected all lengths to be at most {x.shape[0]}, the padded length, but got {max(lengths)}"
        )


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The padded batch (T, B, *), or (B, T, *), and the lengths (B,), in the order before packing."""
    sizes = sequence.batch_sizes.tolist()
    steps = len(sizes) if total_length is None else total_length
    if steps < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {len(sizes)}"
        )
    data = sequence.data
    shape = (steps, sizes[0], *data.shape[1:])
    padded = ops.full(shape, padding_value, dtype=data.dtype, device=data.device)
    for t, part in enumerate(data.split(sizes)):
        padded[t, : sizes[t]] = part
    lengths = ops.tensor([sum(size > i for size in sizes) for i in range(sizes[0])])
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded.transpose(0, 1) if batch_first else padded, lengths


def pad_sequence(
    sequences: list[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Stacks tensors (L, *) of different lengths to (T, B, *), or (B, T, *) with `batch_first`."""
    if padding_side not in ("left", "right"):
        raise ValueError(f"padding_side should be either right or left, but got {padding_side}")
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest, first = max(s.shape[0] for s in sequences), sequences[0]
    sizes = (len(sequences), longest) if batch_first else (longest, len(sequences))
    padded = ops.full((*sizes, *first.shape[1:]), padding_value, dtype=first.dtype, device=first.device)
    by_sequence = padded if batch_first else padded.transpose(0, 1)
    for i, sequence in enumerate(sequences):
        start = 0 if padding_side == "right" else longest - sequence.shape[0]
        by_sequence[i, start : start + sequence.shape[0]] = sequence
    return padded


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch, cut to their lengths."""
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [sequence[:length] for sequence, length in zip(batch, lengths.tolist())]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs tensors (L, *) of different lengths."""
    lengths = [sequence.shape[0] for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that `pack_sequence` packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
