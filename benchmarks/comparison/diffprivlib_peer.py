"""What diffprivlib does of the common work."""

from __future__ import annotations

import work
from diffprivlib.mechanisms import Geometric

noise = Geometric(epsilon=1 / work.SCALE, sensitivity=1)
work.tell("noise", rate=5_000 / work.timed(lambda: [noise.randomise(0) for _ in range(5_000)]))
work.tell("time", correlation=work.time_correlation(lambda: noise.randomise(0)))
