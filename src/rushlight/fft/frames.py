"""The short-time Fourier transform and its inverse: transforms of overlapping pieces of a signal."""

from __future__ import annotations

import math
import warnings

from ..core.engine import Tensor
from ..ir import build as B
from ..ir.primitives import fourier as primitives
from ..ops import FUNCTIONS
from ..ops.checks import scalar_type
from ..ops.declare import composite, op
from ..ops.notices import warn_user
from ..ops.spatial import pad

MOST_SHARES = 16  # frames that lie over one place and are added up in a single kernel
SMALLEST = 1e-11  # overlapping windows may sum to before a division by them is refused


# -- ops --------------------------------------------------------------------------------------------
@op(public=False)
def short_time(input, window, n_fft: int, hop: int, onesided: bool, normalized: bool):
    """(B, L) -> (B, frequencies, frames): windowed pieces of n_fft numbers, `hop` apart, transformed."""
    frames = B.unfold(input, 1, n_fft, hop)
    if window is not None:
        frames = frames * window
    scale = 1 / math.sqrt(n_fft) if normalized else 1.0
    if onesided:
        made = primitives.rfft(frames, dim=2, scale=scale, order=(0, 1, 2))
    else:
        frames = B.cast(frames, frames.dtype.to_complex())
        made = primitives.fft(frames, dim=2, inverse=False, scale=scale, order=(0, 1, 2))
    return B.permute(made, (0, 2, 1))


@op(public=False)
def joined_frames(input, window, n_fft: int, hop: int, halved: bool, normalized: bool):
    """(B, frequencies, frames) -> (B, L): transformed back, windowed and added where they overlap.

    `halved`: the result is real, and only the first half of the frequencies counts.
    """
    scale = 1 / math.sqrt(n_fft) if normalized else 1 / n_fft
    x = B.permute(input, (0, 2, 1))
    if halved:
        x = B.narrow(x, 2, 0, n_fft // 2 + 1)
        frames = primitives.irfft(x, dim=2, n=n_fft, scale=scale, order=None)
    else:
        frames = primitives.fft(x, dim=2, inverse=True, scale=scale, order=None)
    return overlapped(frames if window is None else frames * window, hop)


@op(public=False)
def window_sums(input, window, n_fft: int, hop: int):
    """The squared window added for every frame of the input: what a signal has been multiplied by, (L,)."""
    if window is None:
        window = B.ones((n_fft,), input.dtype.to_real())
    frames = B.broadcast_to(B.square(window), (input.shape[2], n_fft))
    return overlapped(frames, hop)


def overlapped(frames, hop: int):
    """(..., T, n) -> (..., (T - 1) hop + n): frames added at places `hop` apart."""
    *batch, count, n = frames.shape
    shares, rank = -(-n // hop), len(batch)
    total = (count - 1) * hop + n
    if shares > MOST_SHARES:
        places = B.iota((count, n), 0) * hop + B.iota((count, n), 1)
        return B.put(B.zeros((*batch, total), frames.dtype), frames, places, dim=rank, mode="add")
    # frame t covers blocks t, t + 1, ... of `hop` places: as many sums of shifted frames as a frame has blocks
    nothing = [0] * (rank + 1)
    frames = B.pad(frames, [*nothing, 0], [*nothing, shares * hop - n])
    parts = [
        B.pad(
            B.narrow(frames, rank + 1, j * hop, hop),
            [*nothing[:-1], j, 0],
            [*nothing[:-1], shares - 1 - j, 0],
        )
        for j in range(shares)
    ]
    made = parts[0]
    for part in parts[1:]:
        made = made + part
    made = B.reshape(made, (*batch, (count + shares - 1) * hop))
    return B.narrow(made, rank, 0, total)


# -- the transform ------------------------------------------------------------------------------------
@composite(method=True)
def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """Fourier transforms of overlapping pieces: X[f, t] = sum_j window[j] x[t hop + j] exp(-2 pi i f j / n_fft).

    input            (L,) or (B, L), real or complex
    hop_length       the distance of pieces; n_fft // 4 by default
    window           (win_length,), padded with zeros to n_fft on both sides; ones by default
    center           pad the signal by n_fft // 2 on both sides (`pad_mode`), so that piece t has its middle at t hop
    normalized       divide by sqrt(n_fft)
    onesided         only the first n_fft // 2 + 1 frequencies: the default for real signals and windows
    return_complex   False: pairs of real numbers in a new last dim; it must be given for real signals
    align_to_window  without `center`, begin with the window (not with its padding) at the signal's start

    The result is (frequencies, pieces) or (B, frequencies, pieces). RuntimeError for signals of other ranks or types,
    lengths that do not fit and windows of another size.

    >>> rushlight.stft(rushlight.ones(16), 8, window=rushlight.ones(8), return_complex=True).shape
    rushlight.Size([5, 9])
    """
    hop, length = spacing(n_fft, hop_length, win_length)
    if align_to_window is not None and center:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    with_complex = input.is_complex() or (window is not None and window.is_complex())
    if return_complex is None:
        if not with_complex:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if not return_complex:
        warn_user(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
            "tensors for all inputs, and return_complex=False will raise an error."
        )
    if window is None:
        warn_user(
            "A window was not provided. A rectangular window will be applied, which is known to cause spectral "
            "leakage. Other windows such as hann_window or hamming_window are recommended to reduce spectral leakage. "
            "To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft)`."
        )
    input = centred(input, n_fft, pad_mode) if center else input
    call = described("stft", input, n_fft, hop, length, window, normalized, onesided, return_complex, align_to_window)
    check_signal(call, input, n_fft, hop, length, window)
    onesided = not with_complex if onesided is None else onesided
    if onesided and with_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    window = widened(window, length, n_fft, input)
    if align_to_window and length < n_fft:
        left = (n_fft - length) // 2
        input = FUNCTIONS["constant_pad_nd"](input, (left, n_fft - length - left))
    signal = input if input.ndim == 2 else input.unsqueeze(0)
    made = short_time(signal, window, n_fft, hop, bool(onesided), bool(normalized))
    made = made if input.ndim == 2 else made.squeeze(0)
    return made if return_complex else FUNCTIONS["view_as_real"](made)


def spacing(n_fft: int, hop_length, win_length) -> tuple:
    """(the distance of pieces, the length of the window)"""
    return n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length


def centred(input, n_fft: int, pad_mode: str):
    """The signal padded so that the first piece has its middle at the signal's start."""
    lead = (1,) * (3 - input.ndim) if input.ndim < 3 else ()  # as many dims in front as padding asks for
    padded = pad(input.reshape((*lead, *input.shape)), (n_fft // 2, n_fft // 2), pad_mode)
    return padded.reshape((*padded.shape[len(lead) :],))


def described(name: str, input, n_fft, hop, length, window, normalized, onesided, return_complex, aligned) -> str:
    """How PyTorch names the call in its messages."""
    given = "None" if window is None else f"{tensor_type(window)}{{{list(window.shape)}}}"

    def flag(value):
        return None if value is None else int(value)

    return (
        f"{name}({tensor_type(input)}{list(input.shape)}, n_fft={n_fft}, hop_length={hop}, win_length={length}, "
        f"window={given}, normalized={flag(normalized)}, onesided={flag(onesided)}, "
        f"return_complex={flag(return_complex)}, align_to_window={flag(aligned)})"
    )


def tensor_type(x) -> str:
    return f"torch.{scalar_type(x.dtype)}Tensor"


def check_signal(call: str, input, n_fft: int, hop: int, length: int, window) -> None:
    if input.dtype.kind not in "fc":
        raise RuntimeError(f"{call} : expected a tensor of floating point or complex values")
    if input.dtype.itemsize == 2:
        raise RuntimeError(f"stft: unsupported dtype {scalar_type(input.dtype)}; use float32 or float64")
    if input.ndim not in (1, 2):
        raise RuntimeError(f"{call} : expected a 1D or 2D tensor")
    if not 0 < n_fft <= input.shape[-1]:
        raise RuntimeError(f"{call} : expected 0 < n_fft < {input.shape[-1]}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{call} : expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{call} : expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and tuple(window.shape) != (length,):
        raise RuntimeError(
            f"{call} : expected a 1D window tensor of size equal to win_length={length}, but got window with size "
            f"{list(window.shape)}"
        )


def widened(window, length: int, n_fft: int, like):
    """The window with zeros on both sides up to n_fft; None for ones alone."""
    if length == n_fft:
        return window
    if window is None:
        window = FUNCTIONS["ones"](length, dtype=like.dtype.to_real())
    left = (n_fft - length) // 2
    return FUNCTIONS["constant_pad_nd"](window, (left, n_fft - length - left))


# -- the inverse --------------------------------------------------------------------------------------
@composite(method=True)
def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """The signal whose `stft` is (in the sense of least squares) the input.

    Pieces are transformed back, windowed, added up and divided by the sum of squared windows at each place.

    input    complex, (frequencies, pieces) or (B, frequencies, pieces)
    length   of the result: cut, or padded with zeros; by default what the pieces cover, without the padding of `center`

    RuntimeError where the windows leave places uncovered (a sum below 1e-11), for real input and for lengths that do
    not fit.

    >>> w = rushlight.hann_window(8)
    >>> x = rushlight.arange(16.0)
    >>> X = rushlight.stft(x, 8, window=w, return_complex=True)
    >>> rushlight.allclose(rushlight.istft(X, 8, window=w), x, atol=1e-5)
    True
    """
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    hop, span = spacing(n_fft, hop_length, win_length)
    call = f"istft({tensor_type(input)}{list(input.shape)}, n_fft={n_fft}, hop_length={hop}, win_length={span})"
    check_frames(call, input, n_fft, hop, span, window, onesided)
    complex_window = window is not None and window.is_complex()
    if return_complex and (onesided if onesided is not None else input.shape[-2] != n_fft):
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if complex_window and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    frames = input if input.ndim == 3 else input.unsqueeze(0)
    window = widened(window, span, n_fft, input)
    made = joined_frames(frames, window, n_fft, hop, not return_complex, bool(normalized))
    made = divided(call, made, window_sums(frames, window, n_fft, hop), n_fft // 2 if center else 0, center, length)
    return made if input.ndim == 3 else made.squeeze(0)


def check_frames(call: str, input, n_fft: int, hop: int, length: int, window, onesided) -> None:
    if input.numel() == 0:
        raise RuntimeError(f"{call} : input tensor cannot be empty.")
    if input.ndim not in (2, 3):
        raise RuntimeError(f"{call} : expected a tensor with 2 or 3 dimensions, but got {input.ndim}")
    frequencies = input.shape[-2]
    halved = frequencies != n_fft if onesided is None else onesided
    if frequencies != (n_fft // 2 + 1 if halved else n_fft):
        expected = "n_fft / 2 + 1" if halved else "n_fft"
        raise RuntimeError(
            f"{call} : expected the frequency dimension (2nd to the last) of the input tensor to match {expected} when "
            f"onesided={bool(halved)}, but got {frequencies}"
        )
    if not 0 < hop <= length:
        raise RuntimeError(f"{call} : expected 0 < hop_length <= win_length")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{call} : expected 0 < win_length <= n_fft")
    if window is not None and tuple(window.shape) != (length,):
        raise RuntimeError(f"{call} : Invalid window shape. window has to be 1D and length of `win_length`")


def divided(call: str, made, sums, start: int, center: bool, length: int | None):
    """The part of the joined frames that was asked for, over the sums of squared windows."""
    covered = made.shape[1]
    end = covered - start if length is None else start + length
    kept = max(min(end, covered) - start, 0)
    made, sums = made.narrow(1, start, kept), sums.narrow(0, start, kept)
    if isinstance(sums, Tensor) and not kept:
        raise RuntimeError(f"{call} : expected a length of at least 1, but got length={length}")
    if isinstance(sums, Tensor) and not sums.detach().abs().min().item() > SMALLEST:
        raise RuntimeError(f"{call} window overlap add min: 1: windows do not cover all places of the signal")
    made = made / sums
    if end > covered:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the "
            "tail. Please check your center and hop_length settings",
            stacklevel=4,
        )
        made = FUNCTIONS["constant_pad_nd"](made, (0, end - covered))
    return made
