"""The student: a discriminator of generated rows and of noisy answers about them. It never meets a row."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["StudentDiscriminator"]

_HIDDEN = 32
_BATCH = 64
_RATE = 2e-3
_DECAY = 1e-3


class StudentDiscriminator:
    """A network that learns which generated rows were called real, from all answers so far.

    Parameters
    ----------
    width : int
        How many cells all columns have.
    random : torch.Generator
        Public: where weights and batches come from.
    """

    def __init__(self, width: int, random: torch.Generator) -> None:
        self._random = random
        self._trained = [
            (torch.randn(width, _HIDDEN, generator=random) / _HIDDEN**0.5).requires_grad_(),
            torch.zeros(_HIDDEN, requires_grad=True),
            (torch.randn(_HIDDEN, 1, generator=random) / _HIDDEN**0.5).requires_grad_(),
            torch.zeros(1, requires_grad=True),
        ]
        self._optimizer = torch.optim.AdamW(self._trained, lr=_RATE, weight_decay=_DECAY)
        self._rows: list[Tensor] = []
        self._answers: list[Tensor] = []

    def learn(self, rows: Tensor, answers: Tensor, steps: int) -> None:
        """Keep generated rows with their answers, and take steps over all that were kept."""
        self._rows.append(rows)
        self._answers.append(answers)
        held, known = torch.cat(self._rows), torch.cat(self._answers)
        for _ in range(steps):
            chosen = torch.randint(len(held), (_BATCH,), generator=self._random)
            loss = nn.functional.binary_cross_entropy_with_logits(self.logits(held[chosen]), known[chosen])
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()

    def logits(self, rows: Tensor) -> Tensor:
        """Return how real rows look, as zeros and ones or as what gradients pass through."""
        first, bias, last, end = self._trained
        hidden = nn.functional.leaky_relu(rows @ first + bias, 0.2)
        return (hidden @ last)[:, 0] + end
