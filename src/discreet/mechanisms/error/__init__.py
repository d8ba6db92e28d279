"""Error laws: how wrong a release will be, from public quantities alone."""
