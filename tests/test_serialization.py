"""Saving and loading: what comes back, and that no file can do harm."""

import collections
import errno
import io
import json
import math
import os
import pickle
import subprocess
import sys
import threading
import zipfile

import pytest

import rushlight
from rushlight import load, save


def saved(value) -> bytes:
    file = io.BytesIO()
    save(value, file)
    return file.getvalue()


def loaded(content: bytes):
    return load(io.BytesIO(content))


def again(value):
    return loaded(saved(value))


def rebuilt(content: bytes, change=None, members=None, compression=zipfile.ZIP_STORED) -> bytes:
    """The archive written anew, with a changed description or other members."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    if change is not None:
        header = json.loads(parts["rushlight.json"])
        changed = change(header)
        parts["rushlight.json"] = json.dumps(header if changed is None else changed).encode()
    parts.update(members or {})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, part in parts.items():
            if part is not None:
                archive.writestr(name, part)
    return file.getvalue()


SAMPLE = {"a": rushlight.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "n": 3, "s": "text"}


# ---- what comes back --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -5, 10**40, 1.5, -0.0, math.inf, "text \u00e9\n", b"\x00\xff", 2 - 1j, (), [], {},
        {1: [2, (3,)]}, {"x": {"y": {"z": 1}}}, {1, 2}, frozenset({"a"}), {(1, 2): None}, rushlight.float16,
        rushlight.Size([2, 3]), collections.OrderedDict(b=1, a=2), collections.Counter({3: 2}), rushlight.device("cpu"),
    ],
    ids=repr,
)  # fmt: skip
def test_plain_values(value):
    result = again(value)
    assert result == value and type(result) is type(value)
    assert repr(result) == repr(value)


def test_nan():
    assert math.isnan(again([math.nan])[0])


DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64"


@pytest.mark.parametrize("name", DTYPES.split())
def test_dtypes(name):
    tensor = rushlight.tensor([[0, 1, 2], [3, 4, 5]], dtype=getattr(rushlight, name))
    result = again(tensor)
    assert result.dtype is tensor.dtype and result.tolist() == tensor.tolist()


def test_complex_tensor():
    assert again(rushlight.tensor([1 + 2j, -3j])).tolist() == [1 + 2j, -3j]


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (2, 0, 5)])
def test_small_and_empty_tensors(shape):
    result = again(rushlight.ones(shape))
    assert result.shape == shape and result.tolist() == rushlight.ones(shape).tolist()


def test_views_stay_views_and_share_again():
    base = rushlight.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    result = again({"base": base, "row": base[1], "transposed": base.t(), "wide": base[:, :1].expand(2, 4)})
    assert result["transposed"].stride() == (1, 3) and result["wide"].stride() == (3, 0)
    result["base"][1, 0] = 40.0
    assert result["row"].tolist() == [40.0, 5.0, 6.0]
    assert result["transposed"].tolist() == [[1.0, 40.0], [2.0, 5.0], [3.0, 6.0]]
    assert result["wide"].tolist() == [[1.0] * 4, [40.0] * 4]


def test_storages_are_written_once():
    large = rushlight.zeros(10000)
    assert len(saved([large, large[5:], large.view(100, 100)])) < 42000


def test_parameters_and_gradients():
    parameter = rushlight.nn.Parameter(rushlight.ones(2))
    tensor = rushlight.ones(2, requires_grad=True)
    frozen = rushlight.nn.Parameter(rushlight.ones(2), requires_grad=False)
    a, b, c, d = again([parameter, tensor, frozen, tensor * 2])
    assert type(a) is rushlight.nn.Parameter and a.requires_grad
    assert type(b) is rushlight.Tensor and b.requires_grad and b.is_leaf
    assert type(c) is rushlight.nn.Parameter and not c.requires_grad
    assert d.requires_grad and d.is_leaf


def test_state_dict_keeps_metadata():
    state = rushlight.nn.BatchNorm2d(2).state_dict()
    result = again(state)
    assert result._metadata == state._metadata
    assert rushlight.nn.BatchNorm2d(2).load_state_dict(result) == ([], [])


def test_equal_values_give_equal_files():
    assert saved(SAMPLE) == saved({"a": SAMPLE["a"].clone(), "n": 3, "s": "text"})


def test_members_are_aligned():
    content = saved([rushlight.ones(3), rushlight.ones(5)])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            name_size, extra_size = content[info.header_offset + 26], content[info.header_offset + 28]
            assert (info.header_offset + 30 + name_size + extra_size) % 64 == 0


def test_files_and_paths(tmp_path):
    path = tmp_path / "x.rl"
    for where in (path, str(path)):
        save(SAMPLE, where)
        assert load(where)["a"].tolist() == SAMPLE["a"].tolist()
    with open(path, "wb") as file:
        save([1], file)
    with open(path, "rb") as file:
        assert load(file) == [1]


def test_streams_without_seek():
    reading, writing = os.pipe()
    content = saved(SAMPLE)
    with os.fdopen(writing, "wb") as source, os.fdopen(reading, "rb") as sink:
        thread = threading.Thread(target=lambda: (source.write(content), source.close()))
        thread.start()
        assert load(sink)["n"] == 3
        thread.join()


def test_mapped_file(tmp_path):
    path = tmp_path / "x.rl"
    save(SAMPLE, path)
    result = load(path, mmap=True)
    result["a"][0, 0] = 10.0
    assert result["a"].tolist() == [[10.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert load(path)["a"][0, 0].item() == 1.0


def test_map_location():
    for place in ("cpu", rushlight.device("cpu"), {"cuda:0": "cpu"}, lambda storage, location: storage):
        assert load(io.BytesIO(saved(SAMPLE)), map_location=place)["n"] == 3
    with pytest.raises(RuntimeError, match="cuda"):
        load(io.BytesIO(saved(SAMPLE)), map_location="cuda")


# ---- what can not be saved --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": [1, object()]}, r"builtins.object at obj\['a'\]\[1\]"),
        (lambda: 0, "function at obj"),
        ({"m": rushlight.nn.Linear(1, 1)}, r"state_dict\(\)"),
        ({object: 1}, "a key of obj"),
    ],
)
def test_refused_values(value, place):
    with pytest.raises(TypeError, match=place):
        saved(value)


def test_containers_within_themselves():
    value = []
    value.append(value)
    with pytest.raises(ValueError, match="contains itself"):
        saved(value)
    deep = []
    for _ in range(1000):
        deep = [deep]
    with pytest.raises(ValueError, match="containers within each other"):
        saved(deep)


def test_numpy_scalars_are_numbers():
    numpy = pytest.importorskip("numpy")
    assert again([numpy.float64(1.5), numpy.int64(3), numpy.float32(0.5)]) == [1.5, 3, 0.5]


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int16", "uint32", "int64", "float16", ">f4", "float64", "complex64"]
)
def test_numpy_arrays(dtype):
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(12).reshape(3, 4).astype(dtype)
    for value in (array, array.T, array[::2, 1:], array[:0]):
        (result,) = again([value])
        assert type(result) is numpy.ndarray and result.dtype == value.dtype.newbyteorder("<")
        assert result.shape == value.shape and (result == value).all() and result.flags.writeable


def test_the_state_of_numpys_generator():
    numpy = pytest.importorskip("numpy")
    state = again({"numpy": numpy.random.RandomState(3).get_state()})["numpy"]
    other = numpy.random.RandomState(0)
    other.set_state(state)
    assert other.rand(4).tolist() == numpy.random.RandomState(3).rand(4).tolist()


@pytest.mark.parametrize(
    "change",
    [{"name": "object"}, {"name": ["f"]}, {"shape": [7]}, {"shape": [-2]}, {"bytes": 3}, {"shape": [2**62, 4]}],
)
def test_arrays_that_can_not_be(change):
    numpy = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match="elements are objects"):
        saved(numpy.array([{}, 3], dtype=object))
    damaged = rebuilt(saved(numpy.ones(2)), lambda header: header["value"].update(change))
    with pytest.raises(RuntimeError, match="damaged"):
        loaded(damaged)


# ---- atomic writing ---------------------------------------------------------------------------------------------


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.rl"
    save([1], path)
    with pytest.raises(TypeError):
        save([rushlight.ones(10), object()], path)
    assert load(path) == [1] and os.listdir(tmp_path) == ["x.rl"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    code = (
        "import resource, signal, rushlight\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "rushlight.save([1], 'x.rl')\n"
        "value = rushlight.ones(100000)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))\n"
        "try:\n    rushlight.save(value, 'x.rl')\n"
        "except OSError as error:\n    print(error.errno, error)\n"
        "print(rushlight.load('x.rl'))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert run.stdout.startswith(f"{errno.EFBIG} ") and "unchanged" in run.stdout and "[1]" in run.stdout, run
    assert os.listdir(tmp_path) == ["x.rl"]


def test_permissions_and_links(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    save([1], target)
    os.chmod(target, 0o600)
    link.symlink_to(target)
    save([2], link)
    assert link.is_symlink() and load(target) == [2] and target.stat().st_mode & 0o777 == 0o600


# ---- damaged and hostile files ----------------------------------------------------------------------------------


def is_refused(content: bytes) -> bool:
    """Whether loading raises RuntimeError; any other exception fails the test."""
    try:
        loaded(content)
    except RuntimeError as error:
        assert str(error).startswith("load: "), error
        return True
    return False


def test_truncated_files():
    content = saved({"a": rushlight.arange(300), "b": rushlight.ones(7)})
    for size in [*range(0, len(content), 64), len(content) - 1]:
        assert is_refused(content[:size]), size


def test_flipped_bytes():
    """Damage is noticed, or hits a byte that means nothing (a date, padding)."""
    content = saved(SAMPLE)
    noticed = 0
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0x55
        if is_refused(bytes(damaged)):
            noticed += 1
        else:
            assert loaded(bytes(damaged))["a"].tolist() == SAMPLE["a"].tolist(), position
    assert noticed > len(content) / 2


def test_garbage():
    for content in (b"", b"PK", b"\x80\x02.", b"x" * 1000, pickle.dumps([1]), b"PK\5\6" + bytes(18)):
        assert is_refused(content)


def test_compressed_members_are_refused():
    """A zip bomb is compressed."""
    assert is_refused(rebuilt(saved(SAMPLE), compression=zipfile.ZIP_DEFLATED))


@pytest.mark.parametrize("name", ["../../evil", "/etc/evil", "data/7", "data/../data/0"])
def test_strange_members_are_refused(name):
    assert is_refused(rebuilt(saved(SAMPLE), members={name: b"x"}))


def test_missing_member():
    assert is_refused(rebuilt(saved(SAMPLE), members={"data/0": None}))


def test_member_of_another_size():
    assert is_refused(rebuilt(saved(SAMPLE), members={"data/0": bytes(20)}))


def test_members_that_overlap():
    """The same bytes listed as two members."""
    content = bytearray(saved([rushlight.ones(3)]))
    start = content.index(b"PK\1\2")
    entry = bytes(content[start : content.index(b"PK\1\2", start + 4)])
    end = content.index(b"PK\5\6")
    doubled = entry.replace(b"rushlight.json", b"rushlight.jsox")
    content[end:end] = doubled
    at = end + len(doubled)
    content[at + 8 : at + 12] = (3).to_bytes(2, "little") * 2
    content[at + 12 : at + 16] = (at - start).to_bytes(4, "little")
    assert is_refused(bytes(content))


def tensor_of(header):
    return header["value"]["items"][0][1]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("shape", [2, 4]), ("shape", [2]), ("shape", [2, -3]), ("shape", [2.0, 3]), ("shape", [1 << 62, 1 << 62]),
        ("shape", [1 << 70, 0]), ("shape", [True, 3]), ("shape", "23"), ("shape", None), ("shape", [1] * 100),
        ("stride", [3]), ("stride", [-3, 1]), ("stride", [1 << 61, 1]), ("stride", [1 << 80, 1]), ("stride", [None, 1]),
        ("offset", 1), ("offset", -1), ("offset", 1 << 63), ("offset", "0"), ("offset", None), ("storage", 1),
        ("storage", -1), ("storage", "0"), ("dtype", "float128"), ("dtype", "float64"), ("dtype", None),
        ("dtype", ["float32"]), ("kind", "module"), ("kind", "_container"), ("kind", None), ("kind", ["tensor"]),
        ("kind", "dict"), ("kind", "bytes"), ("kind", "complex"), ("kind", "float"), ("kind", "device"),
    ],
)  # fmt: skip
def test_impossible_tensors(key, value):
    def change(header):
        tensor_of(header)[key] = value

    assert is_refused(rebuilt(saved(SAMPLE), change))


def test_a_huge_expanded_tensor_is_refused():
    def change(header):
        tensor_of(header).update(shape=[1 << 40, 1 << 20], stride=[0, 0])

    assert is_refused(rebuilt(saved(SAMPLE), change))


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "dict", "items": [[1]]}, {"kind": "dict", "items": [[{"kind": "list", "items": []}, 1]]},
        {"kind": "set", "items": [{"kind": "list", "items": []}]}, {"kind": "counter", "items": 5}, {}, [], [1],
        {"kind": "bytes", "base64": "!"}, {"kind": "complex", "parts": [1]}, {"kind": "size", "items": ["x"]},
    ],
    ids=str,
)  # fmt: skip
def test_impossible_values(value):
    def change(header):
        header["value"] = value

    if value == {"kind": "size", "items": ["x"]}:
        loaded(rebuilt(saved(SAMPLE), change))  # odd, but harmless
    else:
        assert is_refused(rebuilt(saved(SAMPLE), change))


def test_bottomless_descriptions():
    for depth in (500, 100_000):
        text = '{"kind":"list","items":[' * depth + "]}" * depth
        start = '{"format":"rushlight","version":1,"byteorder":"little","storages":[],"value":'
        content = rebuilt(saved([]), members={"rushlight.json": (start + text + "}").encode()})
        assert is_refused(content)


@pytest.mark.parametrize("header", [[], 5, {}, {"format": "other"}, {"format": "rushlight", "value": 1, "version": 99}])
def test_other_headers(header):
    assert is_refused(rebuilt(saved([]), lambda _: header))


# ---- PyTorch's files --------------------------------------------------------------------------------------------


def test_pytorch_state_dict():
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(4, 3)).sum().backward()
    optimizer.step()
    base = torch.arange(6.0).view(2, 3)
    value = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "view": base.t(), "base": base,
             "half": torch.ones(2).bfloat16(), "size": base.shape, "p": torch.nn.Parameter(base[0])}  # fmt: skip
    file = io.BytesIO()
    torch.save(value, file)
    result = load(io.BytesIO(file.getvalue()))
    for key, tensor in value["model"].items():
        assert result["model"][key].tolist() == tensor.tolist()
    assert result["model"]._metadata == value["model"]._metadata
    assert result["optimizer"]["state"][0]["exp_avg"].tolist() == value["optimizer"]["state"][0]["exp_avg"].tolist()
    assert result["optimizer"]["param_groups"] == value["optimizer"]["param_groups"]
    assert result["half"].dtype is rushlight.bfloat16 and result["size"] == (2, 3)
    assert type(result["p"]) is rushlight.nn.Parameter
    result["base"][0, 1] = 9.0
    assert result["view"][1, 0].item() == 9.0


class Evil:
    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    "value",
    [
        Evil(os.system, "echo evil"),
        Evil(eval, "1"),
        Evil(getattr, collections.OrderedDict, "update"),
        Evil(io.open, "evil", "w"),
        Evil(__import__, "os"),
    ],
)
def test_pytorch_files_run_nothing(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(value, 2))
        archive.writestr("archive/byteorder", "little")
    with pytest.raises(RuntimeError, match="not one of the functions"):
        loaded(file.getvalue())
    assert os.listdir(tmp_path) == []


def test_damaged_pytorch_file():
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    torch.save({"a": torch.arange(10), "b": [1, 2.5, "x"]}, file)
    content = file.getvalue()
    for size in range(0, len(content) - 1, 64):
        assert is_refused(content[:size]), size
    for position in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[position] ^= 0x55
        if not is_refused(bytes(damaged)):
            assert loaded(bytes(damaged))["a"].tolist() == list(range(10))


class Global:
    """A name in a pickle."""

    def __init__(self, module, name):
        self.text = f"{module}\n{name}\n".encode()


class Reference:
    """A storage in a pickle."""

    def __init__(self, *parts):
        self.parts = parts


class ForeignPickler(pickle._Pickler):
    def save(self, value, save_persistent_id=True):
        if isinstance(value, Global):
            self.write(pickle.GLOBAL + value.text)
        else:
            super().save(value, save_persistent_id)

    def persistent_id(self, value):
        return value.parts if isinstance(value, Reference) else None


def foreign(count=16, storage="FloatStorage", offset=0, size=(16,), stride=(1,), dtype=None, nbytes=64) -> bytes:
    """A PyTorch file of one tensor over a storage of 64 bytes."""
    content, file = io.BytesIO(), io.BytesIO()
    pickler = ForeignPickler(content, 2)
    pickler.write(pickle.PROTO + b"\x02")
    pickler.save(Global("torch._utils", "_rebuild_tensor_v2" if dtype is None else "_rebuild_tensor_v3"))
    reference = Reference("storage", Global("torch", storage), "0", "cpu", count)
    more = () if dtype is None else (Global("torch", dtype),)
    pickler.save((reference, offset, size, stride, False, None, *more))
    pickler.write(pickle.REDUCE + pickle.STOP)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x/data.pkl", content.getvalue())
        archive.writestr("x/data/0", bytes(nbytes))
    return file.getvalue()


def test_foreign_tensors_of_honest_records():
    assert loaded(foreign()).shape == (16,)
    assert loaded(foreign(offset=4, size=(3, 2), stride=(4, 1))).stride() == (4, 1)
    assert loaded(foreign(8, "DoubleStorage", size=(8,))).dtype is rushlight.float64
    assert loaded(foreign(64, "UntypedStorage", dtype="float32")).dtype is rushlight.float32
    assert loaded(foreign(nbytes=66)).shape == (16,)  # memory that is no whole number of elements


@pytest.mark.parametrize(
    "lie",
    [
        {"count": -16}, {"count": 15}, {"count": 0}, {"count": 17}, {"count": 16.0}, {"count": True}, {"count": None},
        {"storage": "DoubleStorage"}, {"storage": "HalfStorage"}, {"dtype": "float64", "size": (8,)},
        {"nbytes": 68}, {"nbytes": 60}, {"offset": -1}, {"offset": 1}, {"offset": 1 << 62}, {"offset": 0.0},
        {"size": (-16,), "stride": (-1,)}, {"stride": (-1,)}, {"stride": (2,)}, {"size": (17,)}, {"size": (16, 1)},
        {"size": (1 << 62, 0)}, {"size": [16]}, {"size": (16.0,)},
        {"count": 64, "storage": "UntypedStorage", "dtype": "float64"},
    ],
    ids=str,
)  # fmt: skip
def test_foreign_tensors_of_records_that_lie(lie):
    with pytest.raises(RuntimeError, match="is damaged, or not what it claims"):
        loaded(foreign(**lie))
