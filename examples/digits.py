"""Train a small convolutional network on real handwritten digits.

    python examples/digits.py                   train, evaluate, save, load back
    python examples/digits.py --plot out.png    also draw the curves and the misread digits (needs matplotlib)
    python examples/digits.py --module torch    the very same program under PyTorch

The 1,797 images of 8 x 8 pixels are described in DIGITS.md. A fifth of them is held out for the evaluation.
"""

import argparse
import gzip
import importlib.util
import pathlib
import sys
import tempfile
import time

DATA = pathlib.Path(__file__).with_name("digits.bin.gz")
COUNT, SIDE = 1797, 8


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--module", default="rushlight", help="the module that is the engine: rushlight or torch")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=0.01, help="the largest learning rate of the schedule")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="the number of threads (all processors)")
    parser.add_argument("--checkpoint", type=pathlib.Path, help="where to save the model (a temporary file)")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the curves and the misread digits")
    given = parser.parse_args()
    if given.plot and importlib.util.find_spec("matplotlib") is None:
        parser.error("--plot needs matplotlib: pip install '.[plot]'")
    if importlib.util.find_spec(given.module.partition(".")[0]) is None:
        way = {"torch": "pip install torch", "rushlight": "pip install ."}.get(given.module, "is its name right?")
        parser.error(f"there is no module {given.module!r} here: {way}")
    return given


arguments = parse_arguments()
torch = importlib.import_module(arguments.module)
nn, F = torch.nn, torch.nn.functional
from_data = torch.utils.data


class Net(nn.Module):
    """Two blocks of convolution, normalization and pooling, then a linear layer."""

    def __init__(self, width: int = 32):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width // 2, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(width // 2)
        self.conv2 = nn.Conv2d(width // 2, width, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, width, 3, padding=1)
        self.norm3 = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(2)
        self.dropout = nn.Dropout(0.25)
        self.fc = nn.Linear(width * 2 * 2, 10)

    def forward(self, x):
        x = F.relu(self.norm1(self.conv1(x)))
        x = self.pool(F.relu(self.norm2(self.conv2(x))))
        x = self.pool(F.relu(self.norm3(self.conv3(x))))
        return self.fc(self.dropout(x.flatten(1)))


def load_digits():
    """Images (1797, 1, 8, 8) between 0 and 1, and labels (1797,)."""
    numbers = torch.tensor(list(gzip.decompress(DATA.read_bytes())), dtype=torch.uint8)
    pixels = COUNT * SIDE * SIDE
    images = numbers[:pixels].reshape(COUNT, 1, SIDE, SIDE).float() / 16
    return images, numbers[pixels:].long()


class ProgressBar:
    """One line that fills while an epoch runs; on a terminal only."""

    def __init__(self, title: str, total: int):
        self.title, self.total, self.shown = title, total, sys.stdout.isatty()

    def show(self, done: int, text: str) -> None:
        if self.shown:
            filled = 24 * done // self.total
            bar = "█" * filled + "░" * (24 - filled)
            print(f"\r{self.title} {bar} {text}", end="", flush=True)

    def finish(self, text: str) -> None:
        print(f"\r{self.title} {text}" + " " * 24)


def train_epoch(model, loader, optimizer, scheduler, bar):
    """One pass over the training digits: the mean loss and the share read correctly."""
    model.train()
    total_loss = correct = seen = 0
    for step, (images, labels) in enumerate(loader, 1):
        optimizer.zero_grad()
        scores = model(images)
        loss = F.cross_entropy(scores, labels)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total_loss += loss.item() * len(labels)
        correct += (scores.argmax(1) == labels).sum().item()
        seen += len(labels)
        bar.show(step, f"loss {total_loss / seen:.4f}  accuracy {correct / seen:.1%}")
    return total_loss / seen, correct / seen


def predict(model, images):
    """The digit the model reads in each image."""
    model.eval()
    with torch.no_grad():
        return model(images).argmax(1)


def print_confusion(predicted, labels) -> None:
    table = [[0] * 10 for _ in range(10)]
    for row, column in zip(labels.tolist(), predicted.tolist()):
        table[row][column] += 1
    print("\nconfusion (row: the digit, column: what was read)")
    print("    " + "".join(f"{digit:4}" for digit in range(10)))
    for digit, row in enumerate(table):
        print(f"{digit:4}" + "".join(f"{count or '·':>4}" for count in row))


def save_and_load(model, optimizer, path, images) -> bool:
    """Whether a fresh model that loads the checkpoint reads the same digits."""
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    restored = Net()
    restored.load_state_dict(torch.load(path, weights_only=True)["model"])
    return bool((predict(restored, images) == predict(model, images)).all())


def plot(path, history, images, labels, predicted) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    wrong = [i for i, same in enumerate((predicted == labels).tolist()) if not same][:10]
    figure = pyplot.figure(figsize=(7, 6), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(2, 1))
    curves, epochs = top.subplots(), range(1, len(history) + 1)
    curves.plot(epochs, [entry["loss"] for entry in history], label="training loss")
    curves.plot(epochs, [1 - entry["held out"] for entry in history], label="held-out error rate")
    curves.set(xlabel="epoch", yscale="log")
    curves.xaxis.get_major_locator().set_params(integer=True)
    curves.legend()
    bottom.suptitle("misread digits" if wrong else "no digit was misread")
    for axis, i in zip(bottom.subplots(1, max(5, len(wrong)), squeeze=False)[0], wrong):
        axis.imshow(images[i][0].tolist(), cmap="gray_r")
        axis.set_title(f"{labels[i].item()} as {predicted[i].item()}")
    for axis in bottom.axes:
        axis.axis("off")
    figure.savefig(path)
    print(f"drawn: {path}")


def main() -> None:
    started = time.perf_counter()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    dataset = from_data.TensorDataset(*load_digits())
    held_out_size = len(dataset) // 5
    training, held_out = from_data.random_split(dataset, [len(dataset) - held_out_size, held_out_size])
    images, labels = (torch.stack(column) for column in zip(*held_out))
    loader = from_data.DataLoader(training, batch_size=arguments.batch, shuffle=True)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.rate)
    steps = arguments.epochs * len(loader)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=arguments.rate, total_steps=steps + 1)
    print(f"{arguments.module}: {sum(p.numel() for p in model.parameters())} parameters, {len(training)} digits")

    history = []
    for epoch in range(1, arguments.epochs + 1):
        bar = ProgressBar(f"epoch {epoch:2}/{arguments.epochs}", len(loader))
        loss, accuracy = train_epoch(model, loader, optimizer, scheduler, bar)
        held_out_accuracy = (predict(model, images) == labels).float().mean().item()
        history.append({"loss": loss, "accuracy": accuracy, "held out": held_out_accuracy})
        bar.finish(f"loss {loss:.4f}  accuracy {accuracy:.1%}  held out {held_out_accuracy:.1%}")

    predicted = predict(model, images)
    correct = (predicted == labels).sum().item()
    print(f"\nread correctly: {correct} of {len(labels)} held-out digits, {correct / len(labels):.2%}")
    print_confusion(predicted, labels)
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.checkpoint or pathlib.Path(folder, "digits.pt")
        same = save_and_load(model, optimizer, path, images)
        size = path.stat().st_size
    print(f"\ncheckpoint of {size / 1024:.0f} KB, loaded back: predictions are {'equal' if same else 'DIFFERENT'}")
    if arguments.plot:
        plot(arguments.plot, history, images, labels, predicted)
    print(f"{time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
