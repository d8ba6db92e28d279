"""Every planted bug is rejected, and by the check that is meant for it."""

from __future__ import annotations

from functools import cache

import pytest

from audit.mutants import MUTANTS, FloatLaplace, TextbookLaplace, TooFineGaussian
from discreet.audit import AuditFailed, Report, check_mechanism
from significance import FALSE_ALARM

# Fast generators afford more draws; the textbook's sampler is slow, and gives itself away soon.
DRAWS = {FloatLaplace: 200_000, TooFineGaussian: 200_000, TextbookLaplace: 20_000}


@cache
def report_on(mechanism: object) -> Report:
    draws = DRAWS.get(type(mechanism), 60_000)
    runs = 2_000 if isinstance(mechanism, TextbookLaplace) else 20_000
    return check_mechanism(mechanism, draws=draws, most_runs=runs, false_alarm=FALSE_ALARM)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("mechanism", "check"), MUTANTS, ids=[f"{type(mutant).__name__}-{check}" for mutant, check in MUTANTS]
)
def test_mutant_is_rejected_by_its_check(mechanism, check):
    report = report_on(next(mutant for mutant, _ in MUTANTS if type(mutant) is type(mechanism)))
    assert report.finding(check).verdict == "failed", str(report)
    with pytest.raises(AuditFailed):
        report.raise_if_failed()
