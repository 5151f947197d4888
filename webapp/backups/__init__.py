"""Backups: one archive with everything that can't be made again, and its restore.

`writing` makes an archive while the site runs. `restoring` restores one into an empty site; `archive_reader` reads it.
Both use `archive` (the file format), `schema` (the tables), `rows` (reading and writing rows) and `stored` (the files).
"""
