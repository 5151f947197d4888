"""The site's processes and what they share: uploads, broker, caches, secrets, housekeeping."""
