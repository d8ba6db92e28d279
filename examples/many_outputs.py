"""How the error of a private choice grows with the number of outputs.

A best one of n outputs is wanted. One person may move every score by 1. Noise on all scores has to hide all
these moves together, so it grows with n; the exponential mechanism, permute-and-flip and noise of which only
the winner is shown grow with log n. And where several outputs are known to be best, such as the rotations of
a round table, the accuracy is that of n divided by their number.

Run with ``python examples/many_outputs.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from fractions import Fraction

from picture import save

from discreet.figures import Axes, draw_curve, label_axes, next_style, panels
from discreet.mechanisms import Exponential, PermuteAndFlip, ReportNoisyMax

EPSILON, CONFIDENCE = Fraction(1), Fraction(19, 20)
OUTPUTS = tuple(2**power for power in range(1, 17))


def shortfalls(outputs: int) -> dict[str, float]:
    """Return by how much the chosen score falls short of the best with 95%, for each mechanism."""
    exponential = Exponential(sensitivity=1, epsilon=EPSILON)
    # Noise of scale n / epsilon on every score: that of report-noisy-max for 2 epsilon / n.
    all_scores = ReportNoisyMax(sensitivity=1, epsilon=2 * EPSILON / outputs)
    return {
        "noise on all scores": all_scores.error.quantile(CONFIDENCE, candidates=outputs),
        "noise, only the winner shown": ReportNoisyMax(sensitivity=1, epsilon=EPSILON).error.quantile(
            CONFIDENCE, candidates=outputs
        ),
        "exponential mechanism": exponential.error.quantile(CONFIDENCE, candidates=outputs),
        "  textbook: 2 log(n / beta)": exponential.error.textbook_bound(CONFIDENCE, candidates=outputs),
        "  half of the outputs are best": exponential.error_with(optima=max(outputs // 2, 1)).quantile(
            CONFIDENCE, candidates=outputs
        ),
        "permute-and-flip": PermuteAndFlip(sensitivity=1, epsilon=EPSILON).error.quantile(
            CONFIDENCE, candidates=outputs
        ),
    }


def plot(errors: dict[int, dict[str, float]]) -> Axes:
    """Draw every error over the number of outputs."""
    (ax,) = panels(None)
    for name in errors[OUTPUTS[0]]:
        line = [errors[outputs][name] for outputs in OUTPUTS]
        draw_curve(ax, OUTPUTS, line, next_style(ax), label=name.strip())
    ax.set(xscale="log", yscale="log")
    title = f"Which of n outputs? epsilon = {float(EPSILON):g}"
    return label_axes(ax, x="number of outputs, n", y="score lost with 95%", title=title)


def main(folder: str | None = None) -> None:
    """Print the errors and draw them."""
    errors = {outputs: shortfalls(outputs) for outputs in OUTPUTS}
    shown = OUTPUTS[::5]
    print("score lost with 95%, epsilon = 1" + "".join(f"{f'n = {n}':>12}" for n in shown))
    for name in errors[OUTPUTS[0]]:
        print(f"{name:<32}" + "".join(f"{errors[n][name]:>12.1f}" for n in shown))
    save(lambda: plot(errors), "many_outputs", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
