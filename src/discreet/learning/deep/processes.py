"""Several processes that train one model: each reads its own people, and the first draws the noise."""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from torch import Tensor, distributed

from discreet.errors import ParameterError

__all__ = ["Processes"]


class Processes:
    """The processes of a run, which add up their sums and share what was released.

    Parameters
    ----------
    group : ProcessGroup or None
        That of `torch.distributed`; None for a run in one process. It must carry tensors of the processor too
        (``"cpu:gloo,cuda:nccl"``).

    Guarantee
    ---------
    The sum over all processes has noise of one process, drawn by the first: what is released is what one
    process with all people would release. Nothing else leaves a process, but that sharded models need all
    processes at once: each then tells the others how many batches it has, a public number but for steps with
    more examples than places.
    """

    def __init__(self, group: Any = None) -> None:
        if group is not None and not (distributed.is_available() and distributed.is_initialized()):
            raise ParameterError("group", "is not one of processes that are connected", "a process group")
        self._group = group

    @property
    def is_alone(self) -> bool:
        """Whether there is one process."""
        return self._group is None

    @property
    def is_first(self) -> bool:
        """Whether this process draws the noise and keeps the record."""
        return self._group is None or distributed.get_rank(self._group) == 0

    @property
    def ranks(self) -> set[int]:
        """The processes among all that are connected."""
        return {0} if self._group is None else set(distributed.get_process_group_ranks(self._group))

    def total(self, number: int) -> int:
        """Return the sum of a whole number over all processes."""
        if self._group is None:
            return number
        held = torch.tensor([number], dtype=torch.int64)
        distributed.all_reduce(held, group=self._group)
        return int(held[0])

    def most(self, number: int) -> int:
        """Return the largest of a whole number over all processes."""
        if self._group is None:
            return number
        held = torch.tensor([number], dtype=torch.int64)
        distributed.all_reduce(held, distributed.ReduceOp.MAX, group=self._group)
        return int(held[0])

    def check_same(self, text: str) -> None:
        """Refuse, in every process, plans of which one differs from that of the first."""
        digest = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")  # exact in doubles
        if self.total(int(self.shared(digest) != digest)):
            raise ParameterError("group", "has processes with different plans", "the same numbers in all")

    def add_up(self, sums: list[Tensor]) -> None:
        """Put the sums over all processes in place of those of this one."""
        if self._group is not None:
            for one in sums:
                distributed.all_reduce(one, group=self._group)

    def share(self, values: list[Tensor]) -> None:
        """Put the values of the first process in place of those of this one."""
        if self._group is not None:
            first = distributed.get_global_rank(self._group, 0)
            for one in values:
                distributed.broadcast(one, first, group=self._group)

    def shared(self, number: float) -> float:
        """Return the number that the first process has."""
        held = torch.tensor([number], dtype=torch.float64)
        self.share([held])
        return float(held[0])
