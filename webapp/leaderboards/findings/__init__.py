"""Findings: what a paper found, made again here, and whether it holds.

`definitions` reads the JSON file of each finding. `running` makes its data, trains its methods, judges its statements
and writes a record. `records` reads and writes records, and `pages` shows them beside the figures of the paper.
"""
