"""``discreet calibrate``: the one number of a run that just keeps a promise."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace

from discreet.cli import formatting, runs
from discreet.cli.command import Command
from discreet.errors import ParameterError
from discreet.privacy.decimals import float_text_above, float_text_below
from discreet.privacy.events import Event
from discreet.privacy.rational import float_below, rational

__all__ = ["CALIBRATE"]

_LESSON = """\
examples:
  how much noise? 10,000 steps, each person in a batch with probability 0.01, epsilon 1 at delta 1e-6
    discreet calibrate --epsilon 1 --delta 1e-6 --rate 0.01 --steps 10000
  how many steps may I take?
    discreet calibrate --epsilon 1 --delta 1e-6 --rate 0.01 --noise-multiplier 4 --find steps
  how large may batches be?
    discreet calibrate --epsilon 1 --delta 1e-6 --steps 10000 --noise-multiplier 4 --find rate
  how much noise if the loader shuffles? the safe answer, without amplification
    discreet calibrate --epsilon 1 --delta 1e-6 --rate 0.01 --steps 10000 --loader shuffled
  how much may each of a hundred Laplace answers cost?
    discreet calibrate --epsilon 1 --delta 1e-6 --mechanism laplace --steps 100 --find each-epsilon

What is found was priced by the accountant, and its upper bound is within the promise.
"""

_LOOK = {"noise_multiplier": (1e-3, 1e6), "rate": (1e-9, 1.0), "each_epsilon": (1e-9, 1e6)}
_PROBE = {"noise_multiplier": "1", "rate": "0.5", "each_epsilon": "1", "steps": "1"}
_FIND = ("noise-multiplier", "rate", "steps", "each-epsilon")


def _configure(parser: ArgumentParser) -> None:
    promise = parser.add_argument_group("what is promised")
    promise.add_argument("--epsilon", required=True, metavar="E", help="the epsilon of the whole run")
    promise.add_argument("--delta", required=True, metavar="D", help="at this delta, from 0 to below 1")
    promise.add_argument("--find", choices=_FIND, default=_FIND[0], help=f"what to find ({_FIND[0]})")
    runs.add_part_options(parser, "--each-epsilon")
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def _run(options: Namespace) -> str:
    from discreet.accounting import most_steps

    wanted = options.find.replace("-", "_")
    part = runs.part_of(options)
    if getattr(part, wanted) is not None:
        raise ParameterError(
            wanted, "is given, but it is what should be found", "left out, or --find something else"
        )
    if wanted == "rate" and part.loader == "shuffled":
        raise ParameterError(
            "loader", "shuffles, where the rate amplifies nothing", "poisson, or --find steps"
        )
    rational(options.epsilon, "epsilon", positive=True)
    _event(part, wanted, _PROBE[wanted])  # what is wrong with the other options is said before the search
    if wanted == "steps":
        number = most_steps(
            lambda steps: _event(part, "steps", str(steps)), epsilon=options.epsilon, delta=options.delta
        )
        return _written(options, part, str(number))
    return _written(options, part, _found(options, part, wanted))


def _found(options: Namespace, part: runs.RunPart, wanted: str) -> str:
    """Return the number in few digits, on the safe side, if they keep the promise; else all its digits."""
    from discreet.accounting import calibrate, epsilon

    target = float_below(rational(options.epsilon, "epsilon"))

    def keeps(text: str) -> bool:
        return epsilon(_event(part, wanted, text), delta=options.delta).upper <= target

    if wanted == "rate" and keeps("1"):
        return "1"
    low, high = _LOOK[wanted]
    try:
        value = calibrate(
            lambda number: _event(part, wanted, repr(number)),
            epsilon=options.epsilon,
            delta=options.delta,
            between=(low, high),
        )
    except ParameterError as error:
        if error.parameter != "between":
            raise
        problem = f"that just keeps the promise was not found between {low:g} and {high:g}"
        raise ParameterError(wanted, problem, "another epsilon, delta or number of steps") from error
    rounded = float_text_above if wanted == "noise_multiplier" else float_text_below
    short = rounded(value).replace(",", "")
    return short if keeps(short) else repr(value)


def _event(part: runs.RunPart, wanted: str, value: str) -> Event:
    match wanted:
        case "steps":
            return runs.event_of(replace(part, steps=int(value)))
        case "rate":
            return runs.event_of(replace(part, rate=value))
        case "each_epsilon":
            return runs.event_of(replace(part, each_epsilon=value))
    return runs.event_of(replace(part, noise_multiplier=value))


def _written(options: Namespace, part: runs.RunPart, value: str) -> str:
    from discreet.accounting import epsilon

    wanted = options.find.replace("-", "_")
    event = _event(part, wanted, value)
    found = epsilon(event, delta=options.delta)
    assumption = runs.assumption([part], event)
    number = int(value) if wanted == "steps" else float(value)
    if options.json:
        return formatting.as_json(
            {
                wanted: number,
                "event": event.to_object(),
                "epsilon": formatting.interval(found),
                "delta": float(rational(options.delta, "delta")),
                "method": found.method,
                "certified": found.certified,
                "neighbors": None if found.neighbors is None else str(found.neighbors),
                "assumption": assumption,
            }
        )
    costs = float_text_above(found.upper)
    lines = {
        wanted.replace("_", " "): f"{number:,}" if wanted == "steps" else value,
        "keeps": f"epsilon {options.epsilon} at delta {options.delta}: it costs {costs}",
        "run": repr(event),
        "hides": "nothing, since nothing is released" if found.neighbors is None else found.neighbors.phrase,
        "method": found.method,
        "assumes": assumption,
    }
    return formatting.as_table(lines)


CALIBRATE = Command(
    name="calibrate",
    summary="Find the noise, the rate or the number of steps that keeps a promised epsilon and delta.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
