"""Background work of any kind: who does it, its turns, leases and outages; and the names of the two queues."""

GENERATION, DEFAULT = "generation", "default"
