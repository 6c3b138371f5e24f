"""Learners of pairs, a positive above a negative: support sets with cached scores, KOIL and its kin."""
