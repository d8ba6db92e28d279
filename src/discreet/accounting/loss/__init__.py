"""The privacy loss of every event: one file for each kind of law."""

from discreet.accounting.loss import discrete_laplace, gaussian, laplace, local, poisson_sampled, pure
from discreet.accounting.loss.pair import Pair, pair_of

__all__ = ["Pair", "discrete_laplace", "gaussian", "laplace", "local", "pair_of", "poisson_sampled", "pure"]
