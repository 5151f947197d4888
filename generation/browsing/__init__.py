"""What the pages of datasets, pictures, stories and questions show."""
