"""Estimators with the face of scikit-learn (`discreet[learn]`)."""

from discreet.errors import MissingExtra

try:
    import sklearn  # noqa: F401 - every module here is about it
except ImportError:
    raise MissingExtra("scikit-learn", "learn") from None
