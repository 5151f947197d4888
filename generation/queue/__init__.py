"""Background jobs of every kind: how they are claimed, run and retried; and the names of the two queues."""

GENERATION, DEFAULT = "generation", "default"
