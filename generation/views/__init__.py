"""The pages of datasets: lists, overviews, questions by filter, single questions, pictures."""
