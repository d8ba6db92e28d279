"""The exact law of a whole release, by running its real code on every random path.

The randomness of a mechanism passes through `Source.decide`. A source that follows a script
of outcomes there drives the mechanism down one path; all paths together, weighted with the
exact law of each decision (`words`), are the implemented law: no formula of the mechanism
enters. Paths are followed in the order of their mass, the most probable first.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from discreet.audit.outputs import observe, output_key
from discreet.audit.words import NotEnumerable, WordLaw, word_law
from discreet.noise.entropy import Source, using
from discreet.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from numpy.typing import NDArray

    from discreet.noise.entropy import Decision

__all__ = ["OutputLaw", "output_law"]

MOST_LANES = 64
"""Draws in one call beyond which a release is not enumerated."""

MOST_LAWS = 2000
"""Decisions of different laws beyond which a release is not enumerated."""

_TABLE_BITS = 96
_SINGLE_BITS = 80
_RERUNS = 64
_RECENT = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputLaw:
    """The implemented law of a release at one input.

    Attributes
    ----------
    masses : mapping of output keys to Fraction
        A lower bound on the probability of every output that was reached.
    unresolved : Fraction
        The probability that was not followed to its end; masses and unresolved sum to one. The
        true probability of an output exceeds its mass by at most this.
    runs : int
        How many paths were run.
    decisions : int
        How many decisions they made. Without any, the one output is certain, unless
        the release draws from elsewhere and happened to repeat itself.
    """

    masses: Mapping[Hashable, Fraction]
    unresolved: Fraction
    runs: int
    decisions: int


class _Outside(BaseException):
    """Raised through the mechanism's own exception handling: it drew outside `decide`."""


class _Script(Source):
    """A source that takes given outcomes first, and the most probable ones after.

    `mass` / 2^`depth` is the probability of the path so far. `branches` collects, for every
    choice after the script, the paths that were not taken.
    """

    def __init__(self, laws: _Laws, script: tuple[int, ...], mass: int, depth: int, cutoff: float) -> None:
        self._laws = laws
        self._script = script
        self._cutoff = cutoff
        self._taken = 0
        self.mass = mass
        self.depth = depth
        self.branches: list[tuple[float, int, int, tuple[int, ...]]] = []
        self.decisions = 0

    def words(self, size: int) -> NoReturn:
        raise _Outside("a release draws words outside the decisions of the noise package")

    def bits(self, count: int) -> NoReturn:
        self.words(count)

    def decide(self, decision: Decision, size: int) -> NDArray[np.int64]:
        if size > MOST_LANES:
            raise _Outside(f"a release draws more than {MOST_LANES} numbers at once")
        self.decisions += size
        return np.array([self._one(self._laws.of(decision, lane)) for lane in range(size)], np.int64)

    def _one(self, law: WordLaw) -> int:
        if self._taken < len(self._script):
            outcome = self._script[self._taken]
            if outcome not in law.masses:
                raise _Outside("a release does not repeat itself: it draws randomness elsewhere")
        else:
            outcome = law.ranked[0]
            self._branch(law)
            self._script = (*self._script, outcome)
            self.mass *= law.masses[outcome]
            self.depth += law.bits
        self._taken += 1
        return outcome

    def _branch(self, law: WordLaw) -> None:
        before = self.mass / (1 << self.depth)
        for other in law.ranked[1:]:
            weight = before * (law.masses[other] / (1 << law.bits))
            if weight < self._cutoff:
                return  # outcomes are ranked: all that follow weigh less
            mass = self.mass * law.masses[other]
            self.branches.append((weight, mass, self.depth + law.bits, (*self._script, other)))


class _Laws:
    """The laws of the decisions met so far. Holding each decision keeps its identity unique."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Decision, WordLaw]] = {}
        self._distinct: set[int] = set()

    def of(self, decision: Decision, lane: int) -> WordLaw:
        key = id(decision), lane
        if key not in self._known:
            if len(self._distinct) > MOST_LAWS:
                raise _Outside(f"a release makes decisions of more than {MOST_LAWS} different laws")
            bits = _TABLE_BITS if getattr(decision, "blocks", 1) > 1 else _SINGLE_BITS
            try:
                law = word_law(decision, lane, bits=bits)
            except NotEnumerable as reason:
                raise _Outside(str(reason)) from None
            if not law.masses:
                raise _Outside("a decision has no outcome that can be resolved")
            self._known[key] = decision, law
            self._distinct.add(id(law))
        return self._known[key][1]


def output_law(
    release: Callable[[object], object],
    value: object,
    *,
    cutoff: float = 2.0**-64,
    most_runs: int = 50_000,
    goal: float = 0.0,
) -> OutputLaw:
    """Enumerate the law of `release(value)` from the decisions that its code makes.

    Parameters
    ----------
    release : callable
        The release of a mechanism that draws from `noise.entropy.current()`.
    value : object
        The input.
    cutoff : float
        Paths that are less probable than this are not followed.
    most_runs : int
        How many paths are run at most.
    goal : float
        The unresolved mass that is good enough to be worth the runs: enumeration gives up
        when the paths have become so light that `most_runs` runs will leave more than this. 0
        asks for as much as possible.

    Raises
    ------
    NotEnumerable
        When the release draws outside `decide`, when a decision has too many outcomes, or when
        `goal` is out of reach.
    """
    laws = _Laws()
    masses: dict[Hashable, dict[int, int]] = {}
    resolved, runs, decisions, pushed = 0.0, 0, 0, 0
    heap: list[tuple[float, int, int, int, tuple[int, ...]]] = [(-1.0, 0, 1, 0, ())]
    recent: deque[float] = deque(maxlen=_RECENT)
    while heap and runs < most_runs:
        # Paths come in the order of their mass: later runs hardly resolve more than early ones.
        hope = 2 * sum(recent) / _RECENT if len(recent) == _RECENT else 64 * max(recent, default=1.0)
        if goal and (1.0 - resolved - goal) > hope * (most_runs - runs):
            raise NotEnumerable(f"{most_runs} runs would leave more than {goal:.0e} of the law unresolved")
        _, _, mass, depth, script = heappop(heap)
        source = _Script(laws, script, mass, depth, cutoff)
        key = _run(release, value, source)
        if runs < _RERUNS:
            again = _Script(laws, script, mass, depth, cutoff)
            if _run(release, value, again) != key or again.mass != source.mass:
                raise NotEnumerable("a release does not repeat itself: it draws randomness elsewhere")
        runs += 1
        decisions += source.decisions
        reached = masses.setdefault(key, {})
        reached[source.depth] = reached.get(source.depth, 0) + source.mass
        recent.append(source.mass / (1 << source.depth))
        resolved += recent[-1]
        for weight, mass, depth, script in source.branches:
            pushed += 1
            heappush(heap, (-weight, pushed, mass, depth, script))
    if not decisions and any(
        _run(release, value, _Script(laws, (), 1, 0, cutoff)) not in masses for _ in range(_RERUNS)
    ):
        raise NotEnumerable("a release does not repeat itself: it draws randomness elsewhere")
    exact = {
        key: sum((Fraction(mass, 1 << depth) for depth, mass in reached.items()), Fraction(0))
        for key, reached in masses.items()
    }
    return OutputLaw(
        masses=exact, unresolved=1 - sum(exact.values(), Fraction(0)), runs=runs, decisions=decisions
    )


def _run(release: Callable[[object], object], value: object, source: _Script) -> Hashable:
    try:
        with using(source):
            return output_key(observe(release, value))
    except _Outside as reason:
        raise NotEnumerable(str(reason)) from None
