"""The public numbers of a run in which everybody takes part once in every epoch."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache

from discreet.errors import ParameterError
from discreet.learning.deep.clipping import AdaptiveClipping, Clipping
from discreet.learning.deep.correlation import chosen_band, prefix_error, root_coefficients
from discreet.learning.deep.plan import (
    GRID_STEPS,
    multiplier_between,
    overflow_of,
    places_of,
    sensitivity_in_steps,
    with_failure,
)
from discreet.noise.geometric import LARGEST_SCALE
from discreet.privacy.events import Event, Gaussian, RoundedGaussian
from discreet.privacy.rational import Number, float_below, probability, rational, whole
from discreet.records import Record

__all__ = ["EpochPlan"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class EpochPlan(Record):
    """What is fixed before training with correlated noise starts.

    Parameters
    ----------
    epochs, steps_per_epoch : int
        How many epochs there are, and how many steps each has. A person takes part in one step of each epoch.
    population : int
        A public bound on the number of people.
    examples : int
        How many examples of one person a step uses at most.
    epsilon, delta : number
        What all epochs together promise.
    size : int
        How many numbers are trained.
    clipping : Clipping
        How gradients are shortened.
    band : int or None
        In how many steps the noise of one returns, at most `steps_per_epoch`; None for a rule.

    Guarantee
    ---------
    (epsilon, delta) for adding or removing a person with all examples. An epoch is one Gaussian mechanism,
    but for a chance of `overflow` that others leave no place for this person (proof:
    docs/proofs/correlated_gradients.md).
    """

    epochs: int
    steps_per_epoch: int
    population: int
    examples: int
    epsilon: Fraction
    delta: Fraction
    size: int
    clipping: Clipping
    overflow: Fraction
    """The probability, at most, that the others leave a person no place; 0 if everybody has one."""
    coefficients: tuple[int, ...]
    """By which gradients of this step and those before it are added up."""
    squared_sensitivity: int
    """Of all steps that one part in an epoch reaches, in grid steps squared."""
    variance: int
    """Of the noise of one step before it is rounded, in grid steps squared."""

    def __init__(
        self,
        *,
        epochs: int,
        steps_per_epoch: int,
        population: int,
        epsilon: Number,
        delta: Number,
        size: int,
        clipping: Clipping,
        examples: int = 1,
        band: int | None = None,
    ) -> None:
        if isinstance(clipping, AdaptiveClipping):
            raise ParameterError("clip", "is adaptive, which has a price in every step", "another clipping")
        rounds = whole(epochs, "epochs", least=1, most=10**6)
        each = whole(steps_per_epoch, "steps", least=1, most=10**6)
        people = whole(population, "population", least=1)
        held = whole(examples, "examples_per_person", least=1)
        loss = rational(epsilon, "epsilon", positive=True)
        failure = probability(delta, "delta", zero=False, one=False)
        width = whole(size, "size", least=1)
        reach = chosen_band(rounds * each, each) if band is None else whole(band, "band", least=1, most=each)
        chosen = root_coefficients(reach)
        squared = sensitivity_in_steps(people, held, width) ** 2 * sum(one * one for one in chosen)
        overflow = overflow_of(people, Fraction(1, each), failure, rounds)
        multiplier = _multiplier(rounds, loss, failure - rounds * overflow)
        variance = (Fraction(multiplier) ** 2 * squared * (1 + Fraction(1, 2**40))).__ceil__()
        if variance > LARGEST_SCALE**2:
            raise ParameterError("epsilon", "needs noise beyond what training can bear", "a larger budget")
        self._set(
            epochs=rounds,
            steps_per_epoch=each,
            population=people,
            examples=held,
            epsilon=loss,
            delta=failure,
            size=width,
            clipping=clipping,
            overflow=overflow,
            coefficients=chosen,
            squared_sensitivity=squared,
            variance=variance,
        )

    @property
    def steps(self) -> int:
        """How many steps there are in all."""
        return self.epochs * self.steps_per_epoch

    @property
    def steps_per_charge(self) -> int:
        """An epoch is charged at once."""
        return self.steps_per_epoch

    @property
    def rate(self) -> Fraction:
        """The share of people in a step."""
        return Fraction(1, self.steps_per_epoch)

    @property
    def batch(self) -> Fraction:
        """How many people take part in a step, on average."""
        return self.population * self.rate

    @property
    def places(self) -> int:
        """How many examples a step has room for: a public number, whoever takes part."""
        return places_of(self.population, self.examples, self.rate, self.overflow)

    @property
    def count_weight(self) -> int:
        """No bound is adapted."""
        return 0

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
        """How many numbers get noise in a step."""
        return self.size

    @property
    def noise_multiplier(self) -> float:
        """The deviation of the noise, in units of the sensitivity of an epoch, rounded down."""
        return float_below(self._noise.noise_multiplier)

    @property
    def gain(self) -> float:
        """By how much independent noise would be wider in sums of gradients, root mean square over steps."""
        return prefix_error(1, self.steps) / prefix_error(len(self.coefficients), self.steps)

    @property
    def event_of_charge(self) -> Event:
        """What an epoch releases about anybody."""
        return with_failure(self._noise, self.overflow)

    @property
    def _noise(self) -> RoundedGaussian:
        return RoundedGaussian(
            squared_sensitivity=self.squared_sensitivity,
            variance=self.variance,
            grid=1,
            size=self.size * len(self.coefficients),
        )

    @property
    def event(self) -> Event:
        """What all epochs release."""
        return self.event_of_charge * self.epochs

    def to_object(self) -> dict[str, object]:
        """Return plain numbers and text, which tell this plan from any other."""
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "clipping"}
        shown = {name: str(value) if isinstance(value, Fraction) else value for name, value in plain.items()}
        return {**shown, "coefficients": list(self.coefficients), "clipping": repr(self.clipping)}


@lru_cache(maxsize=64)
def _multiplier(epochs: int, epsilon: Fraction, delta: Fraction) -> float:
    """Return the least noise multiplier that is certified to keep the promise."""

    def run(multiplier: float) -> Event:
        return Gaussian(noise_multiplier=multiplier) * epochs

    return multiplier_between(run, epsilon, delta, (1e-2, 1e4))
