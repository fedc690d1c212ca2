"""`rushlight.utils.data`: another name of `rushlight.data`."""

from ...data import *  # noqa: F403
from ...data import collate as _collate
from ...data import dataset, sampler
from ...data import loader as dataloader

default_collate, default_convert = _collate.default_collate, _collate.default_convert
