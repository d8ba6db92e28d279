"""The public numbers of a training run: how it samples, how long, and with how much noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from math import isqrt, sqrt

from discreet.accounting.calibration import calibrate
from discreet.accounting.epsilon_and_delta import epsilon as tight_epsilon
from discreet.accounting.formulas.binomial_tail import least_count
from discreet.errors import ParameterError
from discreet.learning.deep.clipping import AdaptiveClipping, Clipping
from discreet.privacy.events import Approximate, Event, Gaussian, PoissonSampled, RoundedGaussian
from discreet.privacy.rational import Number, float_below, probability, rational, whole
from discreet.records import Record

__all__ = [
    "GRID_STEPS",
    "TrainingPlan",
    "beyond_noise",
    "check_population",
    "least_multiplier",
    "multiplier_between",
    "overflow_of",
    "places_of",
    "sensitivity_in_steps",
    "with_failure",
]

GRID_STEPS = 2**24
"""How many steps of the grid a gradient of the largest length has."""

_SUM_ROUNDING = 2**6
"""For so many examples, the rounding of their sum moves it by a step at most: 2^-30 of the bound for each."""
_MOST_EXAMPLES = 2**27  # for which it is an eighth of the sensitivity
_OVERFLOW = 2**10
"""One part in so many of delta is for steps that have more examples than places."""
_SPARE = 1.01  # so that an epsilon that is named is kept although it is rounded to three digits
_MOST_COUNT = 0.5  # of the noise multiplier, for the count of an adaptive bound: a seventh more noise at most


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class TrainingPlan(Record):
    """What is fixed before training starts.

    Parameters
    ----------
    batch : number
        How many people take part in a step, on average.
    population : int
        A public bound on the number of people. Each takes part in a step with probability batch / population.
    examples : int
        How many examples of one person a step uses at most.
    steps : int
        How many steps there are.
    epsilon, delta : number
        What all steps together promise.
    size : int
        How many numbers are trained.
    clipping : Clipping
        How gradients are shortened.

    Guarantee
    ---------
    (epsilon, delta) for adding or removing a person with all examples. In grid steps, 2^24 for the bound of
    clipping, a person moves the vector that a step releases by at most 2^24 + most / 64 + sqrt(size), where
    most = population times examples; rounded normal noise of this sensitivity is added. A step has a public
    number of places for examples; that the others leave no room for a person has a probability of at most
    `overflow`, which is charged as a delta (proof: docs/proofs/private_gradients.md).
    """

    batch: Fraction
    population: int
    examples: int
    steps: int
    epsilon: Fraction
    delta: Fraction
    size: int
    clipping: Clipping
    overflow: Fraction
    """The probability, at most, that a step has more examples than places; 0 if everybody has one."""
    count_weight: int
    """What an example adds to the count of an adaptive bound, in grid steps; 0 if there is none."""
    squared_sensitivity: int
    """In grid steps squared."""
    variance: int
    """Of the noise before it is rounded, in grid steps squared."""

    def __init__(
        self,
        *,
        batch: Number,
        population: int,
        steps: int,
        epsilon: Number,
        delta: Number,
        size: int,
        clipping: Clipping,
        examples: int = 1,
    ) -> None:
        people = whole(population, "population", least=1)
        each = whole(examples, "examples_per_person", least=1)
        expected = rational(batch, "batch", positive=True)
        if expected > people:
            raise ParameterError(
                "batch", f"is larger than the number of people, {people}", "at most all of them"
            )
        if expected < 1:
            meant = max(1, round(expected * people))
            raise ParameterError(
                "batch",
                "is less than one person",
                f"a number of people, not a share of them, which would be batch={meant}",
            )
        loss = rational(epsilon, "epsilon", positive=True)
        failure = probability(delta, "delta", zero=False, one=False)
        count = whole(steps, "steps", least=1, most=10**9)
        width = whole(size, "size", least=1)
        overflow = overflow_of(people, expected / people, failure, count)
        multiplier = self._multiplier(expected / people, count, loss, failure - count * overflow)
        share = 0.0  # of the sensitivity, for a count
        if isinstance(clipping, AdaptiveClipping):
            share = min(multiplier / (2 * clipping.noise * float(expected)), _MOST_COUNT)
        length = self._length(multiplier / sqrt(1 - share**2), people, each, width)
        weight = int(length * share / sqrt(1 - share**2)) + 1 if share else 0
        squared = length**2 + weight**2
        self._set(
            batch=expected,
            population=people,
            examples=each,
            steps=count,
            epsilon=loss,
            delta=failure,
            size=width,
            clipping=clipping,
            overflow=overflow,
            count_weight=weight,
            squared_sensitivity=squared,
            # a little more than z^2 times it, so that the root, rounded down, is z at least
            variance=(Fraction(multiplier) ** 2 * squared * (1 + Fraction(1, 2**40))).__ceil__(),
        )

    def _multiplier(self, rate: Fraction, steps: int, epsilon: Fraction, delta: Fraction) -> float:
        """Return the noise that keeps the promise, in units of the sensitivity."""
        return least_multiplier(rate, steps, epsilon, delta)

    def _length(self, ratio: float, people: int, examples: int, size: int) -> int:
        """Return the sensitivity of the sum in grid steps, of which the noise is `ratio` times as much."""
        del ratio
        return sensitivity_in_steps(people, examples, size)

    @property
    def rate(self) -> Fraction:
        """The probability of each person to take part in a step."""
        return self.batch / self.population

    @property
    def places(self) -> int:
        """How many examples a step has room for: a public number, whoever is drawn."""
        return places_of(self.population, self.examples, self.rate, self.overflow)

    @property
    def bound_in_steps(self) -> float:
        """The bound of clipping in grid steps."""
        return GRID_STEPS

    @property
    def rows_in_floats(self) -> int:
        """Sums are in doubles."""
        return 0

    @property
    def drawn(self) -> int:
        """How many numbers get noise: those that are trained, and the count of an adaptive bound."""
        return self.size + (self.count_weight > 0)

    @property
    def noise_multiplier(self) -> float:
        """The deviation of the noise, in units of the sensitivity, rounded down."""
        return float_below(self._noise.noise_multiplier)

    @property
    def _noise(self) -> RoundedGaussian:
        return RoundedGaussian(
            squared_sensitivity=self.squared_sensitivity, variance=self.variance, grid=1, size=self.drawn
        )

    @property
    def steps_per_charge(self) -> int:
        """Every step is charged by itself."""
        return 1

    @property
    def event_of_charge(self) -> Event:
        """What one step releases."""
        return with_failure(PoissonSampled(self._noise, rate=self.rate), self.overflow)

    @property
    def event(self) -> Event:
        """What all steps release."""
        return self.event_of_charge * self.steps

    def to_object(self) -> dict[str, object]:
        """Return plain numbers and text, which tell this plan from any other."""
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "clipping"}
        shown = {name: str(value) if isinstance(value, Fraction) else value for name, value in plain.items()}
        return {**shown, "clipping": repr(self.clipping)}


def check_population(people: int, examples: int) -> None:
    """Refuse more examples than sums are proven for."""
    if people * examples > _MOST_EXAMPLES:
        raise ParameterError("population", "has too many examples", "at most 2^27, times examples_per_person")


def sensitivity_in_steps(people: int, examples: int, size: int) -> int:
    """Return how far one person moves the integers of a clipped sum in L2: theorem 4, rounded up."""
    check_population(people, examples)
    return GRID_STEPS - (-people * examples // _SUM_ROUNDING) + isqrt(size) + 1


def overflow_of(people: int, rate: Fraction, delta: Fraction, charges: int) -> Fraction:
    """Return the delta of one charge, of so many, for samples with more people than places; 0 if none has."""
    chance = delta / (_OVERFLOW * charges)
    return chance if least_count(people - 1, rate, chance) < people else Fraction(0)


def places_of(people: int, examples: int, rate: Fraction, overflow: Fraction) -> int:
    """Return how many places are enough for a person's examples and those of the others, but for a chance.

    The others are at most people - 1, each in the sample with probability `rate`: with B places for people
    there is none left with probability P(Bin(people - 1, rate) >= B), which is at most `overflow`.
    """
    return examples * least_count(people - 1, rate, overflow)


def with_failure(event: Event, chance: Fraction) -> Event:
    """Return an event that may fail, in any way, with a probability of at most `chance`."""
    return event + Approximate(epsilon=0, delta=chance) if chance else event


@lru_cache(maxsize=64)
def least_multiplier(rate: Fraction, steps: int, epsilon: Fraction, delta: Fraction) -> float:
    """Return the least noise multiplier that is certified to keep the promise."""

    def run(multiplier: float) -> Event:
        return PoissonSampled(Gaussian(noise_multiplier=multiplier), rate=rate) * steps

    return multiplier_between(run, epsilon, delta, (1e-2, 1e3))


def multiplier_between(
    run: Callable[[float], Event], epsilon: Fraction, delta: Fraction, ends: tuple[float, float]
) -> float:
    """Return the least noise multiplier in a range for which a run is certified to keep a promise."""
    try:
        return calibrate(run, epsilon=epsilon, delta=delta, between=ends)
    except ParameterError as error:
        if error.parameter != "between":
            raise
    raise beyond_noise(run, epsilon, delta, ends)


def beyond_noise(
    run: Callable[[float], Event],
    epsilon: Fraction,
    delta: Fraction,
    ends: tuple[float, float],
    instead: str = "",
) -> ParameterError:
    """Return what is wrong with an epsilon that no multiplier in a range keeps just so, and which do."""
    least, most = (tight_epsilon(run(multiplier), delta=delta).upper for multiplier in reversed(ends))
    numbers = "with this delta, rate and number of steps"
    if epsilon < least:
        problem = f"needs more noise than {ends[1]:g} times the bound of clipping"
        return ParameterError("epsilon", problem, f"at least {least * _SPARE:.3g} {numbers}{instead}")
    problem = f"needs hardly any noise, less than {ends[0]:g} times the bound of clipping"
    return ParameterError("epsilon", problem, f"at most {most / _SPARE:.3g} {numbers}{instead}")
