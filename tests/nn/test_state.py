"""`state_dict` and `load_state_dict`: what is saved, what does not fit, and the hooks."""

from collections import OrderedDict

import pytest

import rushlight
from rushlight import nn


def make():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))


def test_values_share_memory_and_are_detached():
    net = make()
    state = net.state_dict()
    assert not state["0.weight"].requires_grad and net.state_dict(keep_vars=True)["0.weight"] is net[0].weight
    state["0.weight"].fill_(7.0)
    assert net[0].weight[0, 0].item() == 7.0


def test_prefix_destination_and_metadata():
    destination = OrderedDict(other=1)
    state = make().state_dict(destination=destination, prefix="net.")
    assert state is destination and list(state)[:2] == ["other", "net.0.weight"]
    assert make().state_dict()._metadata == {"": {"version": 1}, "0": {"version": 1}, "1": {"version": 2}}


def test_a_round_trip():
    a, b = make(), make()
    a(rushlight.randn(5, 2))
    result = b.load_state_dict(a.state_dict())
    assert repr(result) == "<All keys matched successfully>" and result == ([], [])
    for key, value in a.state_dict().items():
        assert b.state_dict()[key].tolist() == value.tolist()


def test_missing_and_unexpected_keys():
    net, state = make(), make().state_dict()
    del state["0.bias"]
    state["0.extra"] = state["7.x"] = rushlight.ones(1)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    text = str(caught.value)
    assert "Error(s) in loading state_dict for Sequential" in text
    missing, unexpected = 'Missing key(s) in state_dict: "0.bias"', 'Unexpected key(s) in state_dict: "7.x", "0.extra"'
    assert -1 < text.find(missing) < text.find(unexpected)
    result = net.load_state_dict(state, strict=False)
    assert repr(result) == "_IncompatibleKeys(missing_keys=['0.bias'], unexpected_keys=['7.x', '0.extra'])"
    assert result.missing_keys == ["0.bias"] and result.unexpected_keys == ["7.x", "0.extra"]


def test_sizes_that_do_not_fit_are_errors_always():
    net, state = make(), make().state_dict()
    state["0.weight"] = rushlight.ones(3, 3)
    for strict in (True, False):
        with pytest.raises(
            RuntimeError, match=r"size mismatch for 0\.weight: copying a param with shape .*3, 3.* from"
        ):
            net.load_state_dict(state, strict=strict)


def test_values_that_are_no_tensors():
    net, state = make(), make().state_dict()
    state["0.weight"] = [1.0]
    with pytest.raises(RuntimeError, match="Tensor-like object from checkpoint"):
        net.load_state_dict(state)
    with pytest.raises(TypeError, match="dict-like"):
        net.load_state_dict([1])


def test_other_dtypes_are_cast():
    net, state = make(), {k: v.double() if v.is_floating_point() else v for k, v in make().state_dict().items()}
    net.load_state_dict(state)
    assert net[0].weight.dtype is rushlight.float32


def test_assign_takes_the_tensors_themselves():
    net, state = make(), make().double().state_dict()
    net.load_state_dict(state, assign=True)
    assert net[0].weight.dtype is rushlight.float64 and isinstance(net[0].weight, nn.Parameter)
    assert net[0].weight.data_ptr() == state["0.weight"].data_ptr() and net[0].weight.requires_grad


def test_loading_does_not_disturb_autograd():
    net = make()
    loss = net(rushlight.randn(4, 2)).sum()
    net.zero_grad()
    net.load_state_dict(make().state_dict())
    assert net[0].weight.is_leaf and net[0].weight.requires_grad
    del loss


def test_batch_counts_of_old_files():
    state = nn.BatchNorm1d(3).state_dict()
    del state["num_batches_tracked"]
    state._metadata[""]["version"] = 1
    net = nn.BatchNorm1d(3)
    net.num_batches_tracked.fill_(5)
    assert net.load_state_dict(state) == ([], [])


def test_scalars_saved_as_vectors():
    class Scalar(nn.Module):
        def __init__(self):
            super().__init__()
            self.value = nn.Parameter(rushlight.tensor(1.0))

    net = Scalar()
    net.load_state_dict({"value": rushlight.tensor([3.0])})
    assert net.value.item() == 3.0


def test_extra_state():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 0

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    a, b = nn.Sequential(Counting()), nn.Sequential(Counting())
    a[0].count = 4
    state = a.state_dict()
    assert list(state) == ["0._extra_state"]
    b.load_state_dict(state)
    assert b[0].count == 4
    assert b.load_state_dict({}, strict=False).missing_keys == ["0._extra_state"]
    assert nn.Sequential(nn.ReLU()).load_state_dict(state, strict=False).unexpected_keys == ["0._extra_state"]


def test_hooks():
    net, seen = make(), []
    net.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append("pre"))
    net[0].register_state_dict_post_hook(lambda module, state, prefix, metadata: state.pop(prefix + "bias"))

    def before(module, state, prefix, metadata, strict, missing, unexpected, errors):
        assert module is net[0]
        state[prefix + "bias"] = rushlight.full((3,), 2.0)

    handle = net[0].register_load_state_dict_pre_hook(before)
    net.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    state = net.state_dict()
    assert seen == ["pre"] and "0.bias" not in state
    del state["1.weight"]
    net.load_state_dict(state)
    assert net[0].bias.tolist() == [2.0] * 3
    handle.remove()
    with rushlight.no_grad():
        net[0].bias.zero_()
    net.load_state_dict(state)
    assert net[0].bias.tolist() == [0.0] * 3


def test_a_class_may_load_in_its_own_way():
    class Renamed(nn.Linear):
        def _load_from_state_dict(self, state_dict, prefix, *rest):
            state_dict[prefix + "weight"] = state_dict.pop(prefix + "old")
            super()._load_from_state_dict(state_dict, prefix, *rest)

    net = nn.Sequential(Renamed(1, 1, bias=False))
    net.load_state_dict({"0.old": rushlight.tensor([[3.0]])})
    assert net[0].weight.item() == 3.0
