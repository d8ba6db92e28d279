"""Tables of the discrete Gaussian: every sum and quotient is rounded to its own side."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from discreet.noise import gaussian
from discreet.noise.gaussian import block_table, single_table, tabulated_count


@pytest.mark.parametrize("tabulate", ["single", "block"])
def test_masses_enclose_what_follows_from_either_end(monkeypatch, tabulate):
    """Every weight is either end of an enclosure far wider than guard bits could hide."""
    bits, guard, variance = 64, gaussian._GUARD_BITS, Fraction(1)
    table = (
        single_table.__wrapped__(variance) if tabulate == "single" else block_table.__wrapped__(variance, 0)
    )
    honest = gaussian.weight_series

    def wide(curvature, count, working):
        kept, rest = honest(curvature, count, working)
        return [(max(low - (1 << 40), 0), above + (1 << 40)) for low, above in kept], (
            rest[0],
            rest[1] + (1 << 50),
        )

    monkeypatch.setattr(gaussian, "weight_series", wide)
    curvature = 1 / (2 * variance)
    kept, rest = wide(curvature, tabulated_count(curvature), bits + guard)
    items = [*kept, rest]
    times = [2] * len(items)
    if tabulate == "single":
        times[0] = 1
    enclosures = table._masses(bits)
    places = [place for place, count in enumerate(times[:-1]) for _ in range(count)]
    for own, others in product((0, 1), repeat=2):
        ends = [count * item[others] for count, item in zip(times, items, strict=True)]
        for (low, above), place in zip(enclosures, [*places, len(items) - 1], strict=True):
            total = sum(ends) - ends[place] + times[place] * items[place][own]
            mass = Fraction(items[place][own] * (2 if place == len(items) - 1 else 1), total)
            assert low <= mass * 2**bits <= above
