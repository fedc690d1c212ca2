"""Several processes that run one function, each with its number, and end together: `spawn`, `start_processes`."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import signal
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing import connection as connections

from ..ops.notices import warn_user

_PR_SET_PDEATHSIG = 1
_LONGEST = 32_000  # bytes of a traceback: a pipe takes them without a reader


class ProcessException(Exception):
    """A process has failed: `error_index` says which, `error_pid` its id."""

    def __init__(self, msg: str, error_index: int, error_pid: int):
        super().__init__(msg)
        self.msg, self.error_index, self.pid, self.error_pid = msg, error_index, error_pid, error_pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised an exception in a process; the message has the traceback."""


class ProcessExitedException(ProcessException):
    """A process ended in another way: by a signal (`signal_name`), or with an exit code that is not 0."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


# -- in the process ---------------------------------------------------------------------------------
def _run(fn: Callable, number: int, args: tuple, errors) -> None:
    """What runs in each process."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)  # to end with the one that started it
    try:
        fn(number, *args)
    except KeyboardInterrupt:
        return  # as all of the group: the one that started this says what happened
    except Exception:
        errors.send_bytes(traceback.format_exc().encode()[-_LONGEST:])
        sys.exit(1)


# -- in the one that starts them --------------------------------------------------------------------
class ProcessContext:
    """Processes that `start_processes` started; `processes` are those of `multiprocessing`."""

    def __init__(self, processes: list, error_files: list):
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: number for number, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The processes' ids."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends, or `timeout` seconds: whether all of them have ended. Call it until they have.

        Raises:
            ProcessRaisedException: if the function raised in one of them. The others are told to end, after
                `grace_period` seconds in which they may do so by themselves, and killed if they do not
            ProcessExitedException: the same, if one was ended by a signal or has an exit code that is not 0
        """
        if not self.sentinels:
            return True
        for sentinel in connections.wait(self.sentinels, timeout):
            number = self.sentinels.pop(sentinel)
            self.processes[number].join()
            if self.processes[number].exitcode != 0:
                self._end_all(grace_period)
                self._fail(number)
        return not self.sentinels

    def _end_all(self, grace_period: float | None) -> None:
        """End what still runs."""
        self._wait(grace_period or 0.0)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self._wait(30.0)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()
        self.sentinels.clear()

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))

    def _fail(self, number: int) -> None:
        process, errors = self.processes[number], self.error_files[number]
        code, where = process.exitcode, f"process {number}"
        if errors.poll():
            with contextlib.suppress(EOFError):
                text = errors.recv_bytes().decode(errors="replace")
                message = f"\n\n-- Process {number} terminated with the following error:\n{text}"
                raise ProcessRaisedException(message, number, process.pid)
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            message = f"{where} terminated with signal {name}"
            raise ProcessExitedException(message, number, process.pid, code, name)
        raise ProcessExitedException(f"{where} terminated with exit code {code}", number, process.pid, code)


class SpawnContext(ProcessContext):
    """What `spawn(join=False)` returns."""


def start_processes(
    fn: Callable,
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` processes, i from 0 on, started by any method: "spawn", "fork" or "forkserver".

    Returns None when all have ended well, or at once a `ProcessContext` with `join=False`. Errors are those of
    `ProcessContext.join`. With "spawn" and "forkserver", `fn` must be defined at the top of a module.
    """
    return _started(ProcessContext, fn, args, nprocs, join, daemon, start_method)


def spawn(
    fn: Callable,
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> SpawnContext | None:
    """`start_processes` with fresh processes: they share nothing but the tensors among the arguments."""
    if start_method != "spawn":
        warn_user(
            f"This method only supports start_method=spawn (got: {start_method}).\n"
            "To use a different start_method use:\n\t\t torch.multiprocessing.start_processes(...)",
            FutureWarning,
        )
    return _started(SpawnContext, fn, args, nprocs, join, daemon, "spawn")


def _started(kind: type, fn: Callable, args: tuple, nprocs: int, join: bool, daemon: bool, start_method: str):
    method = multiprocessing.get_context(start_method)
    processes, errors = [], []
    try:
        for number in range(nprocs):
            ours, theirs = method.Pipe(duplex=False)
            process = method.Process(target=_run, args=(fn, number, args, theirs), daemon=daemon)
            process.start()
            theirs.close()
            processes.append(process)
            errors.append(ours)
    except BaseException:  # something that can not be sent, too many processes
        kind(processes, errors)._end_all(None)
        raise
    started = kind(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None
