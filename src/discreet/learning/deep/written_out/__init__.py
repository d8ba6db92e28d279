"""Modules that PyTorch runs as one operation, written out as linear layers with operations between them."""
