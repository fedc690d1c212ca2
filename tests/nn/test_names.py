"""Modules and helpers of old, by their names."""

import importlib
import subprocess
import sys

import pytest

import rushlight as rl
from rushlight import nn
from rushlight.nn import functional as F


@pytest.mark.parametrize("size", [1, 3, 4, 5])
def test_normalisation_across_maps(size):
    x = rl.rand(2, 9, 3, 4)
    reach = (size - 1) // 2
    squares = rl.stack([(x[:, max(0, c - reach) : c + reach + 1] ** 2).sum(1) for c in range(9)], 1)
    expected = x / (2 + 0.1 / size * squares) ** 0.75
    assert rl.allclose(nn.CrossMapLRN2d(size, 0.1, 0.75, 2)(x), expected)
    assert repr(nn.CrossMapLRN2d(3)) == "CrossMapLRN2d(3, alpha=0.0001, beta=0.75, k=1)"
    with pytest.raises(ValueError, match="4D"):
        nn.CrossMapLRN2d(3)(rl.ones(3, 3))


def test_deprecated():
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        loss = nn.NLLLoss2d(ignore_index=3)
    assert loss.ignore_index == 3
    with pytest.warns(FutureWarning, match="Container"):
        held = nn.Container(a=nn.Linear(1, 2))
    assert [name for name, _ in held.named_children()] == ["a"]


def test_factory_kwargs():
    assert nn.factory_kwargs(None) == {}
    assert nn.factory_kwargs({"device": 1, "factory_kwargs": {"dtype": 2}}) == {"device": 1, "dtype": 2}
    for wrong in ({"x": 1}, {"factory_kwargs": {"x": 1}}, {"dtype": 1, "factory_kwargs": {"dtype": 2}}):
        with pytest.raises(TypeError):
            nn.factory_kwargs(wrong)


def test_pairs():
    F.assert_int_or_pair(3, "a", "{}")
    F.assert_int_or_pair((1, 2), "a", "{}")
    with pytest.raises(AssertionError, match="a is wrong"):
        F.assert_int_or_pair((1, 2, 3), "a", "{} is wrong")
    assert nn.common_types._size_2_t == int | tuple[int, int]


def test_arguments_by_place_and_former_names():
    assert nn.LazyConv2d(8, 3, 2, 1, 1, 1, False, "reflect").bias is None
    lazy = nn.LazyConvTranspose1d(8, 3, 2, 1, 1, 2, True, 2)
    assert lazy(rl.ones(1, 4, 5)).shape == nn.ConvTranspose1d(4, 8, 3, 2, 1, 1, 2, True, 2)(rl.ones(1, 4, 5)).shape
    assert lazy.bias.shape == (8,) and lazy.dilation == (2,)
    with pytest.warns(FutureWarning, match="min_value"):
        limited = nn.Hardtanh(min_value=-3.0)
    assert (limited.min_val, limited.max_val) == (-3.0, 1.0)


def test_linear_cross_entropy_loss():
    rl.manual_seed(0)
    loss = nn.LinearCrossEntropyLoss(4, 3, out_features=(2,), bias=True, options=nn.LinearCrossEntropyOptions())
    x, target = rl.rand(5, 4), rl.arange(10).reshape(5, 2) % 3
    expected = F.cross_entropy(loss.linear(x).reshape(5, 3, 2), target)
    assert rl.allclose(loss(x, target), expected) and list(loss.state_dict()) == ["linear.weight", "linear.bias"]
    assert repr(nn.LinearCrossEntropyLoss(4, 3)).startswith(
        "LinearCrossEntropyLoss(\n  in_features=4, num_classes=3, out_features=(), bias=False, reduction=mean, "
    )
    with pytest.raises(ValueError, match="acc_policy"):
        nn.LinearCrossEntropyOptions(acc_policy="x")


def test_data_parallel_is_the_module_itself():
    layer = nn.Linear(2, 1)
    net = nn.DataParallel(layer, device_ids=[0, 1])
    assert rl.equal(net(rl.ones(3, 2)), layer(rl.ones(3, 2))) and net.device_ids == []
    assert rl.equal(nn.parallel.data_parallel(layer, rl.ones(3, 2)), layer(rl.ones(3, 2)))
    for call in (nn.parallel.gather, nn.parallel.scatter, nn.parallel.replicate, nn.parallel.parallel_apply):
        with pytest.raises(RuntimeError, match="no devices to share work"):
            call([layer], [0])
    with pytest.raises(RuntimeError, match="not supported yet"):
        nn.parallel.DistributedDataParallel(layer)


PATHS = """
    nn.modules.conv:_ConvNd nn.modules.batchnorm:_BatchNorm nn.modules.utils:_pair nn.modules.loss:CrossEntropyLoss
    nn.modules.container:ModuleList nn.modules.activation:MultiheadAttention nn.modules.module:_IncompatibleKeys
    nn.modules:Linear nn.parallel.distributed:DistributedDataParallel nn.parallel.scatter_gather:gather
    nn.utils.weight_norm:WeightNorm nn.utils.spectral_norm:SpectralNorm optim.adamw:AdamW optim.sgd:SGD
    optim.optimizer:Optimizer optim.lr_scheduler:_LRScheduler utils.data.dataset:TensorDataset
    utils.data.dataloader:DataLoader utils.data.sampler:Sampler utils.data.distributed:DistributedSampler
    utils.data._utils.collate:default_collate cuda.amp:GradScaler cuda.amp.autocast_mode:autocast
    amp.grad_scaler:GradScaler cpu.amp:autocast autograd.graph:save_on_cpu autograd.function:InplaceFunction
""".split()  # noqa: SIM905


def test_import_paths():
    """In a new process, so that none is there because another test has come by."""
    lines = [f"from torch.{path.replace(':', ' import ')}" for path in PATHS]
    lines += ["from torch.nn.modules.linear import *", "assert Linear", "import torch.cuda.amp as amp, torch.nn as nn"]
    lines += ["from torch.nn.modules import batchnorm", "assert issubclass(nn.BatchNorm2d, batchnorm._BatchNorm)"]
    code = "from rushlight.interop.as_torch import install; install()\n" + "\n".join(lines)
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stderr
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("rushlight.nn.modules.nothing")
    with pytest.raises(AttributeError, match="nothing"):
        nn.modules.nothing


def test_prefixes_of_states():
    state = nn.DataParallel(nn.Linear(1, 1)).state_dict()
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["weight", "bias"]
    assert nn.Linear(1, 1).load_state_dict(state).missing_keys == []
