"""Datasets for the Hugging Face Hub: Parquet, card, Croissant file."""
