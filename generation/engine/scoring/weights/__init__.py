"""Weighted accuracy, and tables with given margins, from which weights follow."""
