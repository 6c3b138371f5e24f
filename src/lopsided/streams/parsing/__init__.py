"""Bytes into numbers and records, compiled."""
