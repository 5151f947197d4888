"""Datasets: generating scenes, questions and pictures from specs; storing, browsing and deleting them."""

__version__ = "0.1.0"
"""The release of the whole program. Each dataset stores the release that made it."""
