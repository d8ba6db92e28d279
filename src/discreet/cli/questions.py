"""A question and an offer, as options: what ``preview``, ``query`` and ``explain`` have in common."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError
from discreet.privacy.decimals import above

if TYPE_CHECKING:
    from argparse import _ArgumentGroup

    from discreet.privacy.events import Event

__all__ = [
    "add_fit_options",
    "add_offer_options",
    "add_question",
    "cost",
    "fits_of",
    "offer_of",
    "question_of",
]

MOST_QUESTION_CHARACTERS = 1_000_000


def add_question(parser: ArgumentParser) -> None:
    """Add the question."""
    parser.add_argument("question", metavar="SQL", help="the question; - reads it from the input")


def add_offer_options(parser: ArgumentParser) -> None:
    """Add the options that say what may be spent, or how wrong the answer may be."""
    offer = parser.add_argument_group("what is offered")
    offer.add_argument("--epsilon", metavar="E", help="alone: pure privacy")
    offer.add_argument("--delta", metavar="D", help="with --epsilon: permits normal noise")
    offer.add_argument("--rho", metavar="R", help="instead: zero-concentrated privacy")
    offer.add_argument(
        "--error",
        action="append",
        metavar="OUTPUT=MARGIN",
        help="instead: the cost that keeps the output within the margin; may be repeated",
    )
    offer.add_argument("--confidence", default="0.95", metavar="C", help="of intervals and margins (0.95)")
    offer.add_argument(
        "--split",
        action="append",
        metavar="OUTPUT=SHARE",
        help="divide the offer by these shares, one for every output; by default the errors are balanced",
    )
    add_fit_options(offer)
    offer.add_argument("--analyst", default="", metavar="NAME", help="who asks, for caps per analyst")


def add_fit_options(group: _ArgumentGroup) -> None:
    """Add the options for limits and bounds of this question alone."""
    group.add_argument(
        "--limits",
        metavar="N",
        help="at most N rows of each person, fewer than declared; auto buys the number that suits",
    )
    group.add_argument(
        "--bounds", choices=("auto",), help="buy the bounds of columns for which none are declared"
    )


def question_of(options: Namespace) -> str:
    """Return the question as it was typed, or read it from the input."""
    if options.question != "-":
        return str(options.question)
    try:
        text = sys.stdin.read(MOST_QUESTION_CHARACTERS + 1)
    except ValueError:
        raise ParameterError("question", "is not text", "SQL in UTF-8") from None
    if len(text) > MOST_QUESTION_CHARACTERS:
        raise ParameterError("question", "is too long", f"at most {MOST_QUESTION_CHARACTERS} characters")
    return text


def offer_of(options: Namespace) -> dict[str, Any]:
    """Return what `Curator.request` takes in addition to the question."""
    error = _pairs(options.error, "error")
    given = {name: getattr(options, name) for name in ("epsilon", "delta", "rho")}
    if error and any(value is not None for value in given.values()):
        raise ParameterError("error", "is given together with an offer", "an error or an offer")
    if not error and given["epsilon"] is None and given["rho"] is None:
        raise ParameterError("epsilon", "is missing", "--epsilon E, --rho R or --error OUTPUT=MARGIN")
    return {
        **{name: value for name, value in given.items() if value is not None},
        **({"error": error} if error else {}),
        **({"split": split} if (split := _pairs(options.split, "split")) else {}),
        **fits_of(options),
        "confidence": options.confidence,
    }


def fits_of(options: Namespace) -> dict[str, Any]:
    """Return the limits and bounds of this question alone, as `Curator.explain` takes them, too."""
    from discreet.data import AUTO, Limits

    given: dict[str, Any] = {} if options.bounds is None else {"bounds": AUTO}
    typed = options.limits
    if typed is None:
        return given
    if typed != AUTO.value and not (typed.isascii() and typed.isdecimal()):
        raise ParameterError("limits", "are neither a number of rows nor auto", "such as 8, or auto")
    return {**given, "limits": AUTO if typed == AUTO.value else Limits(rows=int(typed))}


def cost(event: Event) -> str:
    """Write what an event costs: a pure epsilon, else a rho, else an epsilon with its delta; rounded up."""
    if event.pure_epsilon is not None:
        return f"epsilon {above(event.pure_epsilon)}"
    if event.concentrated_rho is not None:
        return f"rho {above(event.concentrated_rho)}"
    from discreet.accounting.filters import Odometer
    from discreet.privacy.neighbors import ADD_REMOVE_PERSON

    alone = Odometer(neighbors=event.neighbors or ADD_REMOVE_PERSON).add(event)
    if alone.epsilon is None:
        return "what its event says"
    return f"epsilon {above(alone.epsilon)} and delta {above(alone.delta)}"


def _pairs(typed: list[str] | None, name: str) -> dict[str, str]:
    """Read OUTPUT=NUMBER, each output once."""
    found: dict[str, str] = {}
    for pair in typed or ():
        output, equals, number = pair.rpartition("=")
        if not equals or not output or output in found:
            raise ParameterError(name, "is not a pair, or names an output twice", "OUTPUT=NUMBER, as in n=10")
        found[output] = number
    return found
