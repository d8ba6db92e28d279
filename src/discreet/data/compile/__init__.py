"""Expressions and relations of the language, written in Ibis."""

from discreet.data.libraries import require_libraries

require_libraries()
