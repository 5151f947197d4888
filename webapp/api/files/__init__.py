"""Files that the API sends, whole or in part."""
