"""A program that wants more memory than it may have."""

kept = bytearray(3 << 30)
