"""Asks a model the questions of a split. `static/ask.py` is built from these modules, see `single_file`."""
