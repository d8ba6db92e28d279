"""Fresh releases at one input, many at a time where a mechanism allows it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from discreet.audit.outputs import behind, observe, output_key
from discreet.noise.entropy import Source, current, using
from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

__all__ = ["Auditable", "Sample", "additive_event", "collect", "draw", "draws_elsewhere", "is_batched"]

_WATCHED = 20


class Auditable(Protocol):
    """What can be audited: anything with a `release`."""

    def release(self, value: Any, /) -> Any:
        """Return one private answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Outputs of one mechanism at one input.

    Attributes
    ----------
    values : array or None
        The outputs as numbers, one row each, where all of them are numbers of one kind and shape.
    keys : list or None
        Otherwise, their keys (see `outputs`).
    """

    values: NDArray[Any] | None
    keys: list[Hashable] | None

    @property
    def size(self) -> int:
        """How many outputs there are."""
        return len(self.values) if self.values is not None else len(self.keys or ())

    def counts(self) -> dict[Hashable, int]:
        """Return how often each output occurred, by its key."""
        if self.values is None:
            return dict(Counter(self.keys or ()))
        found, numbers = np.unique(self.values, axis=0, return_counts=True)
        rows = found.tolist() if found.ndim == 1 else [row.copy() for row in found]  # a view shows more
        return {output_key(row): int(number) for row, number in zip(rows, numbers, strict=True)}


def additive_event(mechanism: object) -> DiscreteLaplace | DiscreteGaussian | RoundedGaussian | None:
    """Return the event of a mechanism that adds discrete noise to its input, else None."""
    event = getattr(mechanism, "event", None)
    return event if isinstance(event, DiscreteLaplace | DiscreteGaussian | RoundedGaussian) else None


def is_batched(mechanism: object, value: object) -> bool:
    """Return whether one release of a long array is as good as many releases.

    So it is where the event says that any number of values get independent noise.
    """
    event = additive_event(mechanism)
    if event is None or event.size is not None or isinstance(value, bool):
        return False
    return isinstance(value, int | float) or (isinstance(value, np.ndarray) and value.ndim == 1)


def draw(mechanism: Auditable, value: object, count: int) -> Sample:
    """Return `count` fresh releases of one value."""
    if is_batched(mechanism, value):
        row = np.atleast_1d(np.asarray(value))
        released = observe(mechanism.release, np.tile(row, count))
        if isinstance(released, np.ndarray) and released.shape == (count * len(row),):
            shape = (count, len(row)) if isinstance(value, np.ndarray) else (count,)
            return Sample(values=released.reshape(shape), keys=None)
    return collect([observe(mechanism.release, value) for _ in range(count)])


def collect(outputs: Sequence[object]) -> Sample:
    """Gather outputs into one array if they are numbers of one kind and shape."""
    kinds = {_kind(output) for output in outputs}
    if len(kinds) == 1 and None not in kinds:
        if isinstance(outputs[0], np.ndarray):
            return Sample(values=np.stack(cast("list[NDArray[Any]]", outputs)), keys=None)
        try:
            return Sample(values=np.array(outputs), keys=None)
        except OverflowError:
            pass
    return Sample(values=None, keys=[output_key(output) for output in outputs])


def _kind(output: object) -> tuple[object, ...] | None:
    if isinstance(output, bool | np.bool_):
        return None
    if isinstance(output, int | np.integer):
        return ("i",) if abs(int(output)) < 1 << 62 else None
    if isinstance(output, float | np.floating):
        return ("f",) if np.isfinite(output) else None
    if isinstance(output, np.ndarray) and output.ndim == 1 and output.dtype.kind in "if":
        plain = np.isfinite(output).all() and behind(output) is None
        return (output.dtype.name, output.shape) if plain else None
    return None


def draws_elsewhere(mechanism: Auditable, value: object) -> bool:
    """Return whether releases read nothing from the source of the noise package.

    What varies all the same comes from a generator of the mechanism's own, or of its module.
    """
    watched = _Watched(current())
    with using(watched):
        for _ in range(_WATCHED):
            observe(mechanism.release, value)
            if watched.was_read:
                return False
    return True


class _Watched(Source):
    """A source that hands on the words of another, and remembers that it was asked."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.was_read = False

    def words(self, size: int) -> NDArray[np.uint64]:
        self.was_read = True
        return self._source.words(size)
