"""A classroom survey in which no one has to trust the teacher.

"Have you ever copied homework?" Every student tosses two coins in secret and answers
accordingly. The teacher, who plays the server, sees the answers and never the truth; no single
answer proves anything, and still the proportion in the room can be estimated.

Run with ``python examples/survey.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys

import numpy as np
from picture import save

from discreet.figures import Axes, draw_curve, label_axes, next_style, panels
from discreet.mechanisms.local.randomized_response import RandomizedResponse

STUDENTS, GUILTY = 2000, 600
COINS = RandomizedResponse.two_coins()


def students() -> np.ndarray:
    """Each student's side: the truth goes in, and only a randomized answer leaves."""
    truth = np.arange(STUDENTS) < GUILTY
    return COINS.release(truth.astype(int))


def teacher(answers: np.ndarray) -> tuple[float, float, float]:
    """The server's side: from the answers alone, an estimate and a 95% interval."""
    estimate = COINS.estimate(answers)
    interval = estimate.interval(0.95)
    return estimate.proportions[1], interval.lower[1], interval.upper[1]


def plot() -> Axes:
    """Draw how wrong the teacher's guess may be, over the number of students."""
    (ax,) = panels(None)
    sizes = [50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000]
    for name, coins in (
        ("two fair coins, epsilon = ln 3", COINS),
        ("epsilon = 0.5", RandomizedResponse(epsilon=0.5)),
        ("epsilon = 3", RandomizedResponse(epsilon=3)),
    ):
        line = [100 * coins.error.quantile(0.95, people=people) for people in sizes]
        draw_curve(ax, sizes, line, next_style(ax), label=name, marked=True)
    ax.set(xscale="log", yscale="log")
    title = "No one has to trust the teacher: what that costs"
    return label_axes(ax, x="students", y="± of the proportion at 95%, in points", title=title)


def main(folder: str | None = None) -> None:
    """Tell the story of one survey."""
    print('"Have you ever copied homework?" Toss a coin. Heads: tell the truth. Tails: toss again,')
    print("and say yes on heads, no on tails. Nobody sees the coins.\n")
    print(f"What a student risks:  epsilon = ln 3 = {COINS.epsilon:.4f}, against everyone, teacher included.")
    print("  A yes is at most 3 times as likely from someone who did as from someone who did not.")
    planned = COINS.error.quantile(0.95, people=STUDENTS)
    print(f"Known before asking:   with {STUDENTS} students, the error stays within {planned:.1%} (95%).\n")

    answers = students()
    print(f"What is sent:          {' '.join('yes' if answer else 'no' for answer in answers[:12])} ...")
    print(f"Answers yes:           {answers.mean():.1%}, a mixture of truth and coins")
    estimate, lower, upper = teacher(answers)
    print(
        f"The teacher's guess:   {estimate:.1%}, and between {lower:.1%} and {upper:.1%} with 95% confidence"
    )
    print(f"Never sent to anyone:  {GUILTY / STUDENTS:.1%}, the truth\n")

    print("How much privacy would an answer within 5 points (95%) cost?")
    for people in (500, 2000, 100_000):
        needed = RandomizedResponse.for_error(0.05, people=people)
        print(
            f"  {people:>7,} students: epsilon = {needed.epsilon:.3f}, truth with {float(needed.truth):.1%}"
        )
    save(plot, "survey", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
