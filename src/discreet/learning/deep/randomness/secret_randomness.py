"""Secret randomness: masks of dropout, and random changes of examples, belong to places in a batch.

So nobody may know them. Who else takes part decides at which place an example stands. With masks that
somebody knows, one more person would give everybody behind another mask; with secret and independent ones,
all places are alike. So PyTorch's generators are secret, and those that Python and NumPy have for everybody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from discreet.learning.deep.randomness.library_generators import (
    LibraryGenerators,
    LibraryStates,
    library_states,
    set_libraries,
)
from discreet.noise import current

__all__ = ["GeneratorStates", "SecretRandomness", "generator_states", "set_generators"]

GeneratorStates: TypeAlias = tuple[list[Tensor], LibraryStates]
"""Of PyTorch, the processor first, and of Python and NumPy."""

_WORDS = slice(24, 24 + 8 * 624)  # of the state of PyTorch's generator: 624 words of 32 bits, in 8 bytes each
_STATE = 312  # words of 64 bits of entropy for it


class SecretRandomness:
    """Lends PyTorch's generators a secret state while a batch is read and run, and takes it away after.

    The state outside, which a checkpoint may hold, is left as it was.

    Attributes
    ----------
    meets_users : bool
        Whether code of users may be run with a batch, which might use Python's or NumPy's generator: these
        are lent secret states, too, then.
    """

    def __init__(self) -> None:
        self.meets_users = True
        self._outside: list[Tensor] | None = None
        self._secret: list[Tensor] | None = None
        self._libraries = LibraryGenerators()

    def renew(self) -> None:
        """Draw a secret state for one step, and begin to use it.

        A seed has 32 bits on the processor, few enough to try all of them; so the whole state is drawn.
        """
        self.leave()
        self._outside = _states()
        source, devices = current(), _seeded_devices()
        words = source.words(_STATE + len(devices))
        state = torch.Generator().get_state()
        state.numpy()[_WORDS].view(np.uint64)[:] = words[:_STATE].view(np.uint32)
        torch.set_rng_state(state)
        for seed_generator, word in zip(devices, words[_STATE:].tolist(), strict=True):
            seed_generator(word >> 1)  # seeds have 63 bits
        if self.meets_users:
            self.meet_users()

    def enter(self) -> None:
        """Go on with the secret state."""
        if self._outside is None and self._secret is not None:
            self._outside = _states()
            _restore(self._secret)
            if self.meets_users:
                self.meet_users()

    def meet_users(self) -> None:
        """Lend Python's and NumPy's generators a secret state, too, now and from now on."""
        self.meets_users = True
        self._libraries.lend(current())

    def leave(self) -> None:
        """Put the state outside back."""
        if self._outside is not None:
            self._secret = _states()
            _restore(self._outside)
            self._outside = None
        self._libraries.take_back()


def _seeded_devices() -> list[Callable[[int], object]]:
    """Return what seeds the generator of each device in use, whose state cannot be written."""
    found: list[Callable[[int], object]] = []
    if torch.cuda.is_initialized():
        found += [generator.manual_seed for generator in torch.cuda.default_generators]
    if torch.backends.mps.is_available():
        found.append(torch.mps.manual_seed)
    return found


def generator_states() -> GeneratorStates:
    """Return the states of all generators: of the processor, of devices in use, and of libraries."""
    return _states(), library_states()


def set_generators(states: GeneratorStates) -> None:
    """Put the states of the generators back."""
    _restore(states[0])
    set_libraries(states[1])


def _states() -> list[Tensor]:
    """Return the states of PyTorch's generators, of the processor first."""
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    return [torch.get_rng_state(), *devices]


def _restore(states: list[Tensor]) -> None:
    torch.set_rng_state(states[0])
    for device, state in enumerate(states[1:]):
        torch.cuda.set_rng_state(state, device)
