"""Many counts at once: ranges, distribution functions and marginals of declared tables.

- `ranges` and `marginals` make a question of names; `question` makes a request of it, with the
  strategy and the noise of the least error.
- `range_release`, `column_release` and `marginal_release` answer anything asked about it afterwards.
- `cells` knows which values a cell holds, `shares` the intervals of ratios.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
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

_HOMES = {
    "ColumnRelease": "discreet.queries.counts.column_release",
    "CumulativeQuestion": "discreet.queries.counts.ranges",
    "LinearQuestion": "discreet.queries.counts.question",
    "MarginalRelease": "discreet.queries.counts.marginal_release",
    "MarginalsQuestion": "discreet.queries.counts.marginals",
    "RangeRelease": "discreet.queries.counts.range_release",
    "RangesQuestion": "discreet.queries.counts.ranges",
    "cdf": "discreet.queries.counts.ranges",
    "marginals": "discreet.queries.counts.marginals",
    "ranges": "discreet.queries.counts.ranges",
}

publish(__name__, homes=_HOMES)
