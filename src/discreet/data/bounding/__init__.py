"""Limits on what one person contributes, applied to partial totals and to rows."""
