"""Verifying items and exported folders: everything that can be worked out again is."""
