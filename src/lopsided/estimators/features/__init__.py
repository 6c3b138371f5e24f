"""Learners in random features and landmarks."""
