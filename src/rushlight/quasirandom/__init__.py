"""Quasi-random numbers: `SobolEngine` draws points that fill the unit cube evenly."""

from .sobol import SobolEngine

__all__ = ["SobolEngine"]
