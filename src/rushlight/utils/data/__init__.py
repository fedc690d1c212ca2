"""`rushlight.utils.data`: another name of `rushlight.data`."""

from ...aliases import install
from ...data import *  # noqa: F403
from ...data import collate as _collate

default_collate, default_convert = _collate.default_collate, _collate.default_convert
_PLACES = {
    "_utils": "data.collate data.worker",
    "_utils.collate": "data.collate",
    "_utils.worker": "data.worker",
    "dataloader": "data.loader data",
    "dataset": "data.dataset",
    "distributed": "data.distributed",
    "sampler": "data.sampler",
}
install(__name__, _PLACES)
