"""Linear learners."""
