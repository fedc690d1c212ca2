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
    "backends.cuda.is_built()",
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


def test_the_usual_line_gives_the_processor():
    assert rl.device("cuda" if rl.cuda.is_available() else "cpu").type == "cpu"


@pytest.mark.parametrize("name", ["current_device", "synchronize", "get_device_name", "get_device_properties"])
def test_what_needs_a_device_says_that_there_is_none(name):
    with pytest.raises(RuntimeError, match="device 'cuda' is not available"):
        getattr(rl.cuda, name)()


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
