"""A program that allocates 3 GiB of memory, more than it may have."""

kept = bytearray(3 << 30)
