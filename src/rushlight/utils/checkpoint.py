"""`rushlight.utils.checkpoint`: another name of `rushlight.autograd.checkpoint`."""

from ..autograd.checkpoint import CheckpointError, checkpoint, checkpoint_sequential, noop_context_fn

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential", "noop_context_fn"]
