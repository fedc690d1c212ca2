"""Common calls on 8x8 tensors, and batches of samples, where nearly all the time is overhead."""

from __future__ import annotations

from .registry import normal, workload

FLOOR, AIM = 1, 3


def x_of(T):
    return normal(T, 8, 8)


def training(T):
    z = normal(T, 8, 8, grad=True)

    def step():
        z.grad = None
        (z * z).sum().backward()

    return step


def written(T):
    x, y = x_of(T), x_of(T)
    return lambda: T.add(x, x, out=y)


def assigned(T):
    x = x_of(T)

    def write():
        x[0] = 1.0

    return write


def picked(T):
    x, index = x_of(T), T.tensor([1, 2])
    return lambda: x[index]


def linear(T):
    layer, x = T.nn.Linear(8, 8), x_of(T)
    return lambda: layer(x)


def layer_norm(T):
    layer, x = T.nn.LayerNorm(8), x_of(T)
    return lambda: layer(x)


def cross_entropy(T):
    x, y = x_of(T), T.arange(8)
    return lambda: T.nn.functional.cross_entropy(x, y)


def convolution(T):
    x, w = normal(T, 1, 3, 8, 8), normal(T, 4, 3, 3, 3)
    return lambda: T.nn.functional.conv2d(x, w)


def attention(T):
    x = normal(T, 1, 2, 8, 8)
    return lambda: T.nn.functional.scaled_dot_product_attention(x, x, x)


def of_one(call):
    """A workload that calls a function of one 8x8 tensor."""

    def make(T):
        x = x_of(T)
        return lambda: call(T, x)

    return make


for _name, _make in {
    "zeros": of_one(lambda T, x: T.zeros(8, 8)),
    "tensor of a list": of_one(lambda T, x: T.tensor([1.0, 2.0, 3.0])),
    "x[0]": of_one(lambda T, x: x[0]),
    "x[:, 1:3]": of_one(lambda T, x: x[:, 1:3]),
    "x[index]": picked,
    "x[0] = 1": assigned,
    "item": of_one(lambda T, x: x[0, 0].item()),
    "reshape": of_one(lambda T, x: x.reshape(4, 16)),
    "transpose": of_one(lambda T, x: x.transpose(0, 1)),
    "cat": of_one(lambda T, x: T.cat([x, x])),
    "split": of_one(lambda T, x: x.split(4)),
    "clone": of_one(lambda T, x: x.clone()),
    "add, out=": written,
    "sum": of_one(lambda T, x: x.sum()),
    "max along a dim": of_one(lambda T, x: x.max(1)),
    "softmax": of_one(lambda T, x: T.softmax(x, -1)),
    "matmul": of_one(lambda T, x: x @ x),
    "einsum": of_one(lambda T, x: T.einsum("ij,jk->ik", x, x)),
    "Linear": linear,
    "LayerNorm": layer_norm,
    "cross_entropy": cross_entropy,
    "conv2d": convolution,
    "attention": attention,
    "(z * z).sum().backward()": training,
    "topk": of_one(lambda T, x: x.topk(3)),
    "linalg.inv": of_one(lambda T, x: T.linalg.inv(x)),
    "repr": of_one(lambda T, x: repr(x)),
}.items():
    workload(f"call: {_name}", FLOOR, AIM)(_make)


@workload("DataLoader, 1024 samples in batches of 64", FLOOR, AIM)
def loader(T):
    data = T.utils.data
    batches = data.DataLoader(data.TensorDataset(normal(T, 1024, 1, 28, 28), T.arange(1024)), 64, shuffle=True)
    return lambda: sum(len(y) for _, y in batches)


@workload("DataLoader, own Dataset", FLOOR, AIM)
def loader_of_own(T):
    data, x = T.utils.data, normal(T, 1024, 1, 28, 28)

    class Doubled(data.Dataset):
        def __len__(self):
            return 1024

        def __getitem__(self, i):
            return x[i] * 2, i % 10

    batches = data.DataLoader(Doubled(), 64, shuffle=True)
    return lambda: sum(len(y) for _, y in batches)
