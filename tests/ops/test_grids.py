"""Grids as PyTorch computes them, to the bit: where pixels are met at their centres, gradients of a grid jump."""

import math

import pytest

import rushlight as rl
import rushlight.nn.functional as F


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("size", [28, 31, 10])
def test_an_identity_goes_the_way_of_pytorch(size, align_corners, dtype):
    torch = pytest.importorskip("torch")
    found = []
    for library in (torch, rl):
        theta = library.eye(2, 3, dtype=getattr(library, dtype))[None].requires_grad_()
        image = library.arange(size * (size + 3.0), dtype=theta.dtype).sin().reshape(1, 1, size, size + 3)
        functional = torch.nn.functional if library is torch else F
        grid = functional.affine_grid(theta, image.shape, align_corners=align_corners)
        functional.grid_sample(image, grid, align_corners=align_corners).square().sum().backward()
        found.append((grid.detach().numpy(), theta.grad.numpy()))
    (expected_grid, expected), (grid, gradient) = found
    assert (grid == expected_grid).all()
    assert abs(gradient - expected).max() < (1e-4 if dtype == "float32" else 1e-12) * abs(expected).max()


@pytest.mark.parametrize("size", [1, 2, 5])
def test_places_of_pixels(size):
    theta = rl.eye(2, 3)[None]
    centres = F.affine_grid(theta, (1, 1, 1, size), align_corners=False)[0, 0, :, 0].tolist()
    assert all(math.isclose(a, (2 * i + 1) / size - 1, abs_tol=1e-7) for i, a in enumerate(centres))
    ends = F.affine_grid(theta, (1, 1, 1, size), align_corners=True)[0, 0, :, 0].tolist()
    assert ends == ([0.0] if size == 1 else rl.linspace(-1, 1, size).tolist())
