"""Rényi curves of events, and what follows from them."""

from discreet.accounting.renyi.curve import (
    ORDERS,
    delta,
    delta_from_renyi,
    divergence,
    divergence_at,
    epsilon,
    epsilon_from_renyi,
    exact_extra_delta,
    extra_delta,
    rho,
)
from discreet.exports import publish

__all__ = [
    "ORDERS",
    "delta",
    "delta_from_renyi",
    "divergence",
    "divergence_at",
    "epsilon",
    "epsilon_from_renyi",
    "exact_extra_delta",
    "extra_delta",
    "rho",
]

publish(__name__)
