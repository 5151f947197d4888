"""Files that the API sends, completely or in part."""
