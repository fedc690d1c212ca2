"""Descriptors on their way to another process: a thread hands each to whoever shows the key that was sent for it.

(What the standard library has for this is gone before the threads of its queues have sent what is left to send.)
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time

SECONDS_FOR_A_KEY = 5.0
_KEY_BYTES = 16

_offers: dict[bytes, int] = {}  # key -> our copy of a descriptor that nobody has asked for yet
_lock = threading.Lock()
_listener: socket.socket | None = None


class Handle:
    """A descriptor under way; pickled, it goes to one receiver, who calls `detach`. The sender must live until then."""

    def __init__(self, descriptor: int):
        self.address, self.key = _address(), os.urandom(_KEY_BYTES)
        _offers[self.key] = os.dup(descriptor)

    def detach(self) -> int:
        """The descriptor, here.

        Raises:
            ConnectionError: if the sender has ended, or has handed it to someone else already
            OSError: with errno EMFILE, if this process may open no more files
        """
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.address)
            connection.sendall(self.key)
            answer, descriptors, flags, _ = socket.recv_fds(connection, 1, 1, socket.MSG_CMSG_CLOEXEC)
        if descriptors:
            return descriptors[0]
        if answer and flags & socket.MSG_CTRUNC:
            import errno

            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        raise ConnectionAbortedError("the descriptor was handed over before")


def are_waiting() -> bool:
    """Whether there are descriptors that nobody has received yet."""
    return bool(_offers)


def _address() -> str:
    """Where this process hands over descriptors: a name that no file system shows."""
    global _listener
    with _lock:
        if _listener is None:
            _listener = socket.socket(socket.AF_UNIX)
            _listener.bind(f"\0rushlight-{os.getpid()}-{os.urandom(8).hex()}")
            _listener.listen(128)
            threading.Thread(target=_serve, args=(_listener,), name="rushlight descriptors", daemon=True).start()
        return _listener.getsockname().decode()


def _serve(listener: socket.socket) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for the program's own threads
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:  # no descriptor is free for the connection: one may be soon
            time.sleep(0.01)
            continue
        with connection, contextlib.suppress(OSError):
            connection.settimeout(SECONDS_FOR_A_KEY)
            _hand_over(connection, connection.recv(_KEY_BYTES))


def _hand_over(connection: socket.socket, key: bytes) -> None:
    descriptor = _offers.get(key)
    if descriptor is None:
        return
    try:
        socket.send_fds(connection, [b"+"], [descriptor])
    finally:
        del _offers[key]
        os.close(descriptor)


def _after_fork() -> None:
    """A child has no such thread, and must not keep alive what its parent sends."""
    global _listener, _lock
    _lock = threading.Lock()
    for descriptor in _offers.values():
        os.close(descriptor)
    _offers.clear()
    if _listener is not None:
        _listener.close()
        _listener = None


os.register_at_fork(after_in_child=_after_fork)
