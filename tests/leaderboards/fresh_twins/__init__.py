"""Tests of fresh twins: gaps, pages, the command, and the secrecy of their seeds."""
