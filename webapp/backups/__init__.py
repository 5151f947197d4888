"""Backups: archives of all data that can't be made again, and their restore.

`writing` writes an archive while the site runs, and `backup_folder` writes one into a folder of backups. `restoring`
restores an archive into an empty site; `archive_reader` reads and checks it. All of them use `archive` (the file
format), `schema` (the tables), `rows` (reading and writing rows) and `stored_files` (the files).
"""
