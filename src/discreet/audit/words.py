"""The exact law of one decision, read from its own behavior.

A `Decision` maps a uniform real number U in [0, 1) to an outcome. Its law is found here by
running it on chosen numbers, never from its formula: the decision says into how many equal
blocks of [0, 1) its rule is cut, inside each of which the numbers with a given outcome
form an interval. Two points of a block with equal outcomes therefore enclose no other
outcome, and bisection finds every border to one unit of 2^-bits. What lies inside those
units is left undecided, and is counted.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from discreet.noise.entropy import Source
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.noise.entropy import Decision

__all__ = ["NotEnumerable", "WordLaw", "word_law"]

MOST_PIECES = 1 << 13
"""Outcomes beyond which a decision is not enumerated."""

_WORD = 1 << 64
_LONGEST = 1 << 13
_CACHED = 4096

Outcome = int | None
"""None stands for a number on which the decision draws again, or asks for bits without end."""


class NotEnumerable(Exception):
    """The law of a mechanism cannot be enumerated; the message says why."""


class _Deeper(Exception):
    """A decision drew another uniform number, or never came to an end."""


class _Digits(Source):
    """The bits of given numbers after their first word: 64 for each number in turn, then zeros."""

    def __init__(self, digits: list[int]) -> None:
        self._digits = digits
        self.asked = 0

    def words(self, size: int) -> NoReturn:
        raise _Deeper

    def decide(self, decision: Decision, size: int) -> NoReturn:
        raise _Deeper

    def bits(self, count: int) -> int:
        digit = self._digits[self.asked] if self.asked < len(self._digits) else 0
        self.asked += 1
        if self.asked * count > _LONGEST + 64 * len(self._digits):
            raise _Deeper
        return digit << (count - 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLaw(Record):
    """The law of one decision, in units of 2^-bits.

    Attributes
    ----------
    bits : int
        The resolution.
    pieces : tuple of (first, last, outcome)
        Intervals on which the outcome is certain: from the number first / 2^bits up to
        last / 2^bits. Between two pieces lies one undecided unit. An outcome of None marks
        numbers on which the decision draws again.
    masses : dict
        A lower bound on the mass of every outcome.
    undecided : int
        The rest: masses and undecided sum to 2^bits.
    """

    bits: int
    pieces: tuple[tuple[int, int, Outcome], ...]
    masses: dict[int, int] = field(init=False)
    undecided: int = field(init=False)
    ranked: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        masses: dict[int, int] = {}
        for first, last, outcome in self.pieces:
            if outcome is not None and last > first:
                masses[outcome] = masses.get(outcome, 0) + last - first
        self._amend(
            masses=masses,
            undecided=(1 << self.bits) - sum(masses.values()),
            ranked=tuple(sorted(masses, key=lambda o: (-masses[o], o))),
        )


def word_law(decision: Decision, lane: int = 0, *, bits: int = 128) -> WordLaw:
    """Return the law of one lane of a decision, found by running it.

    Parameters
    ----------
    decision : Decision
        The rule, with its promise `blocks`.
    lane : int
        Which lane, for rules that differ from lane to lane.
    bits : int
        The resolution, from 64 to 128: every border is found to one unit of 2^-bits.

    Raises
    ------
    NotEnumerable
        When the decision does not state its blocks or has more than `MOST_PIECES` outcomes.
    """
    key = (_fingerprint(decision), bits)
    _, laws = _cache.setdefault(key, (decision, {}))
    _cache.move_to_end(key)
    while len(_cache) > _CACHED:
        _cache.popitem(last=False)
    if lane not in laws:
        # Lanes of a table are alike. Whether this one is, its own outcomes at the ends prove.
        known = next((law for law in laws.values() if _certified(decision, lane, law)), None)
        laws[lane] = known or _discover(decision, lane, bits)
    return laws[lane]


_cache: OrderedDict[object, tuple[Decision, dict[int, WordLaw]]] = OrderedDict()


def _fingerprint(thing: object) -> object:
    """Return a key that two decisions share only if they behave alike.

    Arrays and numbers count by content, other objects by their attributes, and all else by
    identity (the cache keeps the decision, so that no identity is used twice).
    """
    if isinstance(thing, int | float | str | Fraction | np.generic):
        return type(thing), thing
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes()
    if hasattr(thing, "__dict__") and not callable(thing):
        return type(thing), tuple((name, _fingerprint(value)) for name, value in vars(thing).items())
    return id(thing)


def _discover(decision: Decision, lane: int, bits: int) -> WordLaw:
    """Find the law by bisection, in batches where the lanes turn out to be alike."""
    blocks = getattr(decision, "blocks", None)
    if not isinstance(blocks, int) or blocks < 1 or blocks & (blocks - 1):
        raise NotEnumerable("a decision does not say into how many blocks its rule is cut")
    if blocks > MOST_PIECES:
        raise NotEnumerable(f"a decision has more than {MOST_PIECES} outcomes")
    spare = 128 - bits

    def single(points: list[int]) -> list[Outcome]:
        return [_outcome(decision, lane, point << spare) for point in points]

    def together(points: list[int]) -> list[Outcome]:
        return _outcomes(decision, lane, [point << spare for point in points])

    if blocks > 1:
        law = WordLaw(bits=bits, pieces=_pieces(together, blocks, bits))
        if _certified(decision, lane, law):
            return law
    return WordLaw(bits=bits, pieces=_pieces(single, blocks, bits))


def _certified(decision: Decision, lane: int, law: WordLaw) -> bool:
    """Run the decision on both ends of every piece: equal outcomes there prove the piece."""
    spare = 128 - law.bits
    return all(
        _outcome(decision, lane, point << spare) == outcome
        for first, last, outcome in law.pieces
        for point in {first, last}
    )


def _outcome(decision: Decision, lane: int, point: int) -> Outcome:
    """Run the decision on the number point / 2^128."""
    word = np.array([point >> 64], np.uint64)
    try:
        return int(decision.outcomes(word, lane, _Digits([point % _WORD]))[0])
    except _Deeper:
        return None


def _outcomes(decision: Decision, lane: int, points: list[int]) -> list[Outcome]:
    """Run the decision on many numbers at once, on the guess that lanes are alike.

    Nothing is believed of what this returns before `_certified` has seen it.
    """
    words = np.array([point >> 64 for point in points], np.uint64)
    digits = [point % _WORD for point in points]
    source = _Digits(digits if any(digits) else [])
    try:
        found = decision.outcomes(words, lane, source)
        if len(found) == len(points) and (not any(digits) or source.asked == len(points)):
            return [int(outcome) for outcome in found]
    except (_Deeper, IndexError, ValueError):
        pass
    if len(points) == 1:
        return [_outcome(decision, lane, points[0])]
    half = len(points) // 2
    return _outcomes(decision, lane, points[:half]) + _outcomes(decision, lane, points[half:])


def _pieces(
    evaluate: Callable[[list[int]], list[Outcome]], blocks: int, bits: int
) -> tuple[tuple[int, int, Outcome], ...]:
    """Bisect every block at once; see `WordLaw.pieces`."""
    width = (1 << bits) // blocks
    starts = [block * width for block in range(blocks)]
    ends = [start + width - 1 for start in starts]
    first, last = evaluate(starts), evaluate(ends)
    borders: list[tuple[int, Outcome, Outcome]] = []
    pending = [
        (a, at_a, b, at_b) for a, at_a, b, at_b in zip(starts, first, ends, last, strict=True) if at_a != at_b
    ]
    while pending:
        middles = evaluate([_middle(a, b, bits) for a, _, b, _ in pending])
        following = []
        for (a, at_a, b, at_b), at_middle in zip(pending, middles, strict=True):
            middle = _middle(a, b, bits)
            for half in ((a, at_a, middle, at_middle), (middle, at_middle, b, at_b)):
                if half[1] != half[3]:
                    if half[2] - half[0] == 1:
                        borders.append((half[0], half[1], half[3]))
                    else:
                        following.append(half)
        pending = following
        if len(pending) + len(borders) > MOST_PIECES:
            raise NotEnumerable(f"a decision has more than {MOST_PIECES} outcomes")
    ends_of_blocks = [(b, at_b, None) for b, at_b in zip(ends, last, strict=True)]
    pieces, start = [], 0
    for border, outcome, _ in sorted([*borders, *ends_of_blocks], key=lambda item: item[0]):
        pieces.append((start, border, outcome))
        start = border + 1
    return tuple(pieces)


def _middle(a: int, b: int, bits: int) -> int:
    """Return a number between a and b, with zeros after its first word as long as there is one."""
    if b - a <= 1 << (bits - 64):
        return (a + b) // 2
    word = 1 << (bits - 64)
    return max((a + b) // 2 // word, a // word + 1) * word
