"""What we know of the processor, with and without LLVM."""

from pathlib import Path

import pytest

from rushlight.compiler import disk, target


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RUSHLIGHT_ISA", raising=False)
    target.host.cache_clear()
    yield
    target.host.cache_clear()


FEATURES = "amx-tile,avx,avx2,avx512bw,avx512dq,avx512f,avx512vl,f16c,fma,sse2"
ASKED = ("1.0 20.0", "x86_64-unknown-linux-gnu", "znver4", FEATURES)


def test_llvm_is_asked_once_for_all_processes(monkeypatch):
    calls = []
    monkeypatch.setattr(target, "_ask", lambda: calls.append(1) or ASKED)
    first = target.host()
    target.host.cache_clear()  # as in a second process
    assert target.host() == first and len(calls) == 1
    assert (first.cpu, first.vector_bytes, first.registers, first.compiler) == ("znver4", 64, 32, "1.0 20.0")
    assert first.has("avx512f") and not first.has("avx512")


def test_another_processor_or_installation_is_asked_again(monkeypatch):
    monkeypatch.setattr(target, "_ask", lambda: ASKED)
    names = {target._fingerprint()}
    monkeypatch.setattr(target, "_processor_lines", lambda: ["model name : other"])
    names.add(target._fingerprint())
    monkeypatch.setattr(target, "_llvmlite_files", lambda: ["elsewhere"])
    names.add(target._fingerprint())
    assert len(names) == 3


def test_the_fingerprint_does_not_vary_with_the_clock():
    lines = target._processor_lines()
    assert lines and not any(line.startswith(("cpu MHz", "bogomips", "processor")) for line in lines)
    assert target._fingerprint() == target._fingerprint()


def test_levels(monkeypatch):
    monkeypatch.setattr(target, "_ask", lambda: ASKED)
    expected = {
        "avx512": ("znver4", 64, True, True),
        "avx2": ("haswell", 32, False, True),
        "sse2": ("x86-64", 16, False, False),
    }
    for level, (cpu, width, wide, fused) in expected.items():
        monkeypatch.setenv("RUSHLIGHT_ISA", level)
        target.host.cache_clear()
        host = target.host()
        assert (host.cpu, host.vector_bytes, host.has("avx512f"), host.has("fma")) == (cpu, width, wide, fused)
        assert host.has("amx-tile") == wide and host.has("avx") == fused and host.has("sse2")
    monkeypatch.setenv("RUSHLIGHT_ISA", "mmx")
    target.host.cache_clear()
    with pytest.raises(ValueError, match="expected one of avx512, avx2, sse2"):
        target.host()


def test_a_level_above_the_processor_is_the_processor(monkeypatch):
    monkeypatch.setattr(target, "_ask", lambda: (*ASKED[:3], "sse2,avx,avx2,fma"))
    monkeypatch.setenv("RUSHLIGHT_ISA", "avx512")
    assert target.host().vector_bytes == 32


def test_a_damaged_record_is_asked_for_again(monkeypatch):
    monkeypatch.setattr(target, "_ask", lambda: ASKED)
    target.host()
    (record,) = Path(disk.location()).iterdir()
    record.write_bytes(record.read_bytes()[:-3])
    target.host.cache_clear()
    assert target.host().cpu == "znver4"


def test_lanes():
    assert target.Target("", "", "", 64, 32).lanes(4) == 16
