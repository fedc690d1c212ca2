"""The main process's side of worker processes: handing out tasks, taking in batches, noticing deaths."""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
import time
import weakref
from collections.abc import Iterator
from multiprocessing import connection as connections
from multiprocessing import reduction

from .shared_memory import Reader
from .worker import CaughtError, Job, run_worker

SECONDS_TO_END = 5.0  # that workers get to finish what they do before they are killed


class WorkerPool:
    """The worker processes of a loader."""

    def __init__(self, loader, base_seed: int):
        self.loader = loader
        self.closed = False
        self.passes = 0  # that have begun: answers to tasks of earlier ones are ignored
        context = loader.multiprocessing_context
        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context)
        self.processes, self.connections, self.readers = [], [], []
        self._finalizer = weakref.finalize(self, _end, self.processes, self.connections)
        for number in range(loader.num_workers):
            self._start(context, number, base_seed)

    def _start(self, context, number: int, base_seed: int) -> None:
        loader = self.loader
        job = Job(
            loader.dataset, loader.batch_sampler is not None, loader.collate_fn, loader.drop_last,
            loader.worker_init_fn, number, loader.num_workers, base_seed,
        )  # fmt: skip
        ours, theirs = context.Pipe(duplex=True)
        process = context.Process(target=run_worker, args=(job, theirs), daemon=True)
        process.start()
        theirs.close()  # so that the worker's death closes the pipe
        self.processes.append(process)
        self.connections.append(ours)
        self.readers.append(Reader())

    def run(self, keys: Iterator) -> _Pass:
        """One pass over the data."""
        return _Pass(self, keys)

    def send(self, worker: int, kind: str, task: tuple[int, int] = (0, 0), keys=None) -> None:
        """Gives a worker a task; it learns on the way which segments are free."""
        released = self.readers[worker].take_released()
        try:
            self.connections[worker].send_bytes(pickle.dumps((kind, task, keys, released)))
        except (BrokenPipeError, ConnectionResetError):
            self._report_death(worker)

    def receive(self, expected: set[int], deadline: float | None) -> Iterator[tuple[int, tuple[int, int], object]]:
        """Waits for answers of any of the expected workers: (worker, task, result)."""
        sources = {self.connections[worker]: worker for worker in expected}
        sentinels = {self.processes[worker].sentinel: worker for worker in expected}
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready = connections.wait([*sources, *sentinels], left)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self.loader.timeout} seconds")
        answers = [source for source in ready if source in sources]
        for source in answers:
            yield sources[source], *self._take(sources[source])
        if not answers:
            self._report_death(sentinels[ready[0]])

    def _take(self, worker: int) -> tuple[tuple[int, int], object]:
        connection = self.connections[worker]
        try:
            task, message, has_descriptor = pickle.loads(connection.recv_bytes())
            descriptor = reduction.recv_handle(connection) if has_descriptor else None
        except (EOFError, ConnectionResetError):
            self._report_death(worker)
        return task, self.readers[worker].unpack(message, descriptor)

    def _report_death(self, worker: int) -> None:
        process = self.processes[worker]
        process.join(SECONDS_TO_END)
        code = process.exitcode
        how = f"exited unexpectedly with exit code {code}"
        if code is not None and code < 0:
            how = f"is killed by signal: {signal.strsignal(-code) or -code}"
        raise RuntimeError(f"DataLoader worker {worker} (pid {process.pid}) {how}")

    def close(self) -> None:
        """Ends the processes."""
        self.closed = True
        self._finalizer()


def _end(processes: list, pipes: list) -> None:
    """Tells workers to stop; kills those that do not listen."""
    for pipe in pipes:
        with contextlib.suppress(OSError):
            pipe.send_bytes(pickle.dumps(("stop", (0, 0), None, [])))
        pipe.close()
    deadline = time.monotonic() + SECONDS_TO_END
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()
    processes.clear()
    pipes.clear()


class _Pass:
    """One pass over the data: batches in the order of their tasks, or as they come."""

    def __init__(self, pool: WorkerPool, keys: Iterator):
        self.pool, self.keys = pool, keys
        pool.passes += 1
        self.number = pool.passes
        self.sent = self.wanted = self.next_worker = 0
        self.results: dict[int, object] = {}  # answers that have come and are not yet given out
        self.owner: dict[int, int] = {}  # task -> worker, for tasks without an answer
        self.active = set(range(len(pool.processes)))  # workers whose stream goes on
        for worker in self.active:
            pool.send(worker, "pass")
        for _ in range(pool.loader.prefetch_factor * len(self.active)):
            self._send_next()

    def __iter__(self) -> _Pass:
        return self

    def __next__(self):
        try:
            result = self._next_result()
        except BaseException:
            if not self.pool.loader.persistent_workers:
                self.pool.close()
            raise
        if isinstance(result, CaughtError):
            result.reraise()
        return result

    def _next_result(self):
        timeout = self.pool.loader.timeout
        deadline = time.monotonic() + timeout if timeout > 0 else None
        while (self.results or self.owner) and self.number == self.pool.passes:
            index = self.wanted if self.pool.loader.in_order else next(iter(self.results), None)
            if index not in self.results:
                self._receive(deadline)
                continue
            self.wanted += 1
            result = self.results.pop(index)
            self._send_next()
            if result is not StopIteration:
                return result
        raise StopIteration

    def _receive(self, deadline: float | None) -> None:
        for worker, (number, index), result in self.pool.receive(set(self.owner.values()), deadline):
            if number != self.number:
                continue
            del self.owner[index]
            self.results[index] = result
            if result is StopIteration:
                self.active.discard(worker)

    def _send_next(self) -> None:
        """Hands the next task to the next worker in turn."""
        if not self.active:
            return
        while self.next_worker not in self.active:
            self.next_worker = (self.next_worker + 1) % len(self.pool.processes)
        try:
            keys = next(self.keys)
        except StopIteration:
            return
        self.pool.send(self.next_worker, "batch", (self.number, self.sent), keys)
        self.owner[self.sent] = self.next_worker
        self.sent += 1
        self.next_worker = (self.next_worker + 1) % len(self.pool.processes)
