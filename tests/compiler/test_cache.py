"""The way from text to machine code: memory, disk, many threads, many processes, hostile directories."""

import ctypes
import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

from rushlight.compiler import cache, disk, executable_memory, machine_code, object_file
from rushlight.compiler.kernel import Kernel, compile_all

SOURCE = Path(cache.__file__).resolve().parents[2]
FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


def text(number: int, name: str = "f") -> str:
    return f"define i64 @{name}(i64 %x) nounwind {{\n  %y = add i64 %x, {number}\n  ret i64 %y\n}}\n"


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """A fresh cache on disk and in memory."""
    path = tmp_path / "cache"
    monkeypatch.setenv("RUSHLIGHT_CACHE", str(path))
    monkeypatch.setattr(cache, "_modules", {})
    return path


def forget(monkeypatch):
    monkeypatch.setattr(cache, "_modules", {})


def since(before):
    return tuple(now - then for now, then in zip(cache.statistics(), before))


def kernel_files(directory):
    return [p for p in directory.iterdir() if not p.name.startswith("target-")]


def test_compiled_once_then_found_in_memory_then_on_disk(directory, monkeypatch):
    before = cache.statistics()
    assert FUNCTION(cache.load("f", text(5)))(2) == 7
    assert since(before) == (1, 0, 0)
    assert cache.load("f", text(5)) == cache.load("f", text(5))
    assert since(before) == (1, 0, 2)
    forget(monkeypatch)
    assert FUNCTION(cache.load("f", text(5)))(3) == 8
    assert since(before) == (1, 1, 2)


def test_the_key_depends_on_text_and_processor(monkeypatch):
    from dataclasses import replace

    target = cache.host()
    key = cache._key(text(1))
    assert key != cache._key(text(2))
    for change in ({"cpu": "other"}, {"features": "+x"}, {"compiler": "0"}, {"triple": "other"}):
        monkeypatch.setattr(cache, "host", lambda change=change: replace(target, **change))
        assert cache._key(text(1)) != key


def test_invalid_text_raises_and_is_not_kept(directory):
    for _ in range(2):
        with pytest.raises(RuntimeError, match="parsing error"):
            cache.load("f", "define nonsense")
    with pytest.raises(KeyError):
        cache.load("g", text(5))


def test_the_directory_and_its_files_are_private(directory):
    cache.load("f", text(6))
    assert directory.stat().st_mode & 0o777 == 0o700
    files = list(directory.iterdir())
    assert files and all(p.stat().st_mode & 0o777 == 0o600 for p in files)
    assert not [p for p in files if p.suffix == ".tmp"]


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "swap"])
def test_damaged_files_are_deleted_and_compiled_again(directory, monkeypatch, damage):
    cache.load("f", text(7))
    (file,) = kernel_files(directory)
    content = bytearray(file.read_bytes())
    if damage == "truncate":
        content = content[:-10]
    elif damage == "flip":
        content[-5] ^= 1
    elif damage == "empty":
        content = bytearray()
    else:
        cache.load("f", text(8))
        content = bytearray(next(p for p in kernel_files(directory) if p != file).read_bytes())
    file.write_bytes(content)
    forget(monkeypatch)
    before = cache.statistics()
    assert FUNCTION(cache.load("f", text(7)))(0) == 7
    assert since(before) == (1, 0, 0)
    assert file.read_bytes() != content


def refused(path, reason):
    disk._checked.cache_clear()
    with pytest.warns(RuntimeWarning, match=reason):
        assert FUNCTION(cache.load("f", text(9)))(1) == 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # one warning is enough
        cache.load("f", text(10))


def test_a_pipe_in_a_files_place_is_not_waited_for(directory):
    disk.write("kernel", b"x")
    path = directory / "kernel"
    path.unlink()
    os.mkfifo(path)
    assert disk.read("kernel") is None
    disk.write("kernel", b"y")
    assert disk.read("kernel") == b"y"


def test_a_directory_that_others_may_write_is_not_used(directory):
    directory.mkdir()
    directory.chmod(0o770)
    refused(directory, "writable by others")
    assert not list(directory.iterdir())


def test_a_symbolic_link_is_not_used(directory, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    directory.symlink_to(tmp_path / "elsewhere")
    refused(directory, "symbolic link")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_directory_of_another_user_is_not_used(directory, monkeypatch):
    directory.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    refused(directory, "another user")


def test_no_place_to_write_is_no_reason_for_noise(monkeypatch):
    forget(monkeypatch)
    monkeypatch.setenv("RUSHLIGHT_CACHE", "/proc/nothing/can/be/made/here")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FUNCTION(cache.load("f", text(11)))(1) == 12


def test_a_failed_write_leaves_nothing_behind(directory, monkeypatch):
    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    cache.load("f", text(12))
    assert not list(directory.iterdir())


def test_location(monkeypatch):
    monkeypatch.delenv("RUSHLIGHT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert disk.location() == "/somewhere/rushlight"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert disk.location() == "/home/someone/.cache/rushlight"


def test_the_oldest_files_go_when_the_limit_is_reached(directory, monkeypatch):
    disk.write("first", bytes(100))
    os.utime(directory / "first", (1, 1))
    monkeypatch.setattr(disk, "LIMIT", 4000)
    for number in range(40):
        disk.write(f"file{number}", bytes(100))
    assert not (directory / "first").exists()
    assert (directory / "file39").exists()
    assert sum(p.stat().st_size for p in directory.iterdir()) <= 4000


def test_reading_makes_an_old_file_young(directory):
    disk.write("old", b"x")
    os.utime(directory / "old", (1, 1))
    assert disk.read("old") == b"x"
    assert time.time() - (directory / "old").stat().st_mtime < 100


def test_threads_compile_equal_texts_once(directory):
    before, results = cache.statistics(), []
    threads = [threading.Thread(target=lambda: results.append(cache.load("f", text(13)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1 and len(results) == 8
    assert since(before) == (1, 0, 7)


def test_threads_work_in_llvm_at_the_same_time(directory, monkeypatch):
    """No lock is held while LLVM works: two emissions wait for each other."""
    barrier, plain = threading.Barrier(2, timeout=20), machine_code._unlocked

    def meeting(name):
        function = plain(name)

        def run(*arguments):
            if "Emit" in name:
                barrier.wait()
            return function(*arguments)

        return run

    monkeypatch.setattr(machine_code, "_unlocked", meeting)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    addresses = cache.load_all([("f", text(14)), ("f", text(15))])
    assert [FUNCTION(a)(0) for a in addresses] == [14, 15]


def test_load_all_raises_what_a_thread_raised(directory):
    with pytest.raises(RuntimeError, match="parsing error"):
        cache.load_all([("f", text(16)), ("f", "nonsense"), ("f", text(17))])


def test_compile_all_fills_in_addresses(directory):
    kernels = [Kernel("f", text(n)) for n in (18, 19, 18)]
    before = cache.statistics()
    compile_all(kernels)
    assert since(before)[0] == 2
    assert [FUNCTION(k.address)(0) for k in kernels] == [18, 19, 18]


def run(program: str, cache_directory, **environment) -> str:
    """Run a program in another process; `rushlight` is the compiler room alone."""
    bare = f"import sys, types; r = types.ModuleType('rushlight'); r.__path__ = [{str(SOURCE / 'rushlight')!r}]\n"
    bare += "sys.modules['rushlight'] = r\nfrom rushlight.compiler import cache\n"
    environment = os.environ | {"RUSHLIGHT_CACHE": str(cache_directory)} | environment
    command = [sys.executable, "-c", bare + program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True).stdout


def test_a_second_process_does_not_even_import_llvmlite(directory):
    program = f"""
from rushlight.compiler.target import host
host().has("avx2")
cache.load("f", {text(20)!r}); cache.load("f", {text(21)!r})
print(*cache.statistics(), "llvmlite" in sys.modules, "numpy" in sys.modules)
"""
    assert run(program, directory).split() == ["2", "0", "0", "True", "False"]
    assert run(program, directory).split() == ["0", "2", "0", "False", "False"]


def test_many_processes_at_once(directory):
    program = f"""
import ctypes
for n in range(20):
    address = cache.load("f", {text(0)!r}.replace("0", str(n)))
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(1) == n + 1
print("done")
"""
    outputs = []
    threads = [threading.Thread(target=lambda: outputs.append(run(program, directory))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == ["done\n"] * 4
    assert len(kernel_files(directory)) == 20


def test_a_forked_child_does_not_write_into_the_code_of_its_parent(directory):
    program = f"""
import ctypes, os
F = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
first = cache.load("f", {text(30)!r})
child = os.fork()
if child == 0:
    second = cache.load("f", {text(31)!r})
    os._exit(0 if F(first)(0) == 30 and F(second)(0) == 31 else 1)
assert os.waitpid(child, 0)[1] == 0
third = cache.load("f", {text(32)!r})
print(F(first)(0), F(third)(0))
"""
    assert run(program, directory).split() == ["30", "32"]


RICH = """
@table = private unnamed_addr constant [4 x i64] [i64 10, i64 20, i64 30, i64 40], align 64
@functions = private unnamed_addr constant [2 x ptr] [ptr @one, ptr @two]
declare double @cbrt(double)
declare double @hypot(double, double)
define internal i64 @one(i64 %x) noinline { ret i64 1 }
define internal i64 @two(i64 %x) noinline { ret i64 2 }
define i64 @f(i64 %x) {
  %p = getelementptr i64, ptr @table, i64 %x
  %entry = load i64, ptr %p
  %bit = and i64 %x, 1
  %q = getelementptr ptr, ptr @functions, i64 %bit
  %g = load ptr, ptr %q
  %called = call i64 %g(i64 %x)
  %root = call double @cbrt(double 27.0)
  %whole = fptosi double %root to i64
  %sum = add i64 %entry, %called
  %total = add i64 %sum, %whole
  ret i64 %total
}
define i64 @length(i64 %x) {
  %side = sitofp i64 %x to double
  %root = call double @hypot(double %side, double 4.0)
  %whole = fptosi double %root to i64
  ret i64 %whole
}
"""


def test_tables_pointers_and_library_functions_are_linked(directory, monkeypatch):
    for _ in range(2):
        f, length = FUNCTION(cache.load("f", RICH)), FUNCTION(cache.load("length", RICH))
        assert [f(n) for n in range(4)] == [10 + 1 + 3, 20 + 2 + 3, 30 + 1 + 3, 40 + 2 + 3]
        assert length(3) == 5
        forget(monkeypatch)


def test_images_survive_their_form_in_files():
    image = object_file.link(machine_code.emit(RICH))
    again = object_file.Image.from_bytes(image.to_bytes())
    assert (again.code, again.symbols, again.bases, again.externals) == (
        image.code, image.symbols, image.bases, image.externals,
    )  # fmt: skip
    assert set(image.symbols) == {"f", "length"}
    assert {name for _, name in image.externals} == {"cbrt", "hypot"}


def test_writable_globals_are_left_to_llvm(directory):
    counting = "@n = internal global i64 0\ndefine i64 @f(i64 %x) {\n %v = load i64, ptr @n\n %w = add i64 %v, %x\n"
    counting += " store i64 %w, ptr @n\n ret i64 %w\n}\n"
    with pytest.raises(object_file.Unsupported):
        object_file.link(machine_code.emit(counting))
    f = FUNCTION(cache.load("f", counting))
    assert (f(2), f(3)) == (2, 5)
    with pytest.raises(KeyError):
        cache.load("g", counting)


def test_without_executable_memory_llvm_links(directory, monkeypatch):
    monkeypatch.setattr(executable_memory, "available", lambda: False)
    assert FUNCTION(cache.load("f", text(40)))(2) == 42
    forget(monkeypatch)
    before = cache.statistics()
    assert FUNCTION(cache.load("f", text(40)))(2) == 42
    assert since(before) == (0, 1, 0)


def test_code_is_never_writable_where_it_runs(directory):
    address = cache.load("f", text(41))
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(x, 16) for x in line.split()[0].split("-"))
        if begin <= address < end:
            assert line.split()[1].startswith("r-x")
            break
    else:
        pytest.fail("the code is not in the map of the process")


def test_a_missing_library_function_is_an_error(directory):
    missing = "declare void @rushlight_has_no_such_function()\n"
    missing += "define i64 @f(i64 %x) {\n call void @rushlight_has_no_such_function()\n ret i64 %x\n}\n"
    with pytest.raises(OSError, match="no function rushlight_has_no_such_function"):
        cache.load("f", missing)
