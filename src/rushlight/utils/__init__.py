"""The import paths of `torch.utils`: thin names over the rooms where the code lives."""

from . import checkpoint, data
