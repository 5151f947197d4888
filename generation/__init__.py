"""Datasets: generating scenes, questions and pictures from specs; storing, browsing and deleting them."""

from generation.engine.release import __version__ as __version__
