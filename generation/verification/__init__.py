"""Verifying a dataset: everything stored is computed again from scenes and programs."""
