"""What PyDP does of the common work."""

from __future__ import annotations

import work
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

noise = LaplaceMechanism(1 / work.SCALE, 1)
work.tell("noise", rate=5_000 / work.timed(lambda: [noise.add_noise(0) for _ in range(5_000)]))
work.tell("time", correlation=work.time_correlation(lambda: noise.add_noise(0)))
