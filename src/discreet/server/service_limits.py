"""What one question may take of a server, and how many are answered at a time."""

from __future__ import annotations

from math import isfinite

from discreet.errors import ParameterError
from discreet.records import dataclass

__all__ = ["ServiceLimits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """Limits of a server. None of them may be so low that data decide whether they are reached.

    Attributes
    ----------
    workers : int
        How many processes answer, one question each at a time.
    waiting : int
        How many questions may wait for one of them.
    each : int
        How many requests of one key, and jobs of one name, are worked on at a time.
    seconds : float
        After which a worker that has not answered is killed. Its charge stays.
    job_seconds : float
        The same for a job.
    memory : int
        The address space of a worker, in MiB.
    slot : float
        An answer leaves at the next multiple of this many seconds after its question came.
    groups : int
        Of one question.
    characters : int
        Of one question.
    body : int
        The bytes of a request.
    """

    workers: int = 4
    waiting: int = 256
    each: int = 8
    seconds: float = 300.0
    job_seconds: float = 7200.0
    memory: int = 8192
    slot: float = 0.5
    groups: int = 1_000_000
    characters: int = 100_000
    body: int = 1 << 18

    def __post_init__(self) -> None:
        for name in ("workers", "waiting", "each", "memory", "groups", "characters", "body"):
            if getattr(self, name) < 1:
                raise ParameterError(name, "is below 1", "1 or more")
        for name in ("seconds", "job_seconds", "slot"):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0):
                raise ParameterError(name, "is not a time", "seconds, more than 0")
