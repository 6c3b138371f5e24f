"""Boosted trees on a sample that fits into memory: bins, growing, walking."""
