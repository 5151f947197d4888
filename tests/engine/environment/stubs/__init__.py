"""Stand-ins for libraries that are not installed here: what our documentation uses of them, and nothing else."""
