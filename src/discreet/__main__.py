"""``python -m discreet``: the command line."""

from __future__ import annotations

import sys

from discreet.cli import main

if __name__ == "__main__":
    sys.exit(main())
