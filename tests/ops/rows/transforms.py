"""Rows of the table of ops: Fourier transforms and what `fft` and `signal` declare besides."""

from rushlight.fft import frames, frequencies  # noqa: F401 - they declare ops
from rushlight.signal import windows  # noqa: F401

from ..op_samples import Row

TRANSFORMS = [
    Row(
        "fourier",
        lambda x: [
            (x(3, 4), "rfftn", None, (1, 0), "ortho"),
            (x(3, 5), "fft", None, -1, None),
            (x(5, 3), "ifft", 4, 0, "forward"),
            (x(3, 5), "irfft", 7, 1, None),
            (x(3, 5), "hfft", None, 1, "ortho"),
            (x(3, 5), "ihfft", 8, 1, None),
            (x(2, 3, 4), "fftn", (3, -1), None, None),
            (x(2, 3, 4), "irfftn", None, (2, 0), None),
            (x(0, 4), "fft", None, 1, None),
            (x(2, 37), "fft", None, 1, None),  # by convolution
        ],
        "f",
        rtol=2e-5,
    ),
    Row(
        "short_time",
        lambda x: [(x(2, 11), x(4), 4, 2, True, False), (x(2, 9), x(4), 4, 3, False, True)],
        "f",
        rtol=2e-5,
        larger=False,
    ),
    Row(
        "joined_frames",
        lambda x: [(x(2, 3, 4), x(4), 4, 2, True, False), (x(2, 4, 3), x(4), 4, 3, False, True)],
        "c",
        rtol=2e-5,
        larger=False,
    ),
    Row("window_sums", lambda x: [(x(1, 3, 4), x(4), 4, 3), (x(1, 3, 4), x(20), 20, 1)], "fc", larger=False),
]

WRITTEN = [
    Row("spectrum", lambda x: [(x(5), 5, 3, 0.5)], others=False, grad=""),
    Row("cosine_sum", lambda x: [(x(5), 0.7, (0.5, 0.25, 0.25))], others=False, grad=""),
    Row("half_wave", lambda x: [(x(5), 0.6)], others=False, grad=""),
    Row("decay", lambda x: [(x(5), 2.0, 1.5)], others=False, grad=""),
    Row("normal_curve", lambda x: [(x(5), 2.0, 1.5)], others=False, grad=""),
]

ROWS = [*TRANSFORMS, *WRITTEN]
