"""The content of the pages of datasets, pictures, stories and questions."""
