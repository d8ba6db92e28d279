"""Random event trees, and the deltas that they really have: enumeration with fifty digits.

A tree holds steps with finitely many outcomes, alone, sampled or in parallel, any number of Gaussian steps
or one sampled Gaussian. Finite losses are enumerated; what is left has a profile in closed form.
In parallel releases an adversary chooses the part in view of all answers before; normal noise comes last.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import mpmath

from discreet.privacy import events
from discreet.privacy.events import Event, compose

__all__ = ["adaptive_delta", "random_event", "random_step"]

DIGITS = 50


def number(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def _decimal(rng: random.Random, low: float, high: float) -> Fraction:
    """A number with few digits, evenly spread on a logarithmic scale."""
    return Fraction(f"{low * (high / low) ** rng.random():.3g}")


def random_step(rng: random.Random) -> Event:
    """One step with finitely many losses."""
    kind = rng.choice(["pure", "approximate", "geometric", "sampled"])
    if kind == "pure":
        return events.Pure(epsilon=_decimal(rng, 0.01, 4))
    if kind == "approximate":
        return events.Approximate(epsilon=_decimal(rng, 0.01, 3), delta=_decimal(rng, 1e-9, 0.3))
    if kind == "geometric":
        return events.DiscreteLaplace(sensitivity=rng.randint(1, 3), scale=_decimal(rng, 0.5, 30), size=1)
    inner = rng.choice(["pure", "approximate"])
    step = events.Pure(epsilon=_decimal(rng, 0.1, 3))
    if inner == "approximate":
        step = events.Approximate(epsilon=_decimal(rng, 0.1, 3), delta=_decimal(rng, 1e-6, 0.2))
    return events.PoissonSampled(step, rate=_decimal(rng, 0.01, 0.99))


def random_event(rng: random.Random) -> Event:
    """A sum of a few steps, some of them several times, some in parallel, some with normal noise."""
    parts = [random_step(rng) * rng.choice([1, 1, 2, 3]) for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.5:
        inner = [random_step(rng) for _ in range(rng.randint(2, 3))]
        if rng.random() < 0.5:
            inner.append(events.Gaussian(noise_multiplier=_decimal(rng, 0.5, 20)))
        parts.append(events.Parallel(*inner) * rng.choice([1, 1, 2]))
    noise = events.Gaussian(noise_multiplier=_decimal(rng, 0.3, 50))
    normal = rng.choice(["none", "plain", "sampled"]) if parts else "plain"
    if normal == "plain":
        parts.append(noise * rng.choice([1, 5, 400]))
    elif normal == "sampled" and not any(_holds_normal(part) for part in parts):
        parts.append(events.PoissonSampled(noise, rate=_decimal(rng, 0.001, 0.9)))
    return compose(parts)


def _holds_normal(event: Event) -> bool:
    if isinstance(event, events.Composed | events.Parallel):
        return any(_holds_normal(part) for part, _ in event.parts)
    return isinstance(event, events.Gaussian)


Outcomes = list[tuple[mpmath.mpf, mpmath.mpf]]


def _outcomes(event: Event) -> Outcomes:
    """The masses (P, Q) of the worst pair of a finite step, P with the unit."""
    match event:
        case events.Pure():
            p = 1 / (1 + mpmath.exp(-number(event.epsilon)))
            return [(p, 1 - p), (1 - p, p)]
        case events.Approximate():
            p, d = 1 / (1 + mpmath.exp(-number(event.epsilon))), number(event.delta)
            rest = 1 - d
            return [
                (d, mpmath.mpf(0)),
                (rest * p, rest * (1 - p)),
                (rest * (1 - p), rest * p),
                (mpmath.mpf(0), d),
            ]
        case events.DiscreteLaplace():
            ratio, shift = mpmath.exp(-number(event.grid / event.scale)), event.shift
            ends, inner = 1 / (1 + ratio), (1 - ratio) / (1 + ratio)
            first = [ratio**shift * ends, *(inner * ratio ** (shift - y) for y in range(1, shift)), ends]
            return list(zip(first, first[::-1], strict=True))
        case events.PoissonSampled():
            q = number(event.rate)
            return [((1 - q) * b + q * a, b) for a, b in _outcomes(event.inner)]
    raise TypeError(type(event).__name__)


def _normal(gamma: mpmath.mpf, mu: mpmath.mpf) -> mpmath.mpf:
    if gamma <= 0:
        return 1 - gamma
    at = mpmath.log(gamma)
    return mpmath.ncdf(mu / 2 - at / mu) - gamma * mpmath.ncdf(-mu / 2 - at / mu)


def _smooth(
    gamma: mpmath.mpf, mu: mpmath.mpf, sampled: list[tuple[mpmath.mpf, mpmath.mpf]], way: int
) -> mpmath.mpf:
    """The profile of Gaussian noise of a total mu, or of one sampled Gaussian, or of neither."""
    if not sampled:
        return _normal(gamma, mu) if mu else max(1 - gamma, mpmath.mpf(0))
    ((shift, q),) = sampled
    if way == 0:
        return q * _normal((gamma - 1 + q) / q, shift) if gamma > 1 - q else 1 - gamma
    left = 1 - gamma * (1 - q)
    return left * _normal(gamma * q / left, shift) if left > 0 else mpmath.mpf(0)


def adaptive_delta(event: Event, epsilon: mpmath.mpf) -> mpmath.mpf:
    """The largest delta of all adversaries, at an epsilon."""
    steps: Counter[Event] = (
        Counter(dict(event.parts)) if isinstance(event, events.Composed) else Counter({event: 1})
    )
    gamma = mpmath.exp(epsilon)
    return max(
        _value(tuple(sorted(steps.items(), key=lambda item: item[0].to_json())), gamma, way, {})
        for way in (0, 1)
    )


def _value(steps: tuple[tuple[Event, int], ...], gamma: mpmath.mpf, way: int, seen: dict) -> mpmath.mpf:
    """The best an adversary can do from here on, where what was seen so far weighs gamma."""
    key = (steps, mpmath.nstr(gamma, 30))
    if key in seen:
        return seen[key]
    finite = next(
        (step for step, _ in steps if not _is_normal(step) and not isinstance(step, events.Parallel)), None
    )
    if finite is not None:  # it does not matter when a step without a choice is run, but earliest is the most
        found = _after(steps, finite, _outcomes(finite), gamma=gamma, way=way, seen=seen)
    elif parallel := [step for step, _ in steps if isinstance(step, events.Parallel)]:
        found = max(
            (
                _value(_without(steps, step, extra=part), gamma, way, seen)
                if _is_normal(part)
                else _after(steps, step, _outcomes(part), gamma=gamma, way=way, seen=seen)
            )
            for step in parallel
            for part, _ in step.parts
        )
    else:
        squares = sum(
            (n / step.noise_multiplier**2 for step, n in steps if isinstance(step, events.Gaussian)),
            Fraction(0),
        )
        sampled = [
            (1 / number(s.inner.noise_multiplier), number(s.rate))
            for s, _ in steps
            if isinstance(s, events.PoissonSampled)
        ]
        mu = mpmath.sqrt(number(squares))
        found = _smooth(gamma, mu, sampled, way)
    seen[key] = found
    return found


def _after(steps, step, outcomes, *, gamma, way, seen) -> mpmath.mpf:
    """The sum over the outcomes of one step."""
    left, total = _without(steps, step), mpmath.mpf(0)
    for p, q in outcomes if way == 0 else [(b, a) for a, b in outcomes]:
        if p > 0:
            total += p * _value(left, gamma * q / p, way, seen)
    return total


def _without(steps, step, extra: Event | None = None) -> tuple[tuple[Event, int], ...]:
    counts = Counter(dict(steps))
    counts[step] -= 1
    if extra is not None:
        counts[extra] += 1
    return tuple(sorted(((s, n) for s, n in counts.items() if n), key=lambda item: item[0].to_json()))


def _is_normal(step: Event) -> bool:
    return isinstance(step, events.Gaussian) or (
        isinstance(step, events.PoissonSampled) and isinstance(step.inner, events.Gaussian)
    )
