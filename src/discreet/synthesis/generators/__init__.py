"""Generator networks that learn from the noisy votes of teachers (`discreet[learn-torch]`)."""

from discreet.errors import MissingExtra

try:
    import torch  # noqa: F401 - every module here is about it
except ImportError:
    raise MissingExtra("torch", "learn-torch") from None
