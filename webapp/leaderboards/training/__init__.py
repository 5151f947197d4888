"""Trainings: requests (orders), folders of examples, the training process, and its results."""
