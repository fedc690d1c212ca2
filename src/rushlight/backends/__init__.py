"""`rushlight.backends`: the libraries that programs ask about. None is in use; settings change nothing."""

from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, nnpack, openmp, opt_einsum, quantized


def __getattr__(name: str):
    from ..absent import missing

    raise missing(__name__, name)
