"""Private data release: cells that stand in for the data, on which any linear query may be asked.

`SmallDatabase` chooses among all databases of a few records, for small domains; `MultiplicativeWeights`
learns an estimate of all cells from the queries that it answers worst, and enumerates nothing. Both
report a bound on the largest error over all queries, from public quantities.
"""

from discreet.exports import publish
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

publish(__name__)
