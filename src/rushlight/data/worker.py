"""What runs in a worker process of a `DataLoader`."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import signal
import sys
import traceback
from dataclasses import dataclass
from multiprocessing import connection as connections
from multiprocessing import reduction

from ..core.engine import set_num_threads
from ..random import manual_seed
from .fetch import make_fetcher
from .shared_memory import Writer

SECONDS_BETWEEN_LOOKS = 2.0  # for whether the main process is still there


@dataclass(frozen=True)
class WorkerInfo:
    """Who a worker process is: its number, how many there are, its seed and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: object


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The `WorkerInfo` in a worker process of a `DataLoader`; None in the main process."""
    return _info


class CaughtError:
    """An exception on its way to the main process, with the text of its traceback."""

    def __init__(self, error: BaseException, where: str):
        self.type = type(error)
        text = "".join(traceback.format_exception(error))
        self.message = f"Caught {self.type.__name__} {where}.\nOriginal {text}"

    def reraise(self) -> None:
        """Raises an exception of the same type whose message has the original traceback."""
        if self.type is KeyError:
            raise KeyError(_Verbatim(self.message))  # a KeyError prints the repr of its message
        try:
            error = self.type(self.message)
        except Exception:  # a type whose constructor takes something else
            raise RuntimeError(self.message) from None
        raise error


class _Verbatim(str):
    def __repr__(self) -> str:
        return str(self)


@dataclass
class Job:
    """What a worker is told when it starts."""

    dataset: object
    batched: bool
    collate: object
    drop_last: bool
    init: object
    number: int
    workers: int
    base_seed: int


def run_worker(job: Job, connection) -> None:
    """Answers tasks until it is told to stop, or the main process is gone."""
    global _info
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the main process, which ends the workers
    set_num_threads(1)
    seed = job.base_seed + job.number
    manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        _seed_numpy(job)
    _info = WorkerInfo(job.number, job.workers, seed, job.dataset)
    try:
        _Worker(job, connection).serve()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        os._exit(0)  # nobody is there any more


def _seed_numpy(job: Job) -> None:
    """Seeds NumPy's global generator as PyTorch does: its seed is too short for ours, so they are mixed."""
    import numpy

    words = [job.number, job.base_seed & 0xFFFFFFFF, job.base_seed >> 32]
    numpy.random.seed(numpy.random.SeedSequence(words).generate_state(4))


class _Worker:
    def __init__(self, job: Job, connection):
        self.job, self.connection, self.parent = job, connection, os.getppid()
        self.writer = Writer()
        self.fetcher = None
        self.where = f"in DataLoader worker process {job.number}"

    def serve(self) -> None:
        failed = None if self.job.init is None else self._attempt(self.job.init, self.job.number)
        while True:
            kind, task, keys, released = pickle.loads(self._message())
            self.writer.release(released)
            if kind == "stop":
                return
            if kind == "pass":  # a new pass over the data begins
                self.fetcher = None
                continue
            self._answer(task, failed if isinstance(failed, CaughtError) else self._attempt(self._fetch, keys))

    def _message(self) -> bytes:
        """What the main process sends next; EOFError if it is gone. (A forked worker holds its pipes open itself.)"""
        main = multiprocessing.parent_process().sentinel
        while self.connection not in (ready := connections.wait([self.connection, main], SECONDS_BETWEEN_LOOKS)):
            if main in ready or os.getppid() != self.parent:
                raise EOFError
        return self.connection.recv_bytes()

    def _fetch(self, keys):
        if self.fetcher is None:
            job = self.job
            self.fetcher = make_fetcher(job.dataset, job.batched, job.collate, job.drop_last)
        return self.fetcher(keys)

    def _attempt(self, function, argument):
        """What the function returns, or what it raised."""
        try:
            return function(argument)
        except StopIteration:
            return StopIteration
        except Exception as error:
            return CaughtError(error, self.where)

    def _answer(self, task: tuple[int, int], result) -> None:
        try:
            message, descriptor = self.writer.pack(result)
        except Exception as error:  # something that can not be pickled
            message, descriptor = self.writer.pack(self._sendable(error))
        self.connection.send_bytes(pickle.dumps((task, message, descriptor is not None)))
        if descriptor is not None:
            reduction.send_handle(self.connection, descriptor, None)
            os.close(descriptor)

    def _sendable(self, error: Exception) -> CaughtError:
        caught = CaughtError(error, self.where)
        caught.type = RuntimeError
        return caught
