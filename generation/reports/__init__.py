"""Reports on a dataset: shortcuts, skipped steps, and scores of predictions."""
