"""Exports for other programs, and files of predictions that come back."""
