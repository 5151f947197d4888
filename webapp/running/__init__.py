"""The site's processes and what they share: request limits, broker, caches, secrets, housekeeping."""
