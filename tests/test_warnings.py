"""What warns as in PyTorch, always naming the line that the user wrote; and what must not."""

import re
import warnings

import pytest

import rushlight as rl
from rushlight import nn

F = nn.functional
ones = rl.ones


def complex_numbers(n):
    """Numbers of a shape that no other test converts: a warning comes with a new kind of call."""
    return rl.complex(ones(3, n), ones(3, n))


def optimizer():
    return rl.optim.SGD([ones(2, requires_grad=True)], 0.1)


def stepped(epoch=None):
    made = optimizer()
    schedule = rl.optim.lr_scheduler.StepLR(made, 1)
    made.step()
    schedule.step(epoch)
    return schedule


def hooked():
    layer = nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda *_: None)
    layer(ones(1, 2)).sum().backward()


A = rl.eye(3) * 2
LOST = "Casting complex values to real discards the imaginary part"
CASES = {
    "to": (lambda: complex_numbers(11).to(rl.float32), LOST),
    "float": (lambda: complex_numbers(12).float(), LOST),
    "int": (lambda: complex_numbers(13).int(), LOST),
    "type_as": (lambda: complex_numbers(14).type_as(ones(1)), LOST),
    "copy_": (lambda: ones(3, 15).copy_(complex_numbers(15)), LOST),
    "x[i] = v": (lambda: ones(3, 16).__setitem__(slice(None), complex_numbers(16)), LOST),
    "cholesky": (lambda: rl.cholesky(A), "cholesky is deprecated in favor of .*linalg.cholesky"),
    "Tensor.cholesky": (lambda: A.cholesky(), "cholesky is deprecated"),
    "lu": (lambda: rl.lu(A), "lu is deprecated in favor of .*linalg.lu_factor"),
    "lu_solve": (lambda: rl.lu_solve(ones(3, 1), *rl.linalg.lu_factor(A)), "lu_solve is deprecated"),
    "qr": (lambda: rl.qr(A), "qr is deprecated in favor of .*linalg.qr"),
    "triangular_solve": (lambda: rl.triangular_solve(ones(3, 1), A), "in favor of .*linalg.solve_triangular"),
    "chain_matmul": (lambda: rl.chain_matmul(A, A), "chain_matmul is deprecated in favor of .*linalg.multi_dot"),
    "meshgrid": (lambda: rl.meshgrid(ones(2), ones(2)), "required to pass the indexing argument"),
    "stft": (lambda: rl.stft(ones(20), 8, return_complex=True), "A window was not provided"),
    "stft of pairs": (lambda: rl.stft(ones(20), 8, window=ones(8), return_complex=False), "return_complex=False is"),
    "T": (lambda: ones(2, 3, 4).T, r"`x\.T` on tensors of dimension other than 2"),
    "where": (lambda: rl.where(ones(17, dtype=rl.uint8), ones(17), 0.0), "where received a uint8 condition"),
    "std": (lambda: ones(1, 18).std(0), r"std\(\): degrees of freedom is <= 0"),
    "var of one": (lambda: ones(1).var(), r"var\(\): degrees of freedom is <= 0"),
    "cross": (lambda: rl.cross(ones(3), ones(3)), "cross without specifying the dim arg"),
    "scatter": (
        lambda: ones(2).scatter(0, rl.tensor([0]), ones(1), reduce="add"),
        "reduce argument of scatter with Tensor src",
    ),
    "kl_div": (lambda: F.kl_div(ones(2), ones(2)), "'mean' divides the total loss by both"),
    "KLDivLoss": (lambda: nn.KLDivLoss()(ones(2), ones(2)), "'mean' divides the total loss by both"),
    "size_average": (lambda: F.mse_loss(ones(2), ones(2), size_average=False), "use reduction='sum'"),
    "reduce": (lambda: nn.L1Loss(reduce=False), "use reduction='none'"),
    "upsample": (lambda: F.upsample(ones(1, 1, 2), 2), "`nn.functional.upsample` is deprecated"),
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(3)(ones(2, 4, 3)), "does not match num_features"),
    "attention masks": (
        lambda: nn.MultiheadAttention(4, 2)(
            *[ones(2, 1, 4)] * 3, key_padding_mask=rl.zeros(1, 2) > 1, attn_mask=rl.zeros(2, 2)
        ),
        "mismatched key_padding_mask and attn_mask",
    ),
    "hooks without gradients": (hooked, "Full backward hook is firing"),
    "nothing to fill": (lambda: nn.Linear(0, 3), "zero-element tensors"),
    "complex modules": (lambda: nn.Linear(2, 2).to(rl.complex64), "Complex modules are a new feature"),
    "checkpoint": (
        lambda: rl.utils.checkpoint.checkpoint(lambda x: x, ones(2), use_reentrant=True),
        "None of the inputs have requires_grad=True",
    ),
    "checkpoint_sequential": (
        lambda: rl.utils.checkpoint.checkpoint_sequential([rl.exp], 1, ones(2)),
        "use_reentrant parameter should be passed",
    ),
    "schedule first": (lambda: rl.optim.lr_scheduler.StepLR(optimizer(), 1).step(), r"before `optimizer.step\(\)`"),
    "schedule of an epoch": (lambda: stepped(3), "The epoch parameter in"),
    "schedule's rate": (lambda: stepped().get_lr(), "please use `get_last_lr"),
    "plateau": (lambda: rl.optim.lr_scheduler.ReduceLROnPlateau(optimizer()).step(1.0, 2), "The epoch parameter in"),
    "workers": (lambda: rl.utils.data.DataLoader([1], num_workers=5000), "5000 worker processes"),
    "default type": (lambda: rl.set_default_tensor_type(rl.FloatTensor), "set_default_tensor_type.* is deprecated"),
}


@pytest.mark.parametrize("name", CASES)
def test_warns_of_the_users_line(name):
    call, message = CASES[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    found = [w for w in caught if issubclass(w.category, UserWarning)]
    assert len(found) == 1 and found[0].filename == __file__, [str(w.message) for w in found]
    assert re.search(message, str(found[0].message))


def test_former_names_of_mixed_precision_warn():
    for make in (rl.cuda.amp.GradScaler, rl.cuda.amp.autocast):
        with pytest.warns(FutureWarning, match="cuda.amp"):
            make(enabled=False)


QUIET = {
    "truth": lambda: complex_numbers(21).bool(),
    "parts": lambda: complex_numbers(22).real + complex_numbers(22).imag,
    "wider": lambda: complex_numbers(23).to(rl.complex128),
    "gradient of a cast": lambda: ones(3, 24, requires_grad=True).to(rl.complex64).abs().sum().backward(),
    "gradient of a product": lambda: (ones(3, 25, requires_grad=True) * complex_numbers(25)).abs().sum().backward(),
    "T": lambda: (ones(2, 3).T, ones(()).T, ones(2, 3).mT),
    "std": lambda: (ones(2).std(), ones(1).std(correction=0), ones(4, 1).var(0), ones(0, 3).var(1)),
    "combinations": lambda: (rl.cartesian_prod(ones(2), ones(3)), rl.combinations(ones(3))),
    "kl_div": lambda: F.kl_div(ones(2), ones(2), reduction="batchmean"),
    "schedules": lambda: (stepped(), rl.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer(), 2).step(0.5)),
    "linalg": lambda: (rl.linalg.cholesky(A), rl.linalg.qr(A), rl.linalg.lu_factor(A)),
    "interpolate": lambda: nn.Upsample(scale_factor=2)(ones(1, 1, 2)),
    "hooks": lambda: nn.Linear(2, 2)(ones(1, 2)).sum().backward(),
}


@pytest.mark.parametrize("name", QUIET)
def test_does_not_warn(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QUIET[name]()
