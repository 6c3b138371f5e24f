"""Samples of a stream in fixed memory that stand for all of it."""
