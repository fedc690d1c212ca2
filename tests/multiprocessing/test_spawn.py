"""`spawn` and `start_processes`: processes that run one function and end together."""

import os
import pickle
import signal
import time

import pytest

import rushlight as rl
import rushlight.multiprocessing as mp


def mark(number, x, value):
    x[number] = value + number


def raise_in_second(number):
    if number == 1:
        raise ValueError("an error " + "x" * 100_000 + " of ours")
    time.sleep(60)


def exit_with_3(number):
    os._exit(3)


def kill_itself(number):
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(number):
    time.sleep(60)


def interrupted(number):
    raise KeyboardInterrupt


@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_each_gets_its_number_and_the_tensors(start):
    x = rl.zeros(3).share_memory_()
    if start == "spawn":
        assert mp.spawn(mark, (x, 5), nprocs=2) is None
    else:
        mp.start_processes(mark, (x, 5), nprocs=2, start_method=start)
    assert x.tolist() == [5, 6, 0]


def started(function, nprocs=2, **options):
    return mp.start_processes(function, nprocs=nprocs, start_method="fork", **options)


def test_an_exception_ends_all_and_is_raised_here():
    start = time.monotonic()
    with pytest.raises(mp.ProcessRaisedException, match=r"(?s)-- Process 1 terminated.*error:.*of ours") as caught:
        started(raise_in_second)
    assert caught.value.error_index == 1 and caught.value.pid > 0 and time.monotonic() - start < 20


@pytest.mark.parametrize(
    "function, message, code, name",
    [
        (exit_with_3, "process 0 terminated with exit code 3", 3, None),
        (kill_itself, "process 0 terminated with signal SIGKILL", -9, "SIGKILL"),
    ],
)
def test_processes_that_end_otherwise(function, message, code, name):
    with pytest.raises(mp.ProcessExitedException, match=message) as caught:
        started(function, 1)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.exit_code, error.signal_name, error.error_index) == (code, name, 0) and error.error_pid == error.pid


def test_an_interrupt_is_no_error():
    assert started(interrupted) is None and mp.spawn(sleep, nprocs=0) is None


def test_joining_takes_a_time():
    context = started(sleep, 2, join=False, daemon=True)
    assert isinstance(context, mp.ProcessContext) and len(set(context.pids())) == 2
    assert all(process.daemon for process in context.processes)
    assert context.join(timeout=0.05) is False
    os.kill(context.pids()[1], signal.SIGTERM)
    with pytest.raises(mp.ProcessExitedException, match="process 1 terminated with signal SIGTERM"):
        while not context.join():
            pass
    assert not any(process.is_alive() for process in context.processes) and context.join() is True


def test_what_can_not_be_sent_leaves_no_process():
    before = len(mp.active_children())
    with pytest.raises((AttributeError, pickle.PicklingError), match="<lambda>|local object"):
        mp.spawn(lambda number: None, nprocs=2)
    assert len(mp.active_children()) == before


def test_other_ways_to_start_are_not_spawns():
    with pytest.warns(FutureWarning, match="only supports start_method=spawn"):
        mp.spawn(sleep, nprocs=0, start_method="fork")
