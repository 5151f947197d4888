"""The release of Horsesense. Everything that names it, from pyproject.toml to the pages, reads it here.

After a release, the first commit changes it to the next one, so that no two releases call themselves the same.
"""

__version__ = "0.2.0"
