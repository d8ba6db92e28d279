"""Planted secrets: what a model remembers of one line that it has seen, with and without privacy.

One person's line, "the code is" and six random digits, is planted among made-up sentences. Carlini et al.
(2019) ask how far those digits stand out among all million codes that might have been there: the exposure, in
bits, exactly by rank. A small character model is trained plainly and with `learning.private`, several times
each with a new secret, in the nine ways of their table: from strong privacy to gradients that are shortened
without noise. A table is attacked too: counts of pairs of columns, in which one row has rare values.

Run with ``python examples/planted_secrets.py``, and a folder for the picture if you like. Needs PyTorch.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import torch
from character_model import CONTEXT, LETTERS, coded, losses, sentence, trained
from picture import save
from torch import nn

from discreet.audit import Exposure, rank_exposure
from discreet.figures import Axes, draw_points, group_places, label_axes, next_style, panels
from discreet.mechanisms import Laplace

PREFIX = "the code is "
DIGITS = 6
LINES, EPOCHS = 400, 30
EVERY = 5  # epochs between two looks at a model
WAYS = [("RMSprop", epsilon) for epsilon in (0.65, 1.21, 5.26, 89, 1e4, 1e6)]
WAYS += [("SGD", inf), ("SGD", None), ("RMSprop", None)]
"""The nine rows; published with 2e8 and 1e9 in place of 1e4 and 1e6, which is hardly any noise here."""
FOUND = 100  # codes that somebody tries before they give up


@torch.no_grad()
def text_exposure(model: nn.Module, secret: str) -> Exposure:
    """Rank the secret among all codes, by the loss of their digits: exactly, digit by digit."""
    start = [LETTERS.index(one) for one in PREFIX]
    total, contexts = torch.zeros(1), torch.tensor([start[-CONTEXT:]])
    for _ in range(DIGITS):
        logs = -torch.log_softmax(model(contexts), 1)[:, -10:]
        total = (total[:, None] + logs).flatten()
        digits = torch.arange(len(LETTERS) - 10, len(LETTERS)).repeat(len(contexts))
        contexts = torch.cat([contexts.repeat_interleave(10, 0)[:, 1:], digits[:, None]], 1)
    values = total.double().numpy()
    return rank_exposure(values[int(secret)], np.delete(values, int(secret)))


def text_runs(
    way: str, epsilon: float | None, runs: int, epochs: int = EPOCHS
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each run, the exposure of a new secret every few epochs, and the loss of new lines."""
    found, fresh = [], []
    for run in range(runs):
        source = np.random.default_rng(run)
        secret = "".join(map(str, source.integers(0, 10, DIGITS)))
        lines = [sentence(source) for _ in range(LINES - 1)] + [f"{PREFIX}{secret}."]
        kept = []
        for epoch, model in enumerate(trained(way, epsilon, lines, epochs), 1):
            if epoch % EVERY == 0 or epoch == epochs:
                kept.append(text_exposure(model, secret).bits)
        found.append(kept)
        with torch.no_grad():
            new = coded([sentence(source) for _ in range(200)])
            fresh.append(float(losses(model, *new).mean()))
    return np.array(found), np.array(fresh)


def table_exposure(epsilon: float | None, source: np.random.Generator) -> Exposure:
    """Plant a row of six rare values in a table of pairs of columns, and rank it among all such rows."""
    rows = source.integers(0, 5, (1000, 6))
    rows[0] = secret = source.integers(5, 10, 6)
    counts = np.zeros((5, 10, 10), np.int64)
    for place in range(5):
        np.add.at(counts[place], (rows[:, place], rows[:, place + 1]), 1)
    if epsilon is not None:  # a person is in one cell of each of the five tables
        counts = Laplace(sensitivity=5, epsilon=epsilon, size=counts.size).release(counts.ravel())
    seen = np.maximum(np.asarray(counts, float).reshape(5, 10, 10), 0) + 0.5
    logs = np.log(seen / seen.sum(axis=2, keepdims=True))
    perplexities = np.zeros((5,) * 6)
    for place in range(5):
        shape = [5 if axis in (place, place + 1) else 1 for axis in range(6)]
        perplexities -= logs[place, 5:, 5:].reshape(shape)
    chosen = np.ravel_multi_index(tuple(secret - 5), perplexities.shape)
    return rank_exposure(perplexities.flat[chosen], np.delete(perplexities, chosen))


@dataclass(frozen=True)
class Row:
    """What was seen of one way to train."""

    name: str
    exposures: np.ndarray
    """In bits, by run and, of a text, by epoch."""
    fresh: float | None
    """The mean loss of lines that were not trained on; a table has none."""
    codes: int
    """How many secrets there might have been."""

    @property
    def last(self) -> np.ndarray:
        """The exposures at the end."""
        return self.exposures[:, -1]

    @property
    def extracted(self) -> int:
        """In how many runs whoever tries the likeliest secrets first soon finds the planted one."""
        return int((self.last >= np.log2(self.codes / FOUND)).sum())


def named(what: str, epsilon: float | None) -> str:
    """Return the name of a row."""
    if epsilon is None:
        return f"{what}, no privacy"
    return f"{what}, clipped, no noise" if epsilon == inf else f"{what}, epsilon {epsilon:g}"


def study(runs: int = 5, ways: Sequence[tuple[str, float | None]] = tuple(WAYS)) -> list[Row]:
    """Return a row for each way to train, and for tables."""
    rows = []
    for way, epsilon in ways:
        exposures, fresh = text_runs(way, epsilon, runs)
        rows.append(Row(named(way, epsilon), exposures, float(fresh.mean()), 10**DIGITS))
    for epsilon in (None, 0.5, 2.0, 8.0):
        bits = [[table_exposure(epsilon, np.random.default_rng(run)).bits] for run in range(4 * runs)]
        rows.append(Row(named("table", epsilon), np.array(bits), None, 5**6))
    return rows


def plot(rows: list[Row]) -> list[Axes]:
    """Draw exposure by way of training, and of texts over epochs, with deviations over runs."""
    drawn = panels(None, 2, size=(7.0, 9.0))  # for names as long as these
    places = group_places(drawn[0], [row.name for row in rows])
    means, spread = [row.last.mean() for row in rows], [float(row.last.std()) for row in rows]
    draw_points(drawn[0], places, means, next_style(drawn[0]), spread=spread, label=None)
    label_axes(drawn[0], x="", y="exposure, bits", title="Exposure of a planted secret")
    for row in rows:
        if row.exposures.shape[1] > 1:
            epochs, means = EVERY * np.arange(1, row.exposures.shape[1] + 1), row.exposures.mean(axis=0)
            draw_points(drawn[1], epochs, means, next_style(drawn[1]), spread=None, label=row.name)
    label_axes(drawn[1], x="epochs", y="exposure, bits", title="Over epochs")
    return drawn


def main(folder: str | None = None) -> None:
    """Print the exposure for every way to train, and draw it."""
    rows = study()
    head = f"{'new lines':>9} {'exposure':>9} {'error':>6} {'least':>6} {'most':>6}  extracted"
    print(f"{'trained by':<24} {head}")
    for row in rows:
        error = row.last.std(ddof=1) / np.sqrt(len(row.last)) if len(row.last) > 1 else 0.0
        fresh = "" if row.fresh is None else f"{row.fresh:.2f}"
        bits = f"{row.last.mean():>9.2f} {error:>6.2f} {row.last.min():>6.2f} {row.last.max():>6.2f}"
        print(f"{row.name:<24} {fresh:>9} {bits}  {row.extracted} of {len(row.last)}")
    print(
        "A code has 19.93 bits, a row of the table 13.93; what was never seen has 1.44 on average. Extracted:"
    )
    print(f"among the {FOUND} likeliest, which a search finds at once. New lines: their loss.")
    save(lambda: plot(rows), "planted_secrets", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
