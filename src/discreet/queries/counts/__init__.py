"""Many counts at once: ranges, distribution functions and marginals of declared tables.

- `ranges` and `marginals` make a question of names; `question` makes a request of it, with the
  strategy and the noise of the least error.
- `range_release`, `column_release` and `marginal_release` answer anything asked about it afterwards.
- `cells` knows which values a cell holds, `shares` the intervals of ratios.
"""

from __future__ import annotations

from discreet.exports import publish
from discreet.queries.counts.column_release import ColumnRelease
from discreet.queries.counts.marginal_release import MarginalRelease
from discreet.queries.counts.marginals import MarginalsQuestion, marginals
from discreet.queries.counts.question import LinearQuestion
from discreet.queries.counts.range_release import RangeRelease
from discreet.queries.counts.ranges import CumulativeQuestion, RangesQuestion, cdf, ranges

__all__ = [
    "ColumnRelease",
    "CumulativeQuestion",
    "LinearQuestion",
    "MarginalRelease",
    "MarginalsQuestion",
    "RangeRelease",
    "RangesQuestion",
    "cdf",
    "marginals",
    "ranges",
]

publish(__name__)
