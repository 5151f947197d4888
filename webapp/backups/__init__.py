"""Backups: one archive with everything that can't be made again, and its restore.

`writing` makes an archive while the site runs; `restoring` restores one, which `reading` reads, into an empty site.
Both use `archive` (the file format), `schema` (the tables), `rows` (reading and writing rows) and `stored` (the files).
"""
