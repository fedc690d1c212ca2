"""The ten-second gate: a tensor, a product, a model, a backward pass, a step, a save and a load."""

import rushlight as rl


def test_tensor_and_product():
    a = rl.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert (a @ a).tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert (a + 1).sum().item() == 14.0


def test_backward():
    x = rl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_model_trains():
    rl.manual_seed(0)
    model = rl.nn.Sequential(rl.nn.Linear(2, 16), rl.nn.ReLU(), rl.nn.Linear(16, 1))
    optimizer = rl.optim.Adam(model.parameters(), lr=0.05)
    x = rl.randn(64, 2)
    y = x[:, :1] * x[:, 1:]
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = rl.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 4


def test_save_and_load(tmp_path):
    model = rl.nn.Linear(3, 2)
    path = tmp_path / "model.pt"
    rl.save(model.state_dict(), path)
    other = rl.nn.Linear(3, 2)
    other.load_state_dict(rl.load(path))
    assert other.weight.tolist() == model.weight.tolist() and other.bias.tolist() == model.bias.tolist()
