"""One synthesizer per file."""
