"""Which figures of withheld answers are published, and who may see exact ones."""
