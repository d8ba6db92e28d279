"""What was run, as options: one part after another, joined by ``--then``."""

from __future__ import annotations

import json
import math
import sys
from argparse import Action, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from pathlib import Path

from discreet.errors import ParameterError
from discreet.privacy import Neighbors, events
from discreet.privacy.events import Event
from discreet.privacy.events.sampling import sampling_assumption
from discreet.privacy.rational import non_negative, rational
from discreet.records import dataclass

__all__ = [
    "MECHANISMS",
    "RunPart",
    "Then",
    "add_part_options",
    "assumption",
    "event_of",
    "part_of",
    "parts_of",
]

SHUFFLED = (
    "a loader that shuffles: in one epoch each unit is in at most one batch, and without it its place stays "
    "empty, so that no other unit moves to another batch. No amplification by sampling is claimed. "
    "A unit that is replaced moves a clipped sum twice as far: for it the noise multiplier counts half"
)
"""What `--loader shuffled` assume."""

MECHANISMS: Mapping[str, tuple[str, ...]] = {
    "sampled-gaussian": ("noise_multiplier", "rate"),
    "gaussian": ("noise_multiplier",),
    "laplace": ("each_epsilon",),
    "pure": ("each_epsilon",),
    "randomized-response": ("truth",),
}
"""The mechanisms, and what each needs to be told."""

_FIELDS = (
    "mechanism",
    "noise_multiplier",
    "rate",
    "each_epsilon",
    "truth",
    "categories",
    "neighbors",
    "loader",
    "event",
    "steps",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """One part of a run, as it was typed; None if nothing was given."""

    mechanism: str | None = None
    noise_multiplier: str | None = None
    rate: str | None = None
    each_epsilon: str | None = None
    truth: str | None = None
    categories: int | None = None
    neighbors: str | None = None
    loader: str | None = None
    event: str | None = None
    steps: int | None = None


class Then(Action):
    """Closes a part: what is typed after it describes the next one."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Keep the part and clear its options."""
        earlier = getattr(namespace, self.dest) or []
        setattr(namespace, self.dest, [*earlier, part_of(namespace)])
        for name in _FIELDS:
            setattr(namespace, name, None)


def add_part_options(parser: ArgumentParser, *epsilon_names: str) -> None:
    """Add the options that describe one part of a run."""
    part = parser.add_argument_group("what was run")
    part.add_argument(
        "--mechanism",
        choices=list(MECHANISMS),
        metavar="NAME",
        help=f"{', '.join(MECHANISMS)}; may be left out if the other options imply it",
    )
    part.add_argument(
        "--noise-multiplier",
        metavar="S",
        help="standard deviation of the noise over how far one unit moves the sum",
    )
    part.add_argument("--rate", metavar="Q", help="probability that a unit is in a batch, from 0 to 1")
    part.add_argument("--steps", type=whole_number, metavar="N", help="how often it was run (1)")
    part.add_argument(
        "--loader",
        choices=["poisson", "shuffled"],
        help="how batches are drawn: each unit by its own coin (poisson), or the table shuffled and cut",
    )
    part.add_argument(
        *epsilon_names, dest="each_epsilon", metavar="E", help="epsilon of each release (laplace, pure)"
    )
    part.add_argument("--truth", metavar="P", help="probability of a true report (randomized-response)")
    part.add_argument("--categories", type=whole_number, metavar="K", help="how many answers there are (2)")
    part.add_argument("--neighbors", metavar="TEXT", help="such as 'replace row' ('add-remove person')")
    part.add_argument(
        "--event", metavar="FILE", help="events as JSON, one or a list, instead of a mechanism; - reads input"
    )


def whole_number(text: str) -> int:
    """Read an integer, also as 1e6 or 10_000."""
    try:
        exact = rational(text.replace("_", ""), "number")
    except ParameterError:
        raise ArgumentTypeError("not a number") from None
    if exact.denominator != 1:
        raise ArgumentTypeError("not a whole number")
    return exact.numerator


def part_of(options: Namespace) -> RunPart:
    """Return the part that the options describe."""
    return RunPart(**{name: getattr(options, name, None) for name in _FIELDS})


def parts_of(options: Namespace) -> list[RunPart]:
    """Return all parts, in the order in which they were typed."""
    return [*(options.then or []), part_of(options)]


def event_of(part: RunPart) -> Event:
    """Return the event of a part, with all its steps."""
    steps = 1 if part.steps is None else part.steps
    if part.event is not None:
        _refuse_others(part, "event", ())
        return _read(part.event) * steps
    mechanism = _mechanism(part)
    needed = MECHANISMS[mechanism]
    for name in needed:
        if getattr(part, name) is None:
            raise ParameterError(name, f"is missing, which {mechanism} needs", f"given, as {_option(name)} …")
    _refuse_others(part, mechanism, needed)
    relation = {} if part.neighbors is None else {"neighbors": Neighbors.from_text(part.neighbors)}
    match mechanism:
        case "laplace":
            each = rational(part.each_epsilon or "", "each_epsilon", positive=True)
            return events.Laplace(epsilon=each, **relation) * steps
        case "pure":
            return (
                events.Pure(epsilon=non_negative(part.each_epsilon or "", "each_epsilon"), **relation) * steps
            )
        case "randomized-response":
            categories = 2 if part.categories is None else part.categories
            return (
                events.RandomizedResponse(truth=part.truth or "", categories=categories, **relation) * steps
            )
    gaussian = events.Gaussian(noise_multiplier=part.noise_multiplier or "", **relation)
    if mechanism == "gaussian":
        return gaussian * steps
    sampled = events.PoissonSampled(gaussian, rate=part.rate or "")
    return gaussian * epochs(part, steps) if part.loader == "shuffled" else sampled * steps


def epochs(part: RunPart, steps: int) -> int:
    """Return how many passes over the data this many steps are, counting one that is not finished.

    A loader that drops an incomplete last batch makes floor(1 / rate) steps in an epoch.
    """
    rate = rational(part.rate or "", "rate")
    if not 0 < rate <= 1:
        raise ParameterError("rate", "is out of range", "above 0, at most 1")
    return math.ceil(rational(steps, "steps") / math.floor(1 / rate))


def assumption(parts: list[RunPart], event: Event) -> str:
    """Return what is assumed about sampling, in sentences; empty if nothing."""
    shuffled = [SHUFFLED] if any(part.loader == "shuffled" for part in parts) else []
    sampled = sampling_assumption(event)
    hint = f"{sampled}. If the loader shuffles instead, ask with --loader shuffled" if sampled else ""
    return ". ".join([*shuffled, *([hint] if hint else [])])


def _mechanism(part: RunPart) -> str:
    if part.mechanism is not None:
        return part.mechanism
    given = {name for names in MECHANISMS.values() for name in names if getattr(part, name) is not None}
    fitting = [mechanism for mechanism, needed in MECHANISMS.items() if set(needed) == given]
    if len(fitting) == 1:
        return fitting[0]
    raise ParameterError("mechanism", "is missing", f"one of {', '.join(MECHANISMS)}; or --event FILE")


def _refuse_others(part: RunPart, mechanism: str, needed: tuple[str, ...]) -> None:
    """Refuse options that the mechanism does not have, instead of ignoring them silently."""
    known = {*needed, "mechanism", "steps"}
    known |= {"loader"} if mechanism == "sampled-gaussian" else set()
    known |= {"categories"} if mechanism == "randomized-response" else set()
    known |= {"event"} if mechanism == "event" else {"neighbors"}
    for name in _FIELDS:
        if name not in known and getattr(part, name) is not None:
            allowed = ", ".join(_option(other) for other in _FIELDS if other in known)
            raise ParameterError(name, f"does not apply to {mechanism}", allowed)
    if mechanism == "event" and part.mechanism is not None:
        raise ParameterError("mechanism", "and --event are both given", "one of them")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _read(source: str) -> Event:
    """Read events from a file, or from the input: what Event.to_json wrote, or a list of it."""
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise ParameterError(
            "event", "is not a file of JSON", "what Event.to_json wrote, or a list of it"
        ) from None
    if not isinstance(content, list):
        return Event.from_json(text)
    return events.compose(Event.from_object(one) for one in content)
