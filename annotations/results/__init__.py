"""The results of a study: figures, questions to review, payments, and the human baseline."""
