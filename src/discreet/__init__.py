"""discreet: differential privacy from end to end.

>>> import discreet as dp
>>> mechanism = dp.Laplace(sensitivity=1, epsilon=0.5)
>>> mechanism.event, mechanism.guarantee, mechanism.error.quantile(0.95)
(DiscreteLaplace(sensitivity=1, scale=2), PureDP(epsilon=0.5), 6.0)

Names load when they are first used, so that ``import discreet`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet import accounting, audit, errors, mechanisms, noise, privacy
    from discreet.mechanisms import Gaussian, Laplace
    from discreet.privacy import Sensitivity, events, guarantees, neighbors, sensitivity

__version__ = "0.1.0"

__all__ = [
    "Gaussian",
    "Laplace",
    "Sensitivity",
    "accounting",
    "audit",
    "errors",
    "events",
    "guarantees",
    "mechanisms",
    "neighbors",
    "noise",
    "privacy",
    "sensitivity",
]

_HOMES = {
    "Gaussian": "discreet.mechanisms",
    "Laplace": "discreet.mechanisms",
    "Sensitivity": "discreet.privacy",
    "events": "discreet.privacy",
    "guarantees": "discreet.privacy",
    "neighbors": "discreet.privacy",
    "sensitivity": "discreet.privacy",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    if name in _HOMES:
        home = importlib.import_module(_HOMES[name])
        try:
            return getattr(home, name)
        except AttributeError:
            return importlib.import_module(f"{_HOMES[name]}.{name}")
    return importlib.import_module(f"discreet.{name}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
