"""``--log``: one line for every charge, in a file or on the error stream.

What a line says is public (`curator.budget.charge_log`): the entry, the analyst, tables with their versions,
the cost; no question, and no value.
"""

from __future__ import annotations

import logging
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["add_log_option", "logging_charges"]

_FORM = "%(asctime)s %(message)s"


def add_log_option(parser: ArgumentParser) -> None:
    """Add the option that says where lines go."""
    parser.add_argument(
        "--log",
        metavar="FILE",
        help="append one line for every charge to this file, without any question or value; - for errors",
    )


@contextmanager
def logging_charges(place: str | None) -> Iterator[None]:
    """Have the lines of all charges within written to a file, or to the error stream if it is ``-``.

    The file is opened before anything is charged: one that cannot be written refuses the command.
    """
    if place is None:
        yield
        return
    handler = logging.StreamHandler() if place == "-" else logging.FileHandler(place, encoding="utf-8")
    handler.setFormatter(logging.Formatter(_FORM))
    logger = logging.getLogger("discreet")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)
        handler.close()
