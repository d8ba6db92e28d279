from __future__ import annotations

import pytest

from discreet.audit import AuditFailed, Finding, Report

SKIPPED = Finding(name="precision", verdict="skipped", detail="outputs are not floats")
PROVEN = Finding(name="enumeration", verdict="passed", detail="proven")
LIKELY = Finding(name="best event", verdict="passed", detail="likely", false_alarm=1e-7)
BROKEN = Finding(name="fit", verdict="failed", detail="the smallest p-value is 0", false_alarm=2e-7)
FINE = Finding(name="fit", verdict="passed", detail="fits", false_alarm=2e-7)


def report(*findings):
    return Report(mechanism="Coin()", claim="PureDP(epsilon=1)", findings=findings)


def test_a_report_passes_if_nothing_failed_and_neighbors_were_compared():
    assert report(PROVEN, FINE, SKIPPED).passed
    assert report(LIKELY).passed
    assert not report(PROVEN, BROKEN).passed
    assert not report(FINE, SKIPPED).passed
    assert not report().passed


def test_rates_add_up():
    assert report(PROVEN, LIKELY, FINE).false_alarm == pytest.approx(3e-7)


def test_the_text_holds_the_verdict_the_figures_and_the_rate():
    text = str(report(PROVEN, LIKELY, BROKEN, SKIPPED))
    for part in (
        "Coin()",
        "PureDP(epsilon=1)",
        "FAIL",
        "skip",
        "FAILED",
        "the smallest p-value is 0",
        "3.0e-07",
    ):
        assert part in text
    assert repr(report(PROVEN)) == str(report(PROVEN))
    assert "PASSED" in str(report(PROVEN))
    assert "no check compared" in str(report(FINE))


def test_failures_raise_with_the_report():
    report(PROVEN).raise_if_failed()
    with pytest.raises(AuditFailed, match="FAILED"):
        report(PROVEN, BROKEN).raise_if_failed()
    with pytest.raises(AuditFailed, match="NOT PASSED"):
        report(FINE).raise_if_failed()


def test_findings_are_found_by_name():
    assert report(PROVEN, LIKELY).finding("best event") is LIKELY
    with pytest.raises(KeyError):
        report(PROVEN).finding("timing")
