"""Exports for other programs, and reading files of predictions."""
