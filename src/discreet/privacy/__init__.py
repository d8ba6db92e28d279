"""The terms of differential privacy, as exact records.

- `neighbors`: which two tables are compared.
- `guarantees`: what is promised about a release, and to groups.
- `events`: which law was drawn; what a ledger stores and an accountant reads.
- `sensitivity`: how far a statistic can move between neighbors.
- `rational`: exact numbers in, floats rounded to a stated side out.

This package has almost no arithmetic and no randomness: it says what things mean, and the packages
above compute.
"""

from discreet.privacy import events, guarantees, neighbors, sensitivity
from discreet.privacy.events import Event, group, post_process
from discreet.privacy.grouping import chain
from discreet.privacy.guarantees import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from discreet.privacy.neighbors import (
    ADD_REMOVE_PERSON,
    ADD_REMOVE_ROW,
    REPLACE_PERSON,
    REPLACE_ROW,
    Change,
    Neighbors,
    Unit,
)
from discreet.privacy.sensitivity import Sensitivity

__all__ = [
    "ADD_REMOVE_PERSON",
    "ADD_REMOVE_ROW",
    "REPLACE_PERSON",
    "REPLACE_ROW",
    "ApproximateDP",
    "Change",
    "Event",
    "GaussianDP",
    "Guarantee",
    "Neighbors",
    "PureDP",
    "RenyiDP",
    "Sensitivity",
    "Unit",
    "ZeroConcentratedDP",
    "chain",
    "events",
    "group",
    "guarantees",
    "neighbors",
    "post_process",
    "sensitivity",
]
