"""The salt of a release: the secret by which rows of persons over the limit are sampled."""

from __future__ import annotations

from dataclasses import field

from discreet.noise.entropy import current
from discreet.records import dataclass

__all__ = ["Salt", "fresh_salt"]

_BITS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Salt:
    """A secret that decides which rows of a person over the limit are used. It is never shown.

    Every salt gives the same sensitivity, so privacy does not rest on it; a secret and random one makes the
    sample fair, and keeps people from choosing their rows so that wanted ones are drawn.
    """

    value: str = field(repr=False)


def fresh_salt() -> Salt:
    """Draw a salt, one for each release. The same salt gives the same sample."""
    return Salt(value=f"{current().bits(_BITS):0{_BITS // 4}x}")
