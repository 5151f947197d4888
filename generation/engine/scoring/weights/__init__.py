"""Weighted accuracy, and tables with given margins, which give some of the weights."""
