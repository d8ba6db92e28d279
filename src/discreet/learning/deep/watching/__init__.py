"""Watching a model: what each layer was given, and the gradient of what it returned."""
