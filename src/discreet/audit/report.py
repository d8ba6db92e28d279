"""The verdict of an audit: one finding for each check, and what they say together."""

from __future__ import annotations

from typing import Literal

from discreet.errors import DiscreetError
from discreet.records import dataclass

__all__ = ["AuditFailed", "Finding", "Report", "Verdict"]

Verdict = Literal["passed", "failed", "skipped"]

PRIVACY_CHECKS = ("enumeration", "best event")
"""The checks that compare neighboring inputs; at least one of them has to pass."""

OWN_GENERATOR = "it draws from a generator of its own"
"""How a finding begins that is not made, or not judged, for this reason."""

_SIGNS = {"passed": "pass", "failed": "FAIL", "skipped": "skip"}


class AuditFailed(DiscreetError, AssertionError):
    """A mechanism did not pass its audit; the message is the report.

    What to do
    ----------
    Do not release with it. The report names the check that failed, the inputs and the outcome on which it is
    less private than it claims. Usual causes: a sensitivity too small, noise in floats, an early return.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found.

    Attributes
    ----------
    name : str
        The check.
    verdict : {"passed", "failed", "skipped"}
        Skipped means that the check could not be made; the detail says why.
    detail : str
        One sentence with the figures.
    false_alarm : float
        A bound on the probability that a right mechanism fails this check; 0 for a proof.
    """

    name: str
    verdict: Verdict
    detail: str
    false_alarm: float = 0.0

    def __str__(self) -> str:
        rate = f" [false alarm {self.false_alarm:.0e}]" if self.false_alarm else ""
        before = "not checked: " if self.verdict == "skipped" else ""
        return f"{_SIGNS[self.verdict]}  {self.name:<12} {before}{self.detail}{rate}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """The findings of an audit.

    Attributes
    ----------
    mechanism : str
        What was audited.
    claim : str
        The guarantee that it was held to.
    findings : tuple of Finding
        One for each check.
    left_out : tuple of str
        The checks that were not asked for.
    """

    mechanism: str
    claim: str
    findings: tuple[Finding, ...]
    left_out: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no check failed and at least one that compares neighboring inputs was made."""
        verdicts = {finding.name: finding.verdict for finding in self.findings}
        compared = any(verdicts.get(name) == "passed" for name in PRIVACY_CHECKS)
        return compared and "failed" not in verdicts.values()

    @property
    def false_alarm(self) -> float:
        """A bound on the probability that a right mechanism does not pass."""
        return sum(finding.false_alarm for finding in self.findings)

    def finding(self, name: str) -> Finding:
        """Return the finding of one check by its name."""
        return {finding.name: finding for finding in self.findings}[name]

    def raise_if_failed(self) -> None:
        """Raise `AuditFailed`, with this report as its message, unless the audit passed."""
        if not self.passed:
            raise AuditFailed(str(self))

    def __str__(self) -> str:
        if self.passed:
            verdict = "PASSED"
        elif any(finding.verdict == "failed" for finding in self.findings):
            verdict = "FAILED"
        else:
            verdict = "NOT PASSED: no check compared neighboring inputs"
        lines = [f"{self.mechanism} held to {self.claim}"]
        lines += [f"  {finding}" for finding in self.findings]
        if self.left_out:
            lines.append(f"  not asked for: {', '.join(self.left_out)}")
        unjudged = [finding.name for finding in self.findings if finding.detail.startswith(OWN_GENERATOR)]
        if unjudged:
            lines.append(
                "  a prototype: before it serves, let it draw from discreet.noise; checks=… with "
                f"{' and '.join(unjudged)} judges its generator too"
            )
        lines.append(f"{verdict} (a right mechanism fails with probability at most {self.false_alarm:.1e})")
        return "\n".join(lines)

    __repr__ = __str__
