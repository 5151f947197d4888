"""What came out of a study: figures, answers to look at again, payments, and the human baseline."""
