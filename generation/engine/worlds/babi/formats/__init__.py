"""The formats in which bAbI was published, for export and import."""
