"""Background work of any kind: rows that are jobs, held under leases, done by one runner."""
