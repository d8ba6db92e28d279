from __future__ import annotations

import pytest

from audit.model_reports import report
from discreet.audit import AuditFailed
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, PureDP


def test_a_claim_below_the_bound_fails_and_one_above_it_passes():
    assert report(PureDP(epsilon=1), 1.0).passed
    assert not report(PureDP(epsilon=1), 1 + 2**-10).passed
    assert not report(GaussianDP(mu="0.5"), 0.625).passed
    report(PureDP(epsilon=1), 0.5).raise_if_failed()
    with pytest.raises(AuditFailed, match="at least 1"):
        report(PureDP(epsilon=1), 1.5).raise_if_failed()


def test_the_text_holds_claim_bound_confidence_and_verdict():
    text = str(report(ApproximateDP(epsilon=1, delta="1e-6"), 1.5))
    for part in ("epsilon 1 at delta", "at least 1.5000", "0.999", "2 of 2", "the highest scores", "FAILED"):
        assert part in text
    assert "mu at least 0.5000" in repr(report(GaussianDP(mu=1), 0.5))


def test_plot_draws_the_attacks():
    assert "membership" in report(PureDP(epsilon=1), 0.5).plot().get_title().lower()
