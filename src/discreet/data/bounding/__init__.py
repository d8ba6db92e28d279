"""Limits on what one person contributes, applied to partial totals and to rows."""

from discreet.data.libraries import require_libraries

require_libraries()
