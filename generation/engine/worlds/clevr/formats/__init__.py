"""CLEVR's files: as they were released, and as the original generator writes them."""
