"""SQL read into questions of names."""
