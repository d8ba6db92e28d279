"""The error of what is answered: exact, and as intervals."""
