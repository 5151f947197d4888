"""Datasets: specs become scenes, questions and pictures, which are stored, browsed and deleted."""

__version__ = "0.1.0"
"""The release of the whole program: a dataset notes which one made it."""
