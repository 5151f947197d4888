"""Backups: one archive with everything that can't be made again, and how a site comes back from it.

`writing` makes an archive while the site runs; `restoring` brings one, read by `reading`, into an empty site. Both
share `archive` (the file), `schema` (which tables there are), `rows` (how they are read and written) and `stored`
(the files).
"""
