"""Three ways to release a statistic whose profile is known: smooth noise, a proposed bound, a bought one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import ClassVar

import numpy as np

from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.curator.request.statistics.base import (
    AnswerKeys,
    DrawnNumbers,
    ReleasedStatistic,
    offer_object,
    offered_with_delta,
)
from discreet.curator.request.statistics.profiled import ProfiledStatistic, TriangleStatistic
from discreet.data.tables.related_table import RelatedTable
from discreet.mechanisms.adaptive.no_answer import NoAnswer
from discreet.mechanisms.adaptive.private_local_sensitivity import PrivateLocalSensitivity
from discreet.mechanisms.adaptive.propose_test_release import ProposeTestRelease
from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
from discreet.privacy.events import Event
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.offer import Offer
from discreet.privacy.rational import show
from discreet.records import dataclass
from discreet.stability.distances import distance_to_sensitive
from discreet.stability.profile import Profile

__all__ = ["ByBoughtBound", "ByProposal", "BySmoothSensitivity"]

_NO_ANSWER = "no answer, which costs the same: the data may be too close to ones that need more noise"


class ByProfile(ReleasedStatistic):
    """A statistic with a profile, and an offer. Subclasses are frozen dataclasses."""

    __slots__ = ()

    statistic: ProfiledStatistic
    offer: Offer

    @property
    def name(self) -> str:
        """That of the statistic."""
        return self.statistic.name

    @property
    def parameters(self) -> dict[str, object]:
        """Those of the statistic, and the offer."""
        asked = {"statistic": self.statistic.kind, **self.statistic.parameters}
        return {**asked, "offer": offer_object(self.offer)}

    def fits(self, table: RelatedTable) -> bool:
        """Return whether the statistic was made for what a table declares."""
        return self.statistic.fits(table)

    def _column(self, steps: int | None, margin: float | None, offers: str = "") -> AnswerColumn:
        """Return one value in its unit; unknown between the ends if there is no answer."""
        step, (low, high) = self.statistic.step, self.statistic.ends
        if steps is None:
            return AnswerColumn(
                name=self.name,
                values=np.array([np.nan]),
                lower=np.array([float(low * step)]),
                upper=np.array([float(high * step)]),
                unknown=np.array([True]),
                offers=_NO_ANSWER,
            )
        value = np.array([float(steps * step)]) if step != 1 else np.array([steps], np.int64)
        if margin is None:
            return AnswerColumn(name=self.name, values=value, offers=offers)
        ends = [
            np.clip(float(steps * step) + side * margin * float(step), float(low * step), float(high * step))
            for side in (-1, 1)
        ]
        return AnswerColumn(
            name=self.name, values=value, lower=np.array([ends[0]]), upper=np.array([ends[1]]), offers=offers
        )


@lru_cache(maxsize=256)
def _smooth(
    offer: Offer, hint: tuple[int, ...], ends: tuple[int, int], relation: Neighbors
) -> SmoothSensitivity:
    """Return the best noise for an offer and a supposed profile; found once, since it takes a second."""
    return SmoothSensitivity.best(
        lower=ends[0],
        upper=ends[1],
        epsilon=offer.epsilon,
        delta=offer.delta,
        rho=offer.rho,
        sensitivity_hint=hint,
        grid=1,
        neighbors=relation,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BySmoothSensitivity(ByProfile):
    """Noise in proportion to the smooth sensitivity. How large it is stays private: there is no interval."""

    kind: ClassVar[str] = "smooth sensitivity"

    statistic: ProfiledStatistic
    offer: Offer

    @property
    def words(self) -> str:
        """What is computed and how it is released, in words."""
        return f"{self.statistic.words}, with noise in proportion to its smooth sensitivity"

    @property
    def mechanism(self) -> SmoothSensitivity:
        """The mechanism, with the noise that suits the supposed profile."""
        hint, _ = self.statistic.supposed
        return _smooth(self.offer, hint, self.statistic.ends, self.statistic.relation)

    @property
    def event(self) -> Event:
        """The offer: nothing more is known about laws that depend on the data."""
        return self.mechanism.event

    def draw(self, table: RelatedTable, confidence: Fraction) -> DrawnNumbers:
        """Release the value of the profile."""
        del confidence
        return [int(self.mechanism.release(self.statistic.profile(table)))]

    def may_have_drawn(self, drawn: Sequence[object]) -> bool:
        """Return whether this is one integer between the ends."""
        low, high = self.statistic.ends
        return len(drawn) == 1 and isinstance(drawn[0], int) and low <= drawn[0] <= high

    def finish(self, drawn: DrawnNumbers, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the value alone."""
        del confidence
        offers = "the size of its noise is private, so that there is no interval"
        return {}, self._column(_whole(drawn[0]), None, offers)

    def expect(self, confidence: Fraction) -> Expectation:
        """Return the error if the local sensitivities were those supposed."""
        hint, assumed = self.statistic.supposed
        mechanism, step = self.mechanism, float(self.statistic.step)
        supposed = Profile.of(value=0, local=hint, relation=self.statistic.relation)
        error = mechanism.error_at(smooth_sensitivity=supposed.smooth(mechanism.decay))
        return Expectation(
            name=self.name,
            margin=step * error.quantile(confidence),
            standard_deviation=step * error.deviation,
            assumes=assumed,
            means="the answer has no interval",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ByProposal(ByProfile):
    """Propose-test-release: noise for a proposed bound on the local sensitivity, or no answer.

    Attributes
    ----------
    bound : int
        The proposed bound, in steps.
    """

    kind: ClassVar[str] = "propose-test-release"

    statistic: ProfiledStatistic
    bound: int
    offer: Offer

    def __post_init__(self) -> None:
        self.mechanism  # noqa: B018

    @property
    def mechanism(self) -> ProposeTestRelease:
        """The test and the noise."""
        epsilon, delta = offered_with_delta(self.offer, "propose-test-release")
        return ProposeTestRelease(
            sensitivity=self.bound, epsilon=epsilon, delta=delta, neighbors=self.statistic.relation
        )

    @property
    def words(self) -> str:
        """What is computed and how it is released, in words."""
        return f"{self.statistic.words}, with noise for a proposed sensitivity or no answer"

    @property
    def parameters(self) -> dict[str, object]:
        """Those of the statistic, the offer, and the bound."""
        asked = {"statistic": self.statistic.kind, **self.statistic.parameters}
        return {**asked, "offer": offer_object(self.offer), "bound": self.bound}

    @property
    def event(self) -> Event:
        """The test, and the noise, which are charged together whether or not there is an answer."""
        return self.mechanism.event

    def draw(self, table: RelatedTable, confidence: Fraction) -> DrawnNumbers:
        """Test how far the data are from needing more noise, and release the value if they are far."""
        del confidence
        profile = self.statistic.profile(table)
        answer = self.mechanism.release(int(profile.value), distance_to_sensitive(profile, self.bound))
        return [None if isinstance(answer, NoAnswer) else int(answer)]

    def may_have_drawn(self, drawn: Sequence[object]) -> bool:
        """Return whether this is one integer, or no answer."""
        return len(drawn) == 1 and (drawn[0] is None or type(drawn[0]) is int)

    def finish(self, drawn: DrawnNumbers, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the value with its interval, or that there is no answer."""
        steps = None if drawn[0] is None else _whole(drawn[0])
        return {}, self._column(steps, self.mechanism.noise.error.quantile(confidence))

    def expect(self, confidence: Fraction) -> Expectation:
        """Return the error of an answer, and from which distance on there is one."""
        mechanism, step = self.mechanism, self.statistic.step
        far = mechanism.distance_for(confidence)
        level = f"{float(confidence):.0%}"
        return Expectation(
            name=self.name,
            margin=float(step) * mechanism.noise.error.quantile(confidence),
            standard_deviation=float(step) * sqrt(mechanism.noise.error.variance),
            assumes=(
                f"an answer: given with {level} if {far} changes leave the local sensitivity within "
                f"{show(self.bound * step)}"
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ByBoughtBound(ByProfile):
    """Private local sensitivity of triangles: a bound is bought, and the noise is for that bound."""

    kind: ClassVar[str] = "private local sensitivity"

    statistic: TriangleStatistic
    offer: Offer

    def __post_init__(self) -> None:
        self.mechanism  # noqa: B018

    @property
    def mechanism(self) -> PrivateLocalSensitivity:
        """The bound, which an edge moves by at most 1, and the noise for it."""
        epsilon, delta = offered_with_delta(self.offer, "a bought bound")
        return PrivateLocalSensitivity(
            change=1,
            global_sensitivity=self.statistic.largest_local,
            epsilon=epsilon,
            delta=delta,
            neighbors=self.statistic.relation,
        )

    @property
    def words(self) -> str:
        """What is computed and how it is released, in words."""
        return f"{self.statistic.words}, with noise for a bought bound on its local sensitivity"

    @property
    def event(self) -> Event:
        """The bound and the noise together."""
        return self.mechanism.event

    def draw(self, table: RelatedTable, confidence: Fraction) -> DrawnNumbers:
        """Buy a bound on the local sensitivity, and release the value with noise for it."""
        del confidence
        profile = self.statistic.profile(table)
        found = self.mechanism.release(int(profile.value), int(profile.local_at(0)))
        return [int(found.answer), int(found.bound)]

    def may_have_drawn(self, drawn: Sequence[object]) -> bool:
        """Return whether these are an integer and a possible bound."""
        whole = [number for number in drawn if type(number) is int]
        return len(whole) == len(drawn) == 2 and 1 <= whole[1] <= self.statistic.largest_local

    def finish(self, drawn: DrawnNumbers, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the value with the interval that its bound gives, which was released as well."""
        margin = self.mechanism.noise_for(_whole(drawn[1])).error.quantile(confidence)
        return {}, self._column(_whole(drawn[0]), margin)

    def expect(self, confidence: Fraction) -> Expectation:
        """Return the error with the median bound, if the local sensitivity were the one supposed."""
        error = self.mechanism.error_at(local_sensitivity=self.statistic.assumed)
        return Expectation(
            name=self.name,
            margin=error.quantile(confidence),
            standard_deviation=sqrt(error.variance),
            assumes=self.statistic.supposed[1],
        )


def _whole(number: int | float | None) -> int:
    assert number is not None  # noqa: S101
    return int(number)
