"""Splits: filters, sealing, overlap with the train split, question sets, withheld answers."""
