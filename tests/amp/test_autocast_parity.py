"""Autocast against PyTorch: result types of functions that it prepares, and of layers built of them."""

import pytest

import rushlight as rl

torch = pytest.importorskip("torch")

CASES = {
    "mm": lambda t, x: t.mm(x, x),
    "mixed": lambda t, x: x @ t.ones(3, 3),
    "vector": lambda t, x: x[0] @ x[0],
    "dot": lambda t, x: t.dot(x[0], x[0]),
    "inner": lambda t, x: t.inner(x, x),
    "outer": lambda t, x: t.outer(x[0], x[0]),
    "addmm": lambda t, x: t.addmm(x, x, x),
    "addmv": lambda t, x: t.addmv(x[0], x, x[0]),
    "multi_dot": lambda t, x: t.linalg.multi_dot([x, x, x]),
    "matrix_power": lambda t, x: t.linalg.matrix_power(x, 3),
    "einsum trace": lambda t, x: t.einsum("ii->", x),
    "einsum implicit": lambda t, x: t.einsum("ij,jk", x, x),
    "prelu": lambda t, x: t.nn.functional.prelu(x, x[0, :1]),
    "cumsum": lambda t, x: x.cumsum(0),
    "norm": lambda t, x: x.norm(),
    "quantile": lambda t, x: t.quantile(x, 0.5),
    "trace": lambda t, x: t.trace(x),
    "polar": lambda t, x: t.polar(x, x).real,
    "index_copy": lambda t, x: x.index_copy(0, t.tensor([0]), t.ones(1, 3)),
    "hstack": lambda t, x: t.hstack([x, t.ones(3, 3)]),
    "bce": lambda t, x: t.nn.functional.binary_cross_entropy(x.sigmoid(), x.sigmoid()),
    "gaussian_nll": lambda t, x: t.nn.functional.gaussian_nll_loss(x, x, x + 2),
    "soft_margin": lambda t, x: t.nn.functional.multilabel_soft_margin_loss(x, x),
    "replicate": lambda t, x: t.nn.functional.pad(x[None], (1, 1), mode="replicate"),
    "circular": lambda t, x: t.nn.functional.pad(x[None], (1, 1), mode="circular"),
    "interpolate": lambda t, x: t.nn.functional.interpolate(x[None, None], scale_factor=2, mode="bilinear"),
    "grid_sample": lambda t, x: t.nn.functional.grid_sample(x[None, None], t.zeros(1, 2, 2, 2, dtype=x.dtype)),
    "GRU": lambda t, x: t.nn.GRU(3, 2).to(x.dtype)(x)[0],
    "LSTM cell state": lambda t, x: t.nn.LSTM(3, 2).to(x.dtype)(x)[1][1],
    "LSTMCell": lambda t, x: t.nn.LSTMCell(3, 2).to(x.dtype)(x)[1],
    "MultiheadAttention": lambda t, x: t.nn.MultiheadAttention(3, 1).to(x.dtype)(x, x, x)[0],
    "encoder layer": lambda t, x: t.nn.TransformerEncoderLayer(3, 1, 4).to(x.dtype)(x[:, None]),
    "encoder layer, eval": lambda t, x: t.nn.TransformerEncoderLayer(3, 1, 4).eval().to(x.dtype)(x[:, None]),
}


@pytest.mark.parametrize("given", ["float32", "bfloat16", "float16", "float64"])
@pytest.mark.filterwarnings("ignore")
def test_result_types(given):
    wrong = []
    for name, call in CASES.items():
        found = []
        for lib in (rl, torch):
            x = lib.eye(3, dtype=getattr(lib, given)) * 0.5
            try:
                with lib.autocast("cpu"):
                    found.append(str(call(lib, x).dtype).rpartition(".")[2])
            except (RuntimeError, ValueError) as error:
                found.append(error)
        if isinstance(found[1], str) and found[0] != found[1]:  # what PyTorch refuses may work here
            wrong.append((name, *found))
    assert not wrong


def trained(lib):
    lib.manual_seed(0)
    nn = lib.nn
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 8), nn.LayerNorm(8), nn.Linear(8, 3)
    )
    optimizer, x = lib.optim.SGD(model.parameters(), lr=0.02), lib.rand(8, 1, 6, 6)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        with lib.autocast("cpu", dtype=lib.bfloat16):
            loss = nn.functional.cross_entropy(model(x), lib.arange(8) % 3)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_losses_agree_to_the_noise_of_bfloat16():
    assert trained(rl) == pytest.approx(trained(torch), rel=5e-2)
