"""Making, importing, watching and deleting datasets."""
