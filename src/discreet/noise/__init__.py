"""Exact, secure randomness.

Every draw follows its law exactly: a uniform real number is revealed bit by bit, and
compared with certified bounds on the cut points of the law until the outcome is beyond
doubt. Nothing here takes or makes a float that decides anything by itself.

`entropy` is the only reader of randomness. `alias`, `uniform`, `bernoulli` and `choice` turn
uniform words into decisions; `geometric`, `laplace`, `gaussian` and `rounded_gaussian` are built of
those, and `layered_gaussian` draws long vectors of the same law as the last; `enclosure` and
`powers` hold the certified arithmetic; `grid` takes real values to integers and back.
"""

from __future__ import annotations

from discreet.exports import publish
from discreet.noise.bernoulli import bernoulli, bernoulli_exponential
from discreet.noise.choice import choose
from discreet.noise.entropy import Source, System, current, replay, using
from discreet.noise.gaussian import sample_gaussian
from discreet.noise.geometric import sample_geometric
from discreet.noise.laplace import sample_laplace
from discreet.noise.replayed import is_private
from discreet.noise.rounded_gaussian import sample_rounded_gaussian
from discreet.noise.uniform import uniform_below

__all__ = [
    "Source",
    "System",
    "bernoulli",
    "bernoulli_exponential",
    "choose",
    "current",
    "is_private",
    "replay",
    "sample_gaussian",
    "sample_geometric",
    "sample_laplace",
    "sample_rounded_gaussian",
    "uniform_below",
    "using",
]

publish(__name__)
