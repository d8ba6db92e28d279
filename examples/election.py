"""An election whose exact result is private.

Everybody casts one vote. Whoever learns the counts learns, with all other votes known, the last one; even
the name of the winner may hang on one vote. But where the winner leads by more than a few votes, no
single voter could have changed the name, nor could a small group. So a coin decides, whose chances grow
with the lead: it either lets the winner's name out, exactly, or nothing. The exponential mechanism always
names somebody, and sometimes the wrong one.

Run with ``python examples/election.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from math import exp

from picture import save

from discreet.figures import Axes, draw_curve, label_axes, next_style, panels
from discreet.mechanisms import Exponential
from discreet.mechanisms.adaptive.no_answer import NO_ANSWER
from discreet.mechanisms.adaptive.stable_selection import StableArgmax, StableTopK

EPSILON, DELTA = 1, 1e-6
CANDIDATES = ["Ada", "Bo", "Cem", "Dai"]
CLEAR = [4120, 3410, 1280, 1190]
CLOSE = [3412, 3410, 1989, 1189]

WINNER = StableArgmax(sensitivity=1, epsilon=EPSILON, delta=DELTA, monotone=True)
FINALISTS = StableTopK(k=2, sensitivity=1, epsilon=EPSILON, delta=DELTA, monotone=True)
ANYBODY = Exponential(sensitivity=1, epsilon=EPSILON, monotone=True)


def named(answer: object) -> str:
    """Return the names behind an answer."""
    if answer is NO_ANSWER:
        return "no answer"
    indices = [answer] if isinstance(answer, int) else answer
    return " and ".join(CANDIDATES[index] for index in indices)  # type: ignore[attr-defined]


def wrong(lead: int, candidates: int) -> float:
    """Return how often the exponential mechanism names another, where all others are level behind."""
    weight = (candidates - 1) * exp(-float(ANYBODY.rate) * lead)
    return weight / (1 + weight)


def comparison(leads: tuple[int, ...] = (1, 5, 10, 15, 20, 28)) -> list[tuple[float, ...]]:
    """Return, for each lead, how often no winner is named, and how often a wrong one is."""
    return [(lead, WINNER.error_at(lead=lead), wrong(lead, 2), wrong(lead, 10**6)) for lead in leads]


def plot() -> Axes:
    """Draw how often the stable choice is silent, and the exponential mechanism wrong, over the lead."""
    (ax,) = panels(None)
    rows = comparison(tuple(range(1, 28)))
    names = ("stable: no answer", "exponential, 2 candidates: wrong", "exponential, 1,000,000: wrong")
    for place, name in enumerate(names, start=1):
        draw_curve(ax, [row[0] for row in rows], [row[place] for row in rows], next_style(ax), label=name)
    ax.set(yscale="log", ylim=(1e-8, 2))
    title = f"Who won? epsilon = {EPSILON}, delta = {DELTA:g}"
    return label_axes(ax, x="lead of the winner, in votes", y="probability", title=title)


def main(folder: str | None = None) -> None:
    """Count two elections and compare."""
    print(f"One vote for everybody, epsilon = {EPSILON}, delta = {DELTA:g}\n{WINNER.guarantee.statement}\n")
    for words, votes in (("clear", CLEAR), ("close", CLOSE)):
        print(f"A {words} election")
        print(f"  winner, exact or nothing:     {named(WINNER.release(votes))}")
        print(f"  two finalists, as a set:      {named(FINALISTS.release(votes))}")
        print(f"  by the exponential mechanism: {named(ANYBODY.release(votes))}\n")
    print(f"A lead of {WINNER.lead_for(0.95):.0f} votes is enough for an answer 95 times in 100, and one of")
    print(f"{WINNER.lead_for(1):.0f} is always enough, however many candidates there are.\n")
    print(f"{'':>6} {'stable:':>12} {'exponential, wrong winner:':>30}")
    print(f"{'lead':>6} {'no answer':>12} {'2 candidates':>15} {'1,000,000':>14}")
    for lead, silent, few, many in comparison():
        print(f"{lead:>6} {silent:>12.2g} {few:>15.2g} {many:>14.2g}")
    save(plot, "election", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
