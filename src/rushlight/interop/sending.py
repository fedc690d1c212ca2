"""How tensors go from process to process through queues, pipes and arguments: as places in shared memory.

`register` teaches this to the pickler of the standard `multiprocessing`. A tensor that is sent moves to shared memory
with all that view the same memory, and the receiver's tensor lies there too: what one writes the other reads.
"""

from __future__ import annotations

import os
import time
import weakref
from multiprocessing import context, process, reduction, util

from ..core import Tensor
from ..core.engine import Storage, borrow_storage
from .descriptors import Handle, are_waiting
from .pickling import bytes_of
from .segments import Anonymous, Named, Segment, leave_all, share, shared_room
from .storage import SharedMemory

SECONDS_TO_RECEIVE = 5.0  # that a child process which is done gives others to take what it sent
_BEFORE_LAST = -50

_storages: weakref.WeakValueDictionary[tuple, Storage] = weakref.WeakValueDictionary()


# -- tensors and storages ---------------------------------------------------------------------------
def reduce_tensor(tensor: Tensor) -> tuple:
    """How a tensor is sent: it moves to shared memory first. Sparse tensors are sent part by part.

    Raises:
        RuntimeError: for results of recorded ops, whose graph stays in this process
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    if not tensor._layout.sparse:
        tensor.share_memory_()
    return tensor.__reduce_ex__(2)


def reduce_storage(storage: Storage) -> tuple:
    """How a storage is sent: its place in shared memory; where it can not move there, that of a copy."""
    if not share(storage):
        copy = shared_room(storage.nbytes)
        bytes_of(copy).copy_(bytes_of(storage))
        storage = copy
    segment = storage.owner.segment
    offset = storage.address - segment.address
    _storages.setdefault((segment.token, offset, storage.nbytes), storage)
    return storage_in, (segment, offset, storage.nbytes)


def storage_in(segment: Segment, offset: int, nbytes: int) -> Storage:
    """The storage at a place of shared memory: one object for each place, so that views know of each other's writes."""
    key = segment.token, offset, nbytes
    found = _storages.get(key)
    if found is None:
        found = borrow_storage(segment.address + offset, nbytes, SharedMemory(segment))
        found = _storages.setdefault(key, found)
    return found


# -- segments ---------------------------------------------------------------------------------------
def reduce_anonymous(segment: Anonymous) -> tuple:
    """A segment without a name is sent as a descriptor."""
    if context.get_spawning_popen() is not None:
        handle = reduction.DupFd(segment.descriptor)  # the child inherits it
    else:
        handle = Handle(segment.descriptor)
    return attach_anonymous, (segment.token, handle, segment.nbytes)


def attach_anonymous(token: str, handle, nbytes: int) -> Anonymous:
    """The segment whose descriptor another process sent."""
    try:
        descriptor = handle.detach()
    except ConnectionError as error:
        raise RuntimeError(
            "a tensor can not be received: the process that sent it has ended. Let it live until the tensor has "
            "arrived (wait for an Event, say), or call multiprocessing.set_sharing_strategy('file_system') there"
        ) from error
    except OSError as error:
        raise RuntimeError(
            f"a tensor can not be received: {error.strerror}. Raise the limit (ulimit -n), or call "
            "multiprocessing.set_sharing_strategy('file_system') where it is sent"
        ) from error
    return Anonymous.received(token, descriptor, nbytes)


def reduce_named(segment: Named) -> tuple:
    """A segment with a name is sent as that."""
    segment.send()
    return Named.received, (segment.token, segment.nbytes)


# -- the end of a process ---------------------------------------------------------------------------
def _started(_=None) -> None:
    """What a process that may send tensors does first."""
    util.Finalize(None, _end, exitpriority=_BEFORE_LAST)  # threads of queues, which may send still, end before


def _end() -> None:
    """A process ends: if it is a child, others get a moment to receive what goes with it."""
    parent, deadline = process.parent_process(), time.monotonic() + SECONDS_TO_RECEIVE
    while are_waiting() and parent is not None and parent.is_alive() and time.monotonic() < deadline:
        time.sleep(0.002)
    leave_all()


_started()
os.register_at_fork(after_in_child=_started)
util.register_after_fork(_storages, _started)  # multiprocessing forgets what was registered before


# -- the pickler of multiprocessing -----------------------------------------------------------------
def register(*classes: type) -> None:
    """From now on the standard `multiprocessing`, too, sends tensors through shared memory, and those of classes."""
    for kind in (Tensor, *classes):
        reduction.ForkingPickler.register(kind, reduce_tensor)
    reduction.ForkingPickler.register(Storage, reduce_storage)
    reduction.ForkingPickler.register(Anonymous, reduce_anonymous)
    reduction.ForkingPickler.register(Named, reduce_named)
