"""A program as tutorials have them, written for PyTorch: a small network, mixed precision, averaged weights, a file."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.cuda.amp import GradScaler
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.parametrizations import weight_norm
from torch.optim.adamw import AdamW
from torch.optim.lr_scheduler import _LRScheduler
from torch.optim.optimizer import Optimizer
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data.dataloader import DataLoader
from torch.utils.data.dataset import Dataset, random_split


class Warmup(_LRScheduler):
    def __init__(self, optimizer: Optimizer, steps: int):
        self.steps = steps
        super().__init__(optimizer)

    def get_lr(self):
        return [base * min(1.0, (self.last_epoch + 1) / self.steps) for base in self.base_lrs]


class Blobs(Dataset):
    def __init__(self, count):
        base = torch.randn(4, 1, 8, 8)
        self.labels = torch.randint(0, 4, (count,))
        self.images = base[self.labels] + 0.5 * torch.randn(count, 1, 8, 8)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], int(self.labels[i])


def make_model():
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.1), weight_norm(nn.Linear(128, 4)),
    )  # fmt: skip
    for module in net.modules():
        if isinstance(module, _BatchNorm):
            nn.init.constant_(module.weight, 0.5)
    return nn.DataParallel(net)


def main(path):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train, test = random_split(Blobs(96), [64, 32], generator=torch.Generator().manual_seed(2))
    loader = DataLoader(train, batch_size=16, shuffle=True)
    model = make_model().to(device)
    optimizer = AdamW(model.parameters(), lr=0.01)
    warmup, averaged = Warmup(optimizer, 2), AveragedModel(model)
    average_schedule, scaler = SWALR(optimizer, swa_lr=0.005, anneal_epochs=2), GradScaler(enabled=False)
    for epoch in range(4):
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(device.type, enabled=epoch == 3):
                loss = F.cross_entropy(model(x.to(device)), y.to(device))
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            clip_grad_norm_(model.parameters(), 5.0)
            scaler.step(optimizer)
            scaler.update()
            print(f"{loss.item():.5f}")
        if epoch < 2:
            warmup.step()
        else:
            averaged.update_parameters(model)
            average_schedule.step()
    update_bn(loader, averaged, device=device)
    torch.save({"model": averaged.module.state_dict(), "scaler": scaler.state_dict()}, path)
    restored = make_model()
    restored.load_state_dict(torch.load(path)["model"])
    with torch.no_grad():
        images, labels = next(iter(DataLoader(test, batch_size=32)))
        print(f"{F.cross_entropy(restored.eval()(images), labels).item():.5f}")


main(sys.argv[1])
