"""Mechanisms: each one knows what it costs, how wrong it will be, and how to draw."""

from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace

__all__ = ["Gaussian", "Laplace"]
