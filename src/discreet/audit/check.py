"""The whole battery on one mechanism."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet.audit.best_event import check_best_event
from discreet.audit.claims import check_claim
from discreet.audit.clones import CLONES_FALSE_ALARM, check_clones
from discreet.audit.divergence import LawComparison, compare_laws, tightest
from discreet.audit.enumeration import OutputLaw, output_law
from discreet.audit.fit import Draws, check_fit
from discreet.audit.outputs import observe, output_key
from discreet.audit.precision import check_precision
from discreet.audit.report import OWN_GENERATOR, PRIVACY_CHECKS, Finding, Report
from discreet.audit.samples import additive_event, collect, draw, draws_elsewhere, is_batched
from discreet.audit.timing import TIMING_FALSE_ALARM, check_timing, time_releases
from discreet.audit.words import NotEnumerable
from discreet.errors import ParameterError
from discreet.privacy.rational import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from discreet.audit.samples import Auditable, Sample
    from discreet.privacy.guarantees import Guarantee

__all__ = ["check_mechanism"]

GOAL = 1e-4
"""The unresolved mass up to which an enumeration counts."""

_FAR = 1_000_003
_FIRST_TRIES = 20
_LEAST_DRAWS, _MOST_DRAWS = 1000, 10**9
_LEAST_FALSE_ALARM, _MOST_FALSE_ALARM = 1e-9, 0.1

CHECKS = ("enumeration", "best event", "fit", "precision", "timing", "clones")
"""All checks, in the order of the report."""

InputPair = tuple[Any, Any]


def check_mechanism(
    mechanism: Auditable,
    claim: Guarantee | None = None,
    inputs: Iterable[InputPair] | None = None,
    *,
    draws: int = 1_000_000,
    most_runs: int = 50_000,
    false_alarm: float = 1e-6,
    checks: Iterable[str] | None = None,
) -> Report:
    """Check what a mechanism releases against what it promises.

    Parameters
    ----------
    mechanism : object
        Anything with `release(value)`. Its `guarantee`, `neighboring_inputs()`, `event` and `grid`
        are used where it has them.
    claim : Guarantee, optional
        What it is held to; by default `mechanism.guarantee`.
    inputs : iterable of pairs, optional
        Neighboring inputs; both orders of each are tried. By default `mechanism.neighboring_inputs()`.
    draws : int
        How many values to draw at once where the mechanism takes arrays of any size. Releases one
        by one are a tenth of this, and are shared by all checks.
    most_runs : int
        How many paths of the mechanism's code an enumeration may follow.
    false_alarm : float
        A bound on the probability that a right mechanism does not pass, from 1e-9 to 0.1.
    checks : iterable of str
        Which checks are made; by default all: "enumeration", "best event", "fit", "precision", "timing",
        "clones". A prototype that draws from a generator of its own, such as one of numpy, cannot be
        enumerated, its copies repeat its noise, and its time is that of the generator: by default "timing"
        and "clones" do not fail it for that, but say what they saw. Where they are named here, they do. The
        report names what was left out.

    Returns
    -------
    Report
        Passed if no check failed and at least one compared neighboring inputs.

    Examples
    --------
    >>> from discreet import Laplace, audit
    >>> audit.check_mechanism(Laplace(sensitivity=1, epsilon=1), draws=20_000).passed
    True
    """
    if not callable(getattr(mechanism, "release", None)):
        raise ParameterError("mechanism", "has no release", "an object with release(value)")
    claim = check_claim(getattr(mechanism, "guarantee", None) if claim is None else claim)
    pairs = _pairs(mechanism, inputs)
    draws = whole(draws, "draws", least=_LEAST_DRAWS, most=_MOST_DRAWS)
    most_runs = whole(most_runs, "most_runs", least=1)
    if not _LEAST_FALSE_ALARM <= false_alarm <= _MOST_FALSE_ALARM:
        raise ParameterError("false_alarm", "is out of range", "a number from 1e-9 to 0.1")
    chosen = _chosen(CHECKS if checks is None else checks)
    _released_once(mechanism, pairs[0][0])
    prototype = checks is None and draws_elsewhere(mechanism, pairs[0][0])
    share = (false_alarm - TIMING_FALSE_ALARM - CLONES_FALSE_ALARM) / 3
    audit = _Audit(mechanism, claim, pairs, draws, most_runs, timed="timing" in chosen)
    made: dict[str, Callable[[], Finding]] = {
        "enumeration": audit.enumeration,
        "best event": lambda: audit.best_event(share),
        "fit": lambda: audit.fit(share),
        "precision": lambda: audit.precision(share),
        "timing": lambda: audit.timing(prototype=prototype),
        "clones": lambda: check_clones(mechanism, pairs[0][0], prototype=prototype),
    }
    return Report(
        mechanism=_named(mechanism),
        claim=repr(claim),
        findings=tuple(made[name]() for name in chosen),
        left_out=tuple(name for name in CHECKS if name not in chosen),
    )


def _chosen(checks: Iterable[str]) -> list[str]:
    """Return the checks to make, in the order of the report."""
    wanted = [checks] if isinstance(checks, str) else list(checks)
    if not set(wanted) & set(PRIVACY_CHECKS) or not set(wanted) <= set(CHECKS):
        raise ParameterError(
            "checks",
            "name an unknown check, or none that compares neighboring inputs",
            f"some of {', '.join(CHECKS)}, with one of {' and '.join(PRIVACY_CHECKS)}",
        )
    return [name for name in CHECKS if name in wanted]


def _released_once(mechanism: Auditable, value: object) -> None:
    """Raise what a mechanism raises, if it never releases; one that fails by chance is left to the checks."""
    tries = (observe(mechanism.release, value) for _ in range(_FIRST_TRIES))
    failures = list(takewhile(lambda outcome: isinstance(outcome, Exception), tries))
    if len(failures) == _FIRST_TRIES:
        raise cast("Exception", failures[-1])


class _Audit:
    """Laws and samples at the inputs of one mechanism, each made once and only when needed."""

    def __init__(
        self,
        mechanism: Auditable,
        claim: Guarantee,
        pairs: list[InputPair],
        draws: int,
        most_runs: int,
        *,
        timed: bool,
    ) -> None:
        self._mechanism, self._claim, self._pairs = mechanism, claim, pairs
        self._draws, self._most_runs = draws, most_runs
        self._inputs = len({output_key(value) for pair in pairs for value in pair})
        self._laws: dict[Hashable, OutputLaw | NotEnumerable] = {}
        self._samples: dict[Hashable, Sample] = {}
        self._timed: tuple[Any, Any, Sample] | None = None
        if timed:
            self._time()

    def _time(self) -> None:
        value = self._pairs[0][0]
        if isinstance(value, bool) or not isinstance(value, int | float):
            return
        if additive_event(self._mechanism) is not None and isinstance(value, int):
            # Python stores integers near zero in ways of their own; far away it does not.
            far = value + _FAR
            value = value if isinstance(observe(self._mechanism.release, far), Exception) else far
        times, sample = time_releases(self._mechanism, value, self._draws // 10)
        self._timed = value, times, sample
        if not is_batched(self._mechanism, value):
            self._samples[output_key(value)] = sample

    def _law(self, value: object) -> OutputLaw | NotEnumerable:
        key = output_key(value)
        if key not in self._laws:
            try:
                self._laws[key] = output_law(
                    self._mechanism.release, value, most_runs=self._most_runs, goal=GOAL
                )
            except NotEnumerable as reason:
                self._laws[key] = reason
        return self._laws[key]

    def _sample(self, value: object) -> Sample:
        key = output_key(value)
        if key not in self._samples:
            batched = is_batched(self._mechanism, value)
            length = len(value) if isinstance(value, np.ndarray) else 1
            count = self._draws // (length if batched else 5 * max(self._inputs, 2))
            self._samples[key] = draw(self._mechanism, value, max(count, 1000))
        return self._samples[key]

    def enumeration(self) -> Finding:
        """Compare the implemented laws of all neighbors with the claim."""
        compared: list[LawComparison] = []
        reasons: list[str] = []
        unresolved, atoms = 0.0, 0
        for x, other in self._pairs:
            p = self._law(x)
            q = p if isinstance(p, NotEnumerable) else self._law(other)
            if isinstance(p, NotEnumerable) or isinstance(q, NotEnumerable):
                reasons.append(str(q))
                continue
            if not p.decisions and not q.decisions:
                reasons.append("a release makes no decision in the noise package")
                continue
            compared += [compare_laws(p, q, self._claim), compare_laws(q, p, self._claim)]
            unresolved = max(unresolved, float(p.unresolved), float(q.unresolved))
            atoms = max(atoms, len(p.masses), len(q.masses))
        if unresolved > GOAL:
            reasons.append(f"{self._most_runs} runs left {unresolved:.2g} of the law unresolved")
        figures = f"{atoms} outputs, {len(compared)} orders of neighbors, {unresolved:.1e} unresolved"
        if any(comparison.violated for comparison in compared):
            detail = f"{tightest(compared).detail}; {figures}"
            return Finding(name="enumeration", verdict="failed", detail=detail)
        if reasons:
            return Finding(name="enumeration", verdict="skipped", detail=reasons[0])
        return Finding(name="enumeration", verdict="passed", detail=f"{tightest(compared).detail}; {figures}")

    def best_event(self, false_alarm: float) -> Finding:
        """Attack all neighbors with samples."""
        samples = [(self._sample(x), self._sample(other)) for x, other in self._pairs]
        return check_best_event(samples, self._pairs, self._claim, false_alarm)

    def fit(self, false_alarm: float) -> Finding:
        """Compare samples with the laws at the first input."""
        value = self._pairs[0][0]
        samples = {"releases": self._sample(value)}
        if is_batched(self._mechanism, value):
            single = [observe(self._mechanism.release, value) for _ in range(self._draws // 50)]
            samples["single releases"] = collect(single)
        law = self._law(value)
        known = law if isinstance(law, OutputLaw) and law.decisions else None
        drawn = [Draws(name=name, value=value, sample=s, law=known) for name, s in samples.items()]
        return check_fit(self._mechanism, drawn, false_alarm)

    def precision(self, false_alarm: float) -> Finding:
        """Attack the low-order bits, also around zero, where floats are finest."""
        pairs = list(self._pairs)
        x, other = pairs[0]
        if (
            isinstance(x, float)
            and isinstance(other, float)
            and 0.0 not in {v for pair in pairs for v in pair}
        ):
            pairs.append((0.0, abs(other - x)))
        samples = [(self._sample(x), self._sample(other)) for x, other in pairs]
        return check_precision(self._mechanism, samples, false_alarm)

    def timing(self, *, prototype: bool) -> Finding:
        """Correlate time and noise; what a generator of a prototype's own takes is told, and not judged."""
        if self._timed is None:
            return Finding(name="timing", verdict="skipped", detail="the input is not a number")
        found = check_timing(self._mechanism, *self._timed)
        if prototype and found.verdict == "failed":
            return Finding(name="timing", verdict="skipped", detail=f"{OWN_GENERATOR}; {found.detail}")
        return found


def _pairs(mechanism: Auditable, inputs: Iterable[InputPair] | None) -> list[InputPair]:
    allowed = "pairs of neighboring inputs, at least one"
    if inputs is None:
        known = getattr(mechanism, "neighboring_inputs", None)
        if known is None:
            raise ParameterError("inputs", "are missing, and the mechanism knows of none", allowed)
        inputs = known()
    pairs = list(inputs)
    if not pairs or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise ParameterError("inputs", "are not pairs", f"{allowed}, such as [(0, 1)]")
    return [(x, other) for x, other in pairs]


def _named(mechanism: object) -> str:
    """Return a name for the report: the repr, unless it is only an address."""
    text = repr(mechanism)
    if type(mechanism).__repr__ is object.__repr__:
        text = type(mechanism).__name__
    return text if len(text) <= 100 else text[:97] + "..."
