"""Programs ask for devices that are not there, and get the answers that PyTorch gives on a machine without them."""

import pytest

import rushlight as rl

QUESTIONS = [
    "cuda.is_available()",
    "cuda.device_count()",
    "cuda.is_initialized()",
    "cuda.is_bf16_supported()",
    "cuda.manual_seed(1)",
    "cuda.manual_seed_all(1)",
    "cuda.empty_cache()",
    "cuda.memory_allocated()",
    "cuda.max_memory_allocated()",
    "cuda.memory_reserved()",
    "accelerator.is_available()",
    "accelerator.current_accelerator()",
    "accelerator.device_count()",
    "backends.cudnn.enabled",
    "backends.cudnn.benchmark",
    "backends.cudnn.deterministic",
    "backends.cudnn.is_available()",
    "backends.cudnn.version()",
    "backends.cudnn.is_acceptable(module.ones(1))",
    "backends.cudnn.allow_tf32",
    "backends.cuda.is_built()",
    "backends.cuda.flash_sdp_enabled()",
    "backends.cuda.math_sdp_enabled()",
    "backends.mkldnn.enabled",
    "backends.mkldnn.deterministic",
    "backends.mha.get_fastpath_enabled()",
    "backends.quantized.engine",
    "backends.cpu.get_cpu_capability()",
    "backends.cuda.matmul.allow_tf32",
    "backends.mps.is_available()",
    "backends.mps.is_built()",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_answer(question):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available() or torch.accelerator.is_available():
        pytest.skip("this machine has devices")
    assert eval(f"module.{question}", {"module": rl}) == eval(f"module.{question}", {"module": torch})


@pytest.mark.parametrize("library", ["mkl", "mkldnn", "openmp", "nnpack", "opt_einsum", "cudnn", "mps"])
def test_libraries_that_are_not_in_use(library):
    assert getattr(rl.backends, library).is_available() is False


def test_settings_hold_within_a_with():
    cudnn, mkldnn, cuda = rl.backends.cudnn, rl.backends.mkldnn, rl.backends.cuda
    with cudnn.flags(enabled=False, benchmark=True), mkldnn.flags(enabled=False), cuda.sdp_kernel(enable_flash=False):
        assert (cudnn.enabled, cudnn.benchmark, mkldnn.enabled) == (False, True, False)
        assert not cuda.flash_sdp_enabled() and cuda.math_sdp_enabled()
    assert (cudnn.enabled, cudnn.benchmark, mkldnn.enabled, cuda.flash_sdp_enabled()) == (True, False, True, True)
    assert cudnn.set_flags(_deterministic=True)[3] is False and cudnn.deterministic
    cudnn.set_flags(_deterministic=False)
    with rl.backends.mkl.verbose(rl.backends.mkl.VERBOSE_ON), mkldnn.verbose(mkldnn.VERBOSE_ON):
        assert rl.ones(2).sum() == 2


def test_quantized_engines():
    quantized = rl.backends.quantized
    assert {"fbgemm", "qnnpack"} <= set(quantized.supported_engines)
    quantized.engine = "fbgemm"
    assert quantized.engine == "fbgemm"
    with pytest.raises(RuntimeError, match="foo is not a valid value for quantized engine"):
        quantized.engine = "foo"
    quantized.engine = "x86"


def test_the_usual_line_gives_the_processor():
    assert rl.device("cuda" if rl.cuda.is_available() else "cpu").type == "cpu"


@pytest.mark.parametrize("name", ["current_device", "synchronize", "get_device_name", "get_device_properties"])
def test_what_needs_a_device_says_that_there_is_none(name):
    with pytest.raises(RuntimeError, match="device 'cuda' is not available"):
        getattr(rl.cuda, name)()


DEVICES = """
T.device("cuda"), T.device("cuda", 1), T.device("cuda:0"), T.device("cpu:1"), T.device("meta"), T.device("mps")
T.device("cpu", -1)
T.device("cuda:-1")
T.device("cuda:01")
T.device("cuda:x")
T.device("foo")
T.device("")
T.device(0)
T.device(-1)
T.device(1.5)
T.device(None)
T.device(T.device("cuda"), 1)
T.device("cuda", "1")
T.device("cuda", True)
T.device(type="cuda:1", index=2)
T.device(type="cuda", index=2).index, T.device("xpu").type, str(T.device("cuda", 1)), repr(T.device("cuda"))
T.device("cuda") == T.device("cuda:0"), T.device("cuda:1") == T.device("cuda", 1), T.device("cuda") == "cuda"
hash(T.device("cuda:1")) == hash(T.device("cuda", 1)), len({T.device("cuda"), T.device("cuda"), T.device("cpu")})
T.zeros(3, device="cuda")
T.zeros(3, device="mps")
T.zeros(3, device="foo")
T.zeros(3, device=0)
T.zeros(3, device="cpu:1").device
T.ones(3).to("cuda")
T.ones(3).to(T.device("cuda:1"))
T.ones(3).to(0)
T.ones(3).cuda()
T.ones(3).xpu()
T.tensor([1.0], device="cuda")
T.empty_like(T.ones(2), device="cuda")
T.nn.Linear(2, 2).cuda()
T.get_default_device()
"""


@pytest.mark.parametrize("expression", DEVICES.strip().split("\n"))
def test_devices_are_values_until_something_is_made_on_them(expression):
    from ops.parity import agree

    agree(expression)


def test_the_error_names_the_way_out():
    with pytest.raises(NotImplementedError, match=r"'cuda' is not available.*pass device='cpu'"):
        rl.zeros(3, device="cuda")


def test_default_device():
    with rl.device("cpu"):
        assert rl.ones(2).device == rl.get_default_device() == rl.device("cpu")
    x = rl.ones(2)
    with rl.device("cuda"), rl.device("cuda"):
        assert rl.get_default_device() == rl.device("cuda")
        for make in (lambda: rl.zeros(2), lambda: rl.tensor(1), lambda: rl.arange(2), lambda: rl.rand(2)):
            with pytest.raises(RuntimeError, match="'cuda' is not available"):
                make()
        assert (rl.zeros_like(x) + x.new_ones(2)).device == rl.zeros(1, device="cpu").device
    rl.set_default_device("cuda:1")
    try:
        with pytest.raises(AssertionError, match="cuda:1"):
            rl.empty(1)
    finally:
        rl.set_default_device(None)
    assert rl.empty(1).device.type == "cpu"


def test_compile_gives_back_what_it_is_given():
    model = rl.nn.Linear(2, 2)
    with pytest.warns(UserWarning, match="whole functions are not compiled"):
        assert rl.compile(model, mode="max-autotune") is model
    assert rl.compile(model, disable=True) is model
    with pytest.warns(UserWarning, match="whole functions are not compiled"):

        @rl.compile(fullgraph=True)
        def double(x):
            return x * 2

    assert double(rl.ones(1)).item() == 2
    with pytest.raises(TypeError, match="compile: expected a function or a module, got int"):
        rl.compile(3)
