"""Private data release: cells that stand in for the data, on which any linear query may be asked.

`SmallDatabase` chooses among all databases of a few records, for small domains; `MultiplicativeWeights`
learns an estimate of all cells from the queries that it answers worst, and enumerates nothing. Both
report a bound on the largest error over all queries, from public quantities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
    from discreet.workloads.data_release.multiplicative_weights import (
        MultiplicativeWeights,
        MultiplicativeWeightsRelease,
    )
    from discreet.workloads.data_release.person_change import PersonChange
    from discreet.workloads.data_release.small_database import SmallDatabase, SmallDatabaseRelease

__all__ = [
    "MultiplicativeWeights",
    "MultiplicativeWeightsRelease",
    "PersonChange",
    "SmallDatabase",
    "SmallDatabaseRelease",
]

_HOMES = {
    "MultiplicativeWeights": "discreet.workloads.data_release.multiplicative_weights",
    "MultiplicativeWeightsRelease": "discreet.workloads.data_release.multiplicative_weights",
    "PersonChange": "discreet.workloads.data_release.person_change",
    "SmallDatabase": "discreet.workloads.data_release.small_database",
    "SmallDatabaseRelease": "discreet.workloads.data_release.small_database",
}

publish(__name__, homes=_HOMES)
