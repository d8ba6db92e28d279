"""Clipping: how the gradient of an example is shortened so that no example weighs more than 1.

Gradients leave in units of the bound: an example whose gradient has norm n takes part with a factor f(n)
such that n f(n) <= 1, and the noisy sum is multiplied by the bound, which is public. Of several groups of
parameters, each has its own norm and factor, and the squares of the n f(n) add up to 1 at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, sqrt
from typing import Any, Protocol

from discreet.errors import ParameterError

__all__ = [
    "AdaptiveClipping",
    "AutomaticClipping",
    "Clipping",
    "FlatClipping",
    "PerLayerClipping",
    "norm_groups",
    "stated_clipping",
]


class Clipping(Protocol):
    """How gradients are shortened."""

    @property
    def bound(self) -> float:
        """What the noisy sum is multiplied by; to begin with."""

    @property
    def per_layer(self) -> bool:
        """Whether each layer has its own norm."""

    def factors(self, norms: Any, groups: int, bound: float) -> Any:
        """Return f(n) for a tensor of norms of one of several groups; `bound` is the present one."""


def _check_bound(bound: object, name: str = "clip") -> float:
    allowed = "a positive number; 1.0 is usual"
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        raise ParameterError(name, f"is a {type(bound).__name__}", allowed)
    if not (isfinite(bound) and 1e-30 <= bound <= 1e30):
        raise ParameterError(name, "is out of range", "a number from 1e-30 to 1e30; 1.0 is usual")
    return float(bound)


@dataclass(frozen=True, slots=True)
class FlatClipping:
    """Shorten gradients that are longer than the bound to that length: f(n) = 1 / max(n, bound).

    Parameters
    ----------
    bound : float
        The largest length.
    """

    bound: float

    def __post_init__(self) -> None:
        _check_bound(self.bound, "bound")

    @property
    def per_layer(self) -> bool:
        """One norm of all parameters."""
        return False

    def factors(self, norms: Any, groups: int, bound: float) -> Any:
        """Return 1 / max(n, bound)."""
        del groups
        return 1 / norms.clamp(min=bound)


@dataclass(frozen=True, slots=True)
class PerLayerClipping:
    """Shorten the gradient of each of L layers by itself, to bound / sqrt(L): together at most the bound.

    Parameters
    ----------
    bound : float
        The largest length of all layers together.
    """

    bound: float

    def __post_init__(self) -> None:
        _check_bound(self.bound, "bound")

    @property
    def per_layer(self) -> bool:
        """One norm for each layer."""
        return True

    def factors(self, norms: Any, groups: int, bound: float) -> Any:
        """Return (1 / sqrt(L)) / max(n, bound / sqrt(L))."""
        share = 1 / sqrt(groups)
        return share / norms.clamp(min=bound * share)


@dataclass(frozen=True, slots=True)
class AutomaticClipping:
    """Make all gradients about equally long, whatever their size: f(n) = 1 / (n + stability).

    No bound has to be found: it only multiplies the learning rate (Bu, Wang, Zha & Karypis 2023).

    Parameters
    ----------
    bound : float
        What the result is multiplied by.
    stability : float
        Gradients much shorter than this stay short.
    """

    bound: float = 1.0
    stability: float = 0.01

    def __post_init__(self) -> None:
        _check_bound(self.bound, "bound")
        _check_bound(self.stability, "stability")

    @property
    def per_layer(self) -> bool:
        """One norm of all parameters."""
        return False

    def factors(self, norms: Any, groups: int, bound: float) -> Any:
        """Return 1 / (n + stability)."""
        del groups, bound
        return 1 / (norms + self.stability)


@dataclass(frozen=True, slots=True)
class AdaptiveClipping:
    """Clip at a bound that follows a quantile of the norms, which is estimated with noise at every step.

    Every example adds 1 to a count if its norm is at most the bound, and takes 1 away if not. The count is
    one more coordinate of the released vector, scaled so that its noise is about `noise` of an expected
    batch: it is part of the sensitivity, and so paid for. Then log(bound) moves by rate times (quantile -
    estimate) (Andrew, Thakkar, McMahan & Ramaswamy 2021).

    Parameters
    ----------
    start : float
        The first bound.
    quantile : float
        The share of gradients that should not be shortened.
    rate : float
        How fast the bound moves.
    noise : float
        The standard deviation of the estimated share.
    """

    start: float = 1.0
    quantile: float = 0.5
    rate: float = 0.2
    noise: float = 0.05

    def __post_init__(self) -> None:
        _check_bound(self.start, "start")
        for name in ("quantile", "rate", "noise"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
                raise ParameterError(name, "is out of range", "a number between 0 and 1")

    @property
    def bound(self) -> float:
        """The first bound."""
        return self.start

    @property
    def per_layer(self) -> bool:
        """One norm of all parameters."""
        return False

    def factors(self, norms: Any, groups: int, bound: float) -> Any:
        """Return 1 / max(n, bound)."""
        del groups
        return 1 / norms.clamp(min=bound)

    def moved(self, bound: float, share: float) -> float:
        """Return the next bound, after a noisy estimate of the share of gradients within this one."""
        held = min(max(share, 0.0), 1.0)
        return min(max(bound * exp(self.rate * (self.quantile - held)), 1e-30), 1e30)


def stated_clipping(clip: object) -> Clipping:
    """Return the clipping that a number or one of the records here states."""
    if isinstance(clip, FlatClipping | PerLayerClipping | AutomaticClipping | AdaptiveClipping):
        return clip
    return FlatClipping(_check_bound(clip))


def norm_groups(model: Any, parameters: list[Any], *, per_layer: bool) -> list[list[int]]:
    """Return which parameters of a model have one norm: all of them, or those of each layer."""
    if not per_layer:
        return [list(range(len(parameters)))]
    names = {id(value): name.rpartition(".")[0] for name, value in model.named_parameters()}
    layers: dict[str, list[int]] = {}
    for place, parameter in enumerate(parameters):
        layers.setdefault(names[id(parameter)], []).append(place)
    return list(layers.values())
