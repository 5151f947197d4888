"""CLEVR's files: in the form of the release, and in the form of the original generator."""
