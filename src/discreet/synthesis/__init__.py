"""Synthetic data: rows of a model of noisy marginals."""

from discreet.exports import publish
from discreet.synthesis.columns.domain import Domain
from discreet.synthesis.methods.adaptive import Adaptive
from discreet.synthesis.methods.independent import Independent
from discreet.synthesis.methods.spanning_tree import SpanningTree
from discreet.synthesis.release.synthetic_data import SyntheticData

__all__ = ["Adaptive", "Domain", "Independent", "SpanningTree", "SyntheticData"]

publish(__name__)
