"""Where the pictures of the examples go: into a folder of yours, never into this one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from discreet.errors import MissingExtra
from discreet.figures import Axes

__all__ = ["save"]


def save(draw: Callable[[], Axes | Sequence[Axes]], name: str, folder: str | Path | None = None) -> None:
    """Draw a picture, save it and say where; without matplotlib, say what to install.

    Parameters
    ----------
    draw : function
        Makes the figure, and returns its axes or one of them.
    name : str
        Of the file, without its ending.
    folder : path, optional
        Where to save it; by default in a new temporary folder.
    """
    os.environ.setdefault("MPLBACKEND", "Agg")
    try:
        drawn = draw()
    except MissingExtra as missing:
        print(f"\n(no picture: {missing})")
        return
    from matplotlib import pyplot

    figure = (drawn[0] if isinstance(drawn, Sequence) else drawn).figure.figure
    place = Path(folder or tempfile.mkdtemp(prefix="discreet-examples-"))
    place.mkdir(parents=True, exist_ok=True)
    figure.savefig(place / f"{name}.png", dpi=120)
    pyplot.close(figure)
    print(f"\nPicture: {place / name}.png")
