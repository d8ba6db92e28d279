"""The verdict of an audit of a model: what attacks have proven, beside what is claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.audit.guesses import parameter_of
from discreet.audit.membership import GuessedSide, Membership
from discreet.audit.report import AuditFailed
from discreet.privacy.decimals import show_above
from discreet.privacy.guarantees import ApproximateDP, Guarantee, RenyiDP
from discreet.privacy.rational import show
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes

__all__ = ["ModelReport"]

_SIDES = {
    "both": "the highest and the lowest {}",
    "in": "the highest {}",
    "out": "the lowest {}",
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ModelReport:
    """What attacks on trained models have proven.

    Attributes
    ----------
    claim : Guarantee
        What training was held to.
    bound : float
        A lower bound on the epsilon of the claim at its delta, or on its mu or rho: it holds with probability
        1 - false_alarm.
    reach : float
        What the bound would be if all guesses had been right.
    false_alarm : float
        A bound on the probability that training which keeps its claim fails.
    attack, side : str
        The attack that proved most, and the end of its scores that was guessed.
    guesses, right : int
        How many guesses it made, and how many were right.
    canaries, runs, shadows : int
        How many canaries there were, models under attack, and models that the attack learned from.
    attacks : tuple of Membership
        All attacks, with their scores.
    """

    claim: Guarantee
    bound: float
    reach: float
    false_alarm: float
    attack: str
    side: GuessedSide
    guesses: int
    right: int
    canaries: int
    runs: int
    shadows: int
    attacks: tuple[Membership, ...]

    @property
    def passed(self) -> bool:
        """Whether the claim is not below the bound."""
        return self.bound <= parameter_of(self.claim)[1]

    @property
    def confidence(self) -> float:
        """The probability with which the bound holds."""
        return 1 - self.false_alarm

    def raise_if_failed(self) -> None:
        """Raise `AuditFailed`, with this report as its message, unless the audit passed."""
        if not self.passed:
            raise AuditFailed(str(self))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw true over false positive rates of all attacks on log axes, below what the claim allows."""
        from discreet.audit.plot import membership

        return membership(self, ax=ax)

    def __str__(self) -> str:
        name, claimed = parameter_of(self.claim)
        beside = ""
        if isinstance(self.claim, ApproximateDP):
            beside = f" at delta {show_above(self.claim.delta)}"
        elif isinstance(self.claim, RenyiDP):
            beside = f" at order {show(self.claim.order)}"
        verdict = "PASSED" if self.passed else "FAILED"
        by = _SIDES[self.side].format(self.attack)
        shadows = f", {self.shadows} shadow models" if self.shadows else ""
        return "\n".join(
            [
                f"claimed: {name} {show(claimed)}{beside} ({self.claim.neighbors})",
                f"proven:  {name} at least {self.bound:.4f}{beside}, with confidence {self.confidence:.10g}",
                f"  {self.right} of {self.guesses} guesses by {by} were right;"
                f" {self.canaries} canaries in {self.runs} {'run' if self.runs == 1 else 'runs'}{shadows};"
                f" all right would prove {self.reach:.4f}",
                f"{verdict} (training that keeps its claim fails with probability at most"
                f" {self.false_alarm:.1e}; passing proves nothing about other attacks)",
            ]
        )

    __repr__ = __str__
