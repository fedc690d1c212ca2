"""`rushlight.backends`: the libraries that programs ask about. None is in use; settings change nothing."""

from . import cuda, cudnn, mps
