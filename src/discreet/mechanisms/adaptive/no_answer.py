"""No answer: what a mechanism gives where the data would not bear an exact one."""

from __future__ import annotations

from typing import Final, Self

__all__ = ["NO_ANSWER", "NoAnswer"]


class NoAnswer:
    """The class of `NO_ANSWER`, which is its only instance.

    It is an output like any other, with a probability that the guarantee covers, and never an exception; it
    costs the same as an answer. It is false, so that ``if answer`` tells it from most answers; 0 and empty
    arrays are false as well, so ``answer is NO_ANSWER`` is the test that never errs.

    Examples
    --------
    >>> from discreet.mechanisms.adaptive.no_answer import NO_ANSWER, NoAnswer
    >>> NO_ANSWER, bool(NO_ANSWER), NoAnswer() is NO_ANSWER
    (NO_ANSWER, False, True)
    """

    __slots__ = ()

    _only: Self | None = None

    def __new__(cls) -> Self:
        """Return the one instance."""
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NO_ANSWER"

    def __reduce__(self) -> str:
        return "NO_ANSWER"  # copies and pickles name the one instance


NO_ANSWER: Final = NoAnswer()
"""The mechanism gave no answer."""
