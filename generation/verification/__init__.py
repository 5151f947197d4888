"""Verifying a dataset: everything stored is worked out again from scenes and programs."""
