"""The ladder: one run, priced by every theorem from the loosest to the tightest.

The lecture's example is DP-SGD with noise multiplier 4, sampling rate 0.01, 10,000 steps and delta
1e-5. Its four numbers come out as follows.

- One step is (1.21, 1e-5)-private by the classical rule sqrt(2 log(1.25 / delta)) / noise_multiplier.
- *basic*: T times both. (12,112, 0.1)
- *strong*: the leading term epsilon sqrt(2 T log(1 / slack)), where the slack takes a tenth of the whole
  delta. (363, 0.11). At this epsilon the term that it drops, T epsilon (e^epsilon - 1), is 28,600, so this
  is not a guarantee; the row says so, and rows with the whole theorem are next to it.
- *amplified*: the same rule after 2 q epsilon. (10.3, 0.0011)
- *moments*: whole orders up to 33 and the conversion log(1 / delta) / (order - 1). (1.2586, 1e-5)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, SupportsFloat

from discreet.accounting import renyi, theorems
from discreet.accounting.theorems import Cost, Step
from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.events import Event
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import float_above, float_below
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes

__all__ = ["Ladder", "Rung", "ladder"]

SLACK = 1 / 10
"""The share of the whole delta that strong composition takes for its slack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One rung: what a method says about the run.

    Attributes
    ----------
    name : str
        The method in one or two words.
    epsilon, delta : float
        What it says; delta is the whole, with everything that the method adds.
    method : str
        The formula or the theorem.
    note : str
        What to know about it.
    proven : bool
        Whether (epsilon, delta) is a guarantee for this run. A rule of thumb is not.
    """

    name: str
    epsilon: float
    delta: float
    method: str
    note: str = ""
    proven: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Ladder:
    """The rows, from the loosest to the tightest, for one run under one relation."""

    rows: tuple[Rung, ...]
    run: str
    delta: float
    neighbors: Neighbors | None

    def __iter__(self) -> Iterator[Rung]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Rung:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    @staticmethod
    def shown(row: Rung) -> str:
        """The epsilon of a row, rounded to the nearest: whole from 100 on, four decimals below 10."""
        if row.epsilon == inf:
            return "infinity"
        places = 0 if row.epsilon >= 100 else 1 if row.epsilon >= 10 else 4
        return f"{row.epsilon:,.{places}f}" if row.epsilon >= 0.1 else f"{row.epsilon:.4g}"

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Axes:
        """Draw the rows as bars; see `accounting.plot.ladder`."""
        from discreet.accounting import plot

        return plot.ladder(self, ax=ax, label=label)

    def __repr__(self) -> str:
        head = ("", "epsilon", "delta", "method", "note")
        shown = [(row.name, self.shown(row), f"{row.delta:.3g}", row.method, row.note) for row in self]
        widths = [max(len(line[column]) for line in (head, *shown)) for column in range(len(head))]
        lines = [
            "  ".join(
                text.rjust(width) if column in (1, 2) else text.ljust(width)
                for column, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in (head, *shown)
        ]
        return "\n".join([f"{self.run}, delta {self.delta:g}, {self.neighbors}", *lines])


def ladder(event: Event, delta: float, tight: Callable[..., SupportsFloat] | None = None) -> Ladder:
    """Price a run by every theorem that applies.

    Parameters
    ----------
    event : Event
        The run. Steps that are, or are samples of, Gaussian noise get their own (epsilon, delta) by the
        classical rule at this delta; steps with a pure epsilon or an (epsilon, delta) bring theirs.
    delta : float
        Between 0 and 1: the delta of each Gaussian step in the methods that compose (epsilon, delta), and
        the whole delta in those that compose the laws.
    tight : function of (event, delta=delta), optional
        Gives the last row; the accountant of this package where it is left out.

    Returns
    -------
    Ladder
        Rows by falling epsilon. Their deltas differ: each is the whole delta of its method.
    """
    if not isinstance(event, Event):
        raise ParameterError("event", "is not an event", "an Event")
    if not 0 < delta < 1:
        raise ParameterError("delta", "is out of range", "above 0 and below 1")
    parts = event.parts if isinstance(event, events.Composed) else ((event, 1),)
    best = Rung(
        name="renyi",
        epsilon=renyi.epsilon(event, delta),
        delta=delta,
        method="Rényi curve, optimal conversion",
    )
    steps, failure = _apart(parts)
    found = [*_by_steps(steps, delta), *_by_moments(steps, delta)]
    rows = [*(replace(row, delta=min(1.0, row.delta + failure)) for row in found), best]
    rows.sort(key=lambda row: row.epsilon, reverse=True)
    last = _tight(event, delta, tight)
    rows.append(Rung(name="tight", epsilon=last, delta=delta, method="laws of the losses, composed"))
    return Ladder(rows=tuple(rows), run=repr(event), delta=delta, neighbors=event.neighbors)


def _apart(parts: tuple[tuple[Event, int], ...]) -> tuple[tuple[tuple[Event, int], ...], float]:
    """Return the steps without those that only fail now and then, and the delta of all of those together.

    A step that is (0, delta)-private adds delta to whatever the others are (basic composition).
    """
    steps, chance = list[tuple[Event, int]](), Fraction(0)
    for part, times in parts:
        if isinstance(part, events.Approximate) and part.epsilon == 0:
            chance += times * part.delta
        else:
            steps.append((part, times))
    return (tuple(steps), float_above(chance)) if steps else (parts, 0.0)


def _by_steps(parts: tuple[tuple[Event, int], ...], delta: float) -> list[Rung]:
    """The methods that see each step as an (epsilon, delta): first without sampling, then with it."""
    known = [(_step(part, delta), times) for part, times in parts]
    if any(found is None for found, _ in known):
        return []
    costs = [(found, times) for found, times in known if found is not None]
    plain = [Step(*cost, times) for (cost, _), times in costs]
    total = theorems.basic(plain)
    each = f"each step ({plain[0].epsilon:.4g}, {plain[0].delta:.3g})" if len(plain) == 1 else ""
    method = "sum of epsilon, sum of delta"
    rows = [Rung(name="basic", epsilon=total.epsilon, delta=total.delta, method=method, note=each)]
    rows += _composed(plain, "", delta)
    if len(plain) == 1 and plain[0].times > 1:
        rows.append(_taught(plain[0], "strong", "leading term of strong composition", delta))
    if any(rate < 1 for (_, rate), _ in costs):
        sampled = [Step(*theorems.amplified(cost, rate), times) for (cost, rate), times in costs]
        rows += _composed(sampled, "amplified ", delta)
        (cost, rate), times = costs[0]
        if len(costs) == 1 and times > 1 and cost.epsilon <= theorems.LINEAR:
            linear = Step(*theorems.amplified_as_taught(cost, rate), times)
            rows.append(_taught(linear, "amplified", "2 q epsilon per step, then the leading term", delta))
    return rows


def _slack(steps: list[Step], delta: float) -> float:
    """A tenth of the whole delta; all of it where the steps have none."""
    return theorems.basic(steps).delta * SLACK / (1 - SLACK) or delta


def _composed(steps: list[Step], prefix: str, delta: float) -> list[Rung]:
    slack, rows = _slack(steps, delta), []
    whole = min(1.0, theorems.basic(steps).delta + slack)
    if len(steps) == 1 and steps[0].times > 1:
        full = theorems.advanced(steps[0], slack).epsilon
        method = "strong composition, all terms"
        rows.append(Rung(name=f"{prefix}advanced", epsilon=full, delta=whole, method=method))
    best = theorems.optimal_epsilon(steps, whole)
    method = "optimal composition (Kairouz, Oh & Viswanath)"
    return [*rows, Rung(name=f"{prefix}optimal", epsilon=best, delta=whole, method=method)]


def _taught(step: Step, name: str, method: str, delta: float) -> Rung:
    slack = _slack([step], delta)
    cost = theorems.strong_as_taught(step, slack)
    dropped = theorems.advanced(step, slack).epsilon - cost.epsilon
    note = f"as taught; drops a term of {float(f'{dropped:.3g}'):,g}: no guarantee"
    return Rung(name=name, epsilon=cost.epsilon, delta=cost.delta, method=method, note=note, proven=False)


def _step(part: Event, delta: float) -> tuple[Cost, float] | None:
    """Return the (epsilon, delta) of a step, as if on all the data, and the rate of its sample."""
    if isinstance(part, events.PoissonSampled | events.SampledWithoutReplacement):
        inner = _step(part.inner, delta)
        return None if inner is None else (inner[0], inner[1] * float_above(part.rate))
    if isinstance(part, events.Gaussian | events.RoundedGaussian):
        try:
            return Cost(theorems.classical_gaussian(float_below(part.noise_multiplier), delta), delta), 1.0
        except ParameterError:
            return None
    if isinstance(part, events.Approximate):
        return Cost(float_above(part.epsilon), float_above(part.delta)), 1.0
    return None if part.pure_epsilon is None else (Cost(float_above(part.pure_epsilon), 0.0), 1.0)


def _by_moments(parts: tuple[tuple[Event, int], ...], delta: float) -> list[Rung]:
    if len(parts) != 1:
        return []
    part, times = parts[0]
    normal = events.Gaussian | events.RoundedGaussian
    if not isinstance(part, events.PoissonSampled) or not isinstance(part.inner, normal):
        return []
    if not 0 < part.rate < 1:
        return []
    sigma, rate = float_below(part.inner.noise_multiplier), float_above(part.rate)
    found = theorems.moments_epsilon(sigma, rate, times, delta)
    return [Rung(name="moments", epsilon=found, delta=delta, method="moments accountant, orders 2 to 33")]


def _tight(event: Event, delta: float, tight: Callable[..., SupportsFloat] | None) -> float:
    if tight is None:
        from discreet.accounting.epsilon_and_delta import epsilon

        tight = epsilon
    return float(tight(event, delta=delta))
