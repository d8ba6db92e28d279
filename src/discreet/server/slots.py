"""Answers leave at fixed times after their question came, so that a clock at the client sees little.

How long an engine works depends on the data. Where an answer, or a refusal after a charge, leaves at the next
multiple of a public time, a client learns in which slot the work ended, and nothing if all work ends in the
first. This is a mitigation and not a guarantee: work near the end of a slot falls into one or the other.
Unlike random delays it cannot be averaged away within a slot.
"""

from __future__ import annotations

import asyncio
from math import ceil

__all__ = ["slot_after", "until_slot"]


def slot_after(elapsed: float, width: float) -> int:
    """Return the number of the first slot that ends at or after a time; at least 1.

    Examples
    --------
    >>> slot_after(0.0, 0.5), slot_after(0.5, 0.5), slot_after(0.51, 0.5)
    (1, 1, 2)
    """
    return max(1, ceil(elapsed / width))


async def until_slot(began: float, width: float) -> int:
    """Wait until the current slot ends; return its number.

    Parameters
    ----------
    began : float
        When the question came, by the clock of the event loop.
    width : float
        Of a slot, in seconds.
    """
    loop = asyncio.get_running_loop()
    number = slot_after(loop.time() - began, width)
    await asyncio.sleep(max(0.0, began + number * width - loop.time()))
    return number
