"""The largest integral of weights over all data that moves lead to, by going through the values in order.

It knows no family of data: at each value of x it is decided whether the value is removed, and how many are
added there; between two values the level stays, and so does its weight.
"""

from __future__ import annotations

from fractions import Fraction


def largest(weights, values, upper, added, removed):
    """Return the maximum between the bounds 0 and `upper`.

    `weights` has one number for each level from 0 to n + added - removed.
    """
    found = {(more, 0): Fraction(0) for more in range(added + 1)}  # (added, removed) so far, to the integral
    times = [0, *values, upper]
    for index in range(len(values) + 1):
        width = times[index + 1] - times[index]
        after = {}
        for (more, fewer), before in found.items():
            level = index + more - fewer
            if level >= len(weights):
                continue
            total = before + weights[level] * width
            goes = (fewer, fewer + 1) if index < len(values) else (fewer,)
            for gone in goes:
                for joined in range(more, added + 1):
                    if gone <= removed and after.get((joined, gone), total) <= total:
                        after[joined, gone] = total
        found = after
    return max(total for (more, fewer), total in found.items() if more <= added - removed + fewer)
