"""Designs: declared columns, their coordinates, and rows on a public grid."""
