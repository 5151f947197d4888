"""The site's processes and what they share: server, uploads, broker, caches, secrets, housekeeping."""
