"""The replies of models that come with predictions: their files, their figures, and how pages show them."""
